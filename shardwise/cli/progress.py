"""What a statement has moved so far, on standard error, while it runs; nothing where that is no terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from shardwise.cli.terminal import one_line
from shardwise.dbapi import Cursor
from shardwise.dbapi.results import FragmentProgress, Progress
from shardwise.plan.wrap import bytes_text, count_text

_DELAY_S: Final = 0.3
_PERIOD_S: Final = 0.1
_FRAGMENTS_MAX: Final = 4
_SHARDS_MAX: Final = 3


class Watch:
    """Shows a cursor's progress once it takes longer than a moment, until it is hidden, by any thread."""

    def __init__(self, cursor: Cursor, console: Console, *, keep: bool) -> None:
        self._cursor = cursor
        self._console = console
        self._keep = keep
        self._started = time.monotonic()
        self._spinner = Spinner("dots")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="shardwise-progress", daemon=True)
        if console.is_terminal:
            self._thread.start()

    def hide(self) -> None:
        """Takes it off the screen: something else is to be written there."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        if self._stop.wait(0.0 if self._keep else _DELAY_S):
            return
        with Live(
            self._drawn(),
            console=self._console,
            auto_refresh=False,
            transient=not self._keep,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as live:
            while not self._stop.wait(_PERIOD_S):
                live.update(self._drawn(), refresh=True)
            live.update(self._drawn(), refresh=True)

    def _drawn(self) -> Table:
        progress = self._cursor.progress
        grid = Table.grid(padding=(0, 1))
        grid.add_row(self._spinner, Text(told(progress, time.monotonic() - self._started)))
        for fragment in progress.fragments[:_FRAGMENTS_MAX]:
            bar = ProgressBar(total=len(fragment.asked), completed=len(fragment.answered), width=20)
            row = Table.grid(padding=(0, 1))
            row.add_row(Text(fragment.name), bar, Text(told_of(fragment), style="dim", overflow="ellipsis"))
            grid.add_row("", row)
        return grid


@contextmanager
def watched(cursor: Cursor, console: Console, *, keep: bool = False) -> Iterator[Watch]:
    """Shows the progress of the statement that `cursor` runs; with `keep` the last state stays."""
    watch = Watch(cursor, console, keep=keep)
    try:
        yield watch
    finally:
        watch.hide()


def told(progress: Progress, seconds: float) -> str:
    """The whole statement in a line."""
    parts = [f"{seconds:.1f} s"]
    if progress.asked:
        parts += [
            f"{progress.answered:,} of {progress.asked:,} requests answered",
            f"{count_text(progress.rows, 'row')}, {bytes_text(progress.bytes)} moved",
        ]
    return "  ".join(parts)


def told_of(fragment: FragmentProgress) -> str:
    """A fragment in a line: who has not answered yet, else who sent how much, the busiest first."""
    counts = f"{len(fragment.answered):,}/{len(fragment.asked):,} shards"
    waiting = [shard for shard in fragment.asked if shard not in fragment.answered]
    if waiting:
        shown = len(waiting) if len(waiting) <= _SHARDS_MAX + 1 else _SHARDS_MAX
        more = len(waiting) - shown
        named = ", ".join(map(one_line, waiting[:shown])) + (f" and {more:,} more" if more else "")
        return f"{counts}  waiting for {named}"
    sent = sorted(fragment.answered.items(), key=lambda item: (-item[1].seconds, -item[1].rows))
    busy = [f"{one_line(shard)} {count_text(of.rows, 'row')}" for shard, of in sent[:_SHARDS_MAX]]
    return "  ".join([counts, ", ".join(busy) + (", …" if len(sent) > _SHARDS_MAX else "")])
