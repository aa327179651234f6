"""The shell without its keyboard: texts in, answers out.

`Shell.run` takes what was typed, pasted or read from a file, statement by statement and command by command.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, cast

from rich.text import Text

from shardwise.cli import console as consoles
from shardwise.cli import output, table
from shardwise.cli.answering import Answered, Way, answer
from shardwise.cli.attended import attended, is_idle
from shardwise.cli.console import Exit, exit_code, rewritten, show_error
from shardwise.cli.output import Format
from shardwise.cli.shell import commands
from shardwise.cli.shell.leaving import Stopped
from shardwise.cli.shell.settings import Settings, Target
from shardwise.cli.shell.splitting import PLAIN_WORDS, Command, Piece, Statement, is_finished, pieces
from shardwise.cli.terminal import Screen, Style, harmless, quiet_terminal
from shardwise.dbapi import Connection, connect
from shardwise.dbapi.files import writing
from shardwise.dbapi.statements import Query, parse
from shardwise.errors import Cancelled, Error, ProgrammingError
from shardwise.plan.wrap import bytes_text, count_text, seconds_text

_READ_DEPTH_MAX: Final = 32
_MORE: Final = ".maxrows 0 shows all, .once FILE writes all"

# What messages and hints say to do from Python, and what it is here.
_OWN_WORDS: Final = (
    (r"allow it: scatter='allow'", "allow it: .option scatter allow"),
    (
        r"Give options to open\(\), connect\(\) or execute\(\).*",
        "Give one by .option deadline_s 10",
    ),
    (r"Give parameters to execute\(sql, params\)", "Write the values into the statement"),
    (r"Pass one value for each \?", "Write the values into the statement: the shell gives no parameters"),
    (r'Pass a mapping with that key, such as \{"\w+": …\}', "Write the value into the statement"),
    (r"Use cursor\.to_arrow_reader\(\), or.*", "Use .once FILE.parquet"),
    (r", or register it on the connection", ""),
    (r"\bRaise (\w+_max|deadline_s)\b", r"Raise it by .option \1"),
)


class Shell:
    """A connection and settings. One thread runs texts; errors are shown, not raised."""

    def __init__(
        self, catalog: Path, settings: Settings | None = None, *, is_interactive: bool = False
    ) -> None:
        self.settings = settings or Settings()
        self.is_interactive = is_interactive
        self.target: Target | None = None
        self.catalog = catalog
        self.connection: Connection = connect(catalog)
        self.last_sql = ""
        self.edited: str | None = None
        """What `\\e` leaves on the next line, to be run or changed."""
        self._depth = 0

    # -- running ------------------------------------------------------------------------------

    @property
    def dialect(self) -> str:
        """The query dialect."""
        return self.connection.cluster.declared.dialect

    def run(self, text: str, source: str | None = None, lines_before: int = 0) -> int:
        """Runs all of a text; gives the exit code of its first failure. `source` is named by errors.

        After a failure the rest is left out if `.bail` is on. Raises `Leave` where the text says so.
        """
        code = int(Exit.OK)
        for piece in self._pieces(text):
            failed = self._run_piece(piece._replace(line=piece.line + lines_before), source)
            code = code or failed
            if failed and (self.settings.bail or failed == Exit.INTERRUPTED):
                break
        return code

    def _pieces(self, text: str) -> Iterable[Piece]:
        word = PLAIN_WORDS.get(text.strip().lower().rstrip(";"))
        return [Command(word)] if word else pieces(text, self.dialect)

    def _run_piece(self, piece: Piece, source: str | None) -> int:
        sql = piece.sql if isinstance(piece, Statement) else None
        try:
            if self.settings.echo:
                self.print(f"{piece.sql};" if isinstance(piece, Statement) else piece.text)
            if isinstance(piece, Statement):
                self._send(piece)
            else:
                commands.run(self, piece)
        except Error as error:
            if source is not None:
                consoles.stderr().print(Text(f"{source}:{piece.line}", style="bold"), soft_wrap=True)
            show_error(error, sql, own_words)
            return exit_code(error)
        except Stopped as stopped:
            return stopped.code
        except BrokenPipeError:
            raise
        except OSError as error:
            show_error(consoles.file_error(error))
            return Exit.FAILED
        except KeyboardInterrupt:
            show_error(Cancelled("interrupted"))
            return Exit.INTERRUPTED
        return Exit.OK

    def _send(self, statement: Statement) -> None:
        """A statement, and what the `\\g` says that ended it."""
        words = statement.send.split(maxsplit=1)
        if not words:
            self.execute(statement.sql)
            return
        before, self.target = self.target, self.target
        if len(words) > 1:
            self.target = self.file_target(words[1], is_once=True)
        try:
            self.execute(statement.sql, is_expanded=words[0] == "\\gx" or None)
        finally:
            self.target = before

    def execute(self, sql: str, *, is_expanded: bool | None = None) -> None:
        """Runs one statement and shows its rows, its plan and its time as the settings say."""
        self.last_sql = sql
        settings = self.settings
        if settings.explain != "off" and isinstance(parse(sql), Query):
            mode = "analyze" if settings.explain == "analyze" else ""
            explanation = attended(
                lambda: self.connection.explain(sql, mode=mode, **settings.options), self.connection.interrupt
            )
            self.print(explanation.text)
            if settings.explain != "on":
                return
            self.print("")
        way = self._way(is_expanded=is_expanded)
        if self.target is not None and self.target.is_once:
            self.target = None
        with quiet_terminal() if self.is_interactive else nullcontext():
            answered = answer(self.connection, sql, (), way, **settings.options)
        if settings.timer:
            self._tell_time(answered)

    def run_lines(self, lines: Iterable[str], source: str) -> int:
        """The same for a text that comes line by line: what is whole runs at once."""
        held, start, code = "", 0, int(Exit.OK)
        for number, line in enumerate(lines, 1):
            held += line
            if _may_end(line, held) and is_finished(held, self.dialect):
                failed = self.run(held, source, start)
                code = code or failed
                held, start = "", number
                if failed and self.settings.bail:
                    return code
        failed = self.run(held, source, start)
        return code or failed

    def read(self, path: Path) -> int:
        """Runs a file. Inside of it `.read` is relative to where the shell is."""
        if self._depth >= _READ_DEPTH_MAX:
            raise ProgrammingError(f"{path}: files that read one another, {_READ_DEPTH_MAX} deep")
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ProgrammingError(f"{path} is no text in UTF-8: {error.reason}") from error
        self._depth += 1
        try:
            return self.run(text, str(path))
        finally:
            self._depth -= 1

    # -- showing ------------------------------------------------------------------------------

    def print(self, text: str) -> None:
        """Lines of our own, to where results go; through the pager if they are many."""
        if self.target is not None and self.target.file is not None:
            self.target.file.write(f"{text}\n".encode())
        elif sys.stdout.isatty():
            screen = Screen(sys.stdout, self._pager)
            with quiet_terminal() if self._pager else nullcontext():
                try:
                    screen.write(harmless(text) + "\n")
                    screen.close()
                except (BrokenPipeError, KeyboardInterrupt):
                    screen.stop()  # the pager was left
        else:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()

    def show(
        self, names: Sequence[str], rows: Iterable[Sequence[object]], numbers: Iterable[str] = ()
    ) -> None:
        """Rows that are here already, as a table."""
        shown = table.of_values(names, rows)._replace(is_number=[name in set(numbers) for name in names])
        is_terminal = sys.stdout.isatty() and self.target is None
        screen = Screen(sys.stdout)
        look = table.Look(
            is_drawn=is_terminal, width=screen.size.columns if is_terminal else None, style=Style()
        )
        self.print("\n".join(table.lines(shown, look)))

    def tell(self, text: str) -> None:
        """A word beside the answers, on standard error."""
        consoles.stderr().print(Text(harmless(text), style="dim"), soft_wrap=True)

    @property
    def _pager(self) -> Sequence[str]:
        return self.settings.pager if self.is_interactive and self.settings.is_paged else ()

    def _way(self, *, is_expanded: bool | None = None) -> Way:
        settings, target = self.settings, self.target
        if is_expanded is None:
            is_expanded = settings.is_expanded
        form = Format.LINE if is_expanded else settings.form
        way = Way(
            form=form,
            rows_max=settings.rows_max,
            width=settings.width,
            headers=settings.headers,
            null="NULL" if settings.null is None else settings.null,
            pager=self._pager,
            has_types=self.is_interactive,
            more=_MORE,
        )
        way = _to(way, target)
        if way.file is None and way.path is None and form in output.BINARY_FORMATS and sys.stdout.isatty():
            raise ProgrammingError(f"{form} is not for a terminal", hint="Give .once FILE or .output FILE")
        return way

    def _tell_time(self, answered: Answered) -> None:
        told = f"Time: {seconds_text(answered.seconds)}"
        moved = answered.statistics
        if moved is not None:
            shards = {shard for of in moved.fragments.values() for shard in of}
            if shards:
                told += f"  {count_text(moved.rows_moved, 'row')}, {bytes_text(moved.bytes_moved)} moved off "
                told += count_text(len(shards), "shard")
        self.print(told)

    # -- what commands change -------------------------------------------------------------------

    def file_target(self, name: str, *, is_once: bool) -> Target:
        """Where results go from now on. The name's suffix says the format, if it says one."""
        path = Path(name).expanduser()
        form = output.FORMAT_OF_SUFFIX.get(path.suffix.lower())
        if is_once or form in output.BINARY_FORMATS:
            return Target(path, form=form, is_once=is_once)
        with writing(path):
            file = cast(BinaryIO, path.open("wb"))
        return Target(path, file, form)

    def redirect(self, target: Target | None) -> None:
        """Sends results there; closes the file that they went to."""
        before, self.target = self.target, target
        if before is not None and before.file is not None:
            before.file.close()

    def open(self, catalog: Path) -> None:
        """Another catalog; the former stays if it cannot be opened."""
        connection = connect(catalog)
        self._close_connection()
        self.connection, self.catalog = connection, catalog

    def close(self) -> None:
        """Closes the file that results go to, and the connection unless something still runs on it."""
        self.redirect(None)
        self._close_connection()

    def _close_connection(self) -> None:
        if is_idle(patience_s=1.0):
            self.connection.close()


def _may_end(line: str, held: str) -> bool:
    return ";" in line or "\\" in line or held.lstrip()[:1] == "." or line == held


def _to(way: Way, target: Target | None) -> Way:
    if target is None:
        return way
    form = way.form if target.form is None or way.form is Format.LINE else target.form
    if target.file is not None:
        return replace(way, file=target.file, form=form)
    return replace(way, path=target.path, form=form)


def own_words(text: str) -> str:
    """A message or hint in the shell's words."""
    return rewritten(text, _OWN_WORDS)
