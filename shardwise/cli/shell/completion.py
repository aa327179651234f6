"""Completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from shardwise.dbapi import Connection


class SqlCompleter(Completer):
    def __init__(self, connection: Callable[[], Connection]) -> None:
        self._connection = connection

    def refresh(self) -> None:
        """Later."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        return ()
