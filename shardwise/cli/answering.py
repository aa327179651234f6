"""A statement from its text to rows on the screen or in a file, while ctrl-C is listened for.

What `query` and the shell share: the progress, the pager, the format.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

from shardwise.cli import console as consoles
from shardwise.cli import output, table
from shardwise.cli.attended import attended
from shardwise.cli.output import Format
from shardwise.cli.progress import Watch, watched
from shardwise.cli.terminal import Screen, ScreenBytes
from shardwise.cli.textual import Rows
from shardwise.dbapi import Connection, Cursor
from shardwise.plan.statistics import Statistics

ROWS_ON_A_TERMINAL: Final = 100
ROWS_IN_A_PAGER: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How rows are to be shown. Of a table's `rows_max` and `width` 0 is no limit, None the terminal's.

    They go to `file`, else to `path`, else to standard output.
    """

    form: Format = Format.TABLE
    path: Path | None = None
    file: BinaryIO | None = None
    rows_max: int | None = None
    width: int | None = None
    headers: bool = True
    null: str = "NULL"
    pager: Sequence[str] = ()
    has_types: bool = False
    more: str = "--rows 0 shows all, --format csv writes all"


class Answered(NamedTuple):
    """What a statement took: seconds until its last row was here, and what it moved off the shards."""

    seconds: float
    statistics: Statistics | None


def answer(
    connection: Connection,
    sql: str,
    params: Sequence[Any] | Mapping[str, Any] = (),
    way: Way | None = None,
    **options: Any,
) -> Answered:
    """Runs a statement and shows its rows. Ctrl-C raises `Cancelled`, within a moment."""
    showing = _Showing(connection.cursor(), way or Way())
    return attended(lambda: showing.run(sql, params, options), showing.stop)


class _Showing:
    """One statement being run and shown, in a thread of its own, which closes its cursor."""

    def __init__(self, cursor: Cursor, way: Way) -> None:
        self._cursor = cursor
        self._way = way
        self._watch: Watch | None = None
        self._screen: Screen | None = None
        self._seconds: float | None = None
        self._started = time.monotonic()

    def run(
        self, sql: str, params: Sequence[Any] | Mapping[str, Any], options: Mapping[str, Any]
    ) -> Answered:
        with self._cursor, watched(self._cursor, consoles.stderr()) as self._watch:
            self._cursor.execute(sql, params, **options)
            if self._cursor.description is not None:
                self._show(self._watch)
        self._all_here()
        return Answered(self._seconds or 0.0, self._cursor.stats)

    def stop(self) -> None:
        """From another thread: nothing is to appear on the screen any more."""
        self._cursor.cancel()
        if self._screen is not None:
            self._screen.stop()
        if self._watch is not None:
            self._watch.hide()

    def _show(self, watch: Watch) -> None:
        way = self._way
        if way.file is not None:
            self._write(way.file)
        elif way.path is not None:
            with output.sink(way.path) as sink:
                self._write(sink)
        elif not sys.stdout.isatty():
            with output.sink(None) as sink:
                self._write(sink)
        else:
            self._screen = screen = Screen(sys.stdout, way.pager, watch.hide)
            self._write_to(screen)

    def _write_to(self, screen: Screen) -> None:
        try:
            with contextlib.suppress(BrokenPipeError):  # the pager was left
                self._write(cast(BinaryIO, ScreenBytes(screen)), screen)
        finally:
            with contextlib.suppress(BrokenPipeError):
                screen.close()

    def _write(self, sink: BinaryIO, screen: Screen | None = None) -> None:
        way = self._way
        if way.form is not Format.TABLE:
            output.write(self._cursor, way.form, sink, headers=way.headers, null=way.null)
            self._all_here()
            return
        shown = table.read(Rows(self._cursor), self._rows_max(screen), has_types=way.has_types)
        self._all_here()
        look = table.Look(
            is_drawn=screen is not None,
            width=self._width(screen),
            headers=way.headers,
            null=way.null,
            more=way.more,
        )
        if screen is None:
            for line in table.lines(shown, look):
                sink.write(f"{line}\n".encode())
        else:
            for line in table.lines(shown, replace(look, style=screen.style)):
                screen.write(f"{line}\n")

    def _rows_max(self, screen: Screen | None) -> int | None:
        given = self._way.rows_max
        if given is None and screen is not None:
            return ROWS_IN_A_PAGER if self._way.pager else ROWS_ON_A_TERMINAL
        return given or None

    def _width(self, screen: Screen | None) -> int | None:
        given = self._way.width
        if given is None and screen is not None:
            return screen.size.columns
        return given or None

    def _all_here(self) -> None:
        """The rows were read: what follows is the reader's time."""
        if self._seconds is None:
            self._seconds = time.monotonic() - self._started
