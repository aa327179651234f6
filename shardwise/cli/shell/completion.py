"""The menu of completions: of SQL (`suggesting`), of commands, of files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from shardwise.cli.output import Format
from shardwise.cli.shell import commands
from shardwise.cli.shell.commands import Completes
from shardwise.cli.shell.names import Names, names_of
from shardwise.cli.shell.suggesting import Candidate, complete, rank, relations
from shardwise.dbapi import Connection
from shardwise.errors import Error
from shardwise.options import Options

_FIXED: Final = {
    Completes.FORMAT: tuple(Format),
    Completes.SWITCH: ("on", "off"),
    Completes.EXPLAIN: ("on", "off", "only", "analyze"),
    Completes.OPTION: tuple(Options.__dataclass_fields__),
    Completes.COMMAND: tuple(commands.NAMES),
}


def complete_command(line: str, names: Names) -> list[tuple[Candidate, int]] | None:
    """The same for a line that is a command; None where a file's name is to be completed."""
    name, blank, rest = line.partition(" ")
    if not blank:
        found = [c for c in commands.NAMES if c.startswith((name.lower(), name))]
        return [(Candidate(each, commands.NAMES[each].help), len(line)) for each in sorted(found)]
    known = commands.NAMES.get(name)
    if known is None:
        return []
    if known.completes is Completes.FILE:
        return None
    prefix = rest.rsplit(" ", 1)[-1]
    if known.completes is Completes.TABLE:
        texts: Iterable[Candidate] = relations(names)
    else:
        texts = (Candidate(text) for text in _FIXED.get(known.completes, ()))
    return [(c, len(prefix)) for c in texts if rank(c.match or c.text, prefix.strip('"`')) == 0]


class SqlCompleter(Completer):
    """The menu. Names are read in a thread, and anew whenever the catalog or the local tables are others."""

    def __init__(self, connection: Callable[[], Connection]) -> None:
        self._connection = connection
        self._names = Names()
        self._seen: tuple[object, ...] = ()
        self._reading: threading.Thread | None = None
        self._files = PathCompleter(expanduser=True)

    def refresh(self) -> None:
        """Has the names read, unless they were."""
        connection = self._connection()
        seen = (connection, connection.cluster.declared, connection.locals)
        if self._reading is not None and self._reading.is_alive():
            return
        if any(a is not b for a, b in zip(seen, self._seen, strict=False)) or not self._seen:
            self._seen = seen
            self._names = Names(dialect=connection.cluster.declared.dialect)
            self._reading = threading.Thread(
                target=self._read, args=(connection,), name="shardwise-names", daemon=True
            )
            self._reading.start()

    def wait(self) -> None:
        """Until the names are read."""
        if self._reading is not None:
            self._reading.join()

    def _read(self, connection: Connection) -> None:
        with suppress(Error):  # the statement that needs the shard will tell
            self._names = names_of(connection)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        line = document.text_before_cursor.lstrip()
        if line[:1] in (".", "\\") and line[:1] and "\n" not in line:
            found = complete_command(line, self._names)
            if found is None:
                path = line.partition(" ")[2].lstrip("'")
                yield from self._files.get_completions(Document(path), complete_event)
                return
        else:
            asked = complete_event.completion_requested
            found = complete(document.text, document.cursor_position, self._names, is_asked=asked)
        for candidate, length in found:
            yield Completion(candidate.text, -length, display_meta=candidate.meta)
