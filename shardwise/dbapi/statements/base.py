"""What every kind of statement is: it can be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from shardwise.dbapi.results import LocalRows, Row, Rows
from shardwise.executor.guard import Guard
from shardwise.options import Options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shardwise.dbapi.connection import Connection

Parameters = Sequence[Any] | Mapping[str, Any]


class Answer(NamedTuple):
    """Rows, and for each column whether it may be NULL (None: not known).

    A statement that has no rows to give has `rows` None; `rowcount` is then what the cursor says.
    """

    rows: Rows | None
    nullability: tuple[bool | None, ...] = ()
    rowcount: int = -1


class Statement(Protocol):
    """One statement, its text read as far as is needed to tell what it is."""

    @property
    def sql(self) -> str:
        """A query that has the statement's parameters, in their places where it is the user's own."""

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        """Runs the statement as far as `Rows.begin`; `guard` stops it meanwhile (`Cluster.run` takes it)."""


def rows_of(columns: Sequence[tuple[str, str]], rows: Iterable[Row]) -> Answer:
    """Rows that were made here."""
    return Answer(LocalRows(columns, rows), (None,) * len(columns))
