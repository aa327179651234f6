"""What a statement has moved so far, on stderr, while it runs; nothing where stderr is no terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from shardwise.dbapi import Cursor
from shardwise.plan.wrap import bytes_text, count_text

_PERIOD_S = 0.1


@contextmanager
def watched(cursor: Cursor, console: Console, *, keep: bool = False) -> Iterator[None]:
    """Shows the progress of the statement that `cursor` runs; with `keep` the last state stays."""
    if not console.is_terminal:
        yield
        return
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[moved]}"),
        TimeElapsedColumn(),
        console=console,
        transient=not keep,
    )
    task = progress.add_task("shards", total=None, moved="")
    stop = threading.Event()

    def refresh() -> None:
        done, total, rows, size = cursor.progress
        moved = f"{done} of {total} answered, {count_text(rows, 'row')}, {bytes_text(size)} moved"
        progress.update(task, completed=done, total=total or None, moved=moved)

    def watch() -> None:
        while not stop.wait(_PERIOD_S):
            refresh()

    thread = threading.Thread(target=watch, name="shardwise-progress", daemon=True)
    with progress:
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            refresh()
