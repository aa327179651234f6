"""The kind of each DuckDB type, as `executor/cells` has them, and those that only a server's column holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

import pyarrow as pa

from shardwise.errors import NotSupportedError
from shardwise.executor import cells
from shardwise.executor.cells import Kind
from shardwise.executor.cells.texts import Uuid

_MICROSECOND = timedelta(microseconds=1)


class Span(Kind):
    """INTERVAL, of a TIME: up to 838 hours, of either sign."""

    def __init__(self) -> None:
        super().__init__("INTERVAL", pa.month_day_nano_interval())

    def one(self, cell: Any) -> timedelta:
        if type(cell) is not str or cell.count(":") != 2:
            raise self.misfit(cell)
        hours, minutes, seconds = cell.lstrip("-").split(":")
        whole, _, fraction = seconds.partition(".")
        found = timedelta(
            hours=int(hours),
            minutes=int(minutes),
            seconds=int(whole),
            microseconds=int(fraction.ljust(6, "0")),
        )
        return -found if cell.startswith("-") else found

    def array(self, cells: Sequence[Any]) -> pa.Array:
        spans = [None if each is None else self.one(each) // _MICROSECOND for each in cells]
        return pa.array([None if each is None else (0, 0, each * 1000) for each in spans], self.arrow)


class ServerUuid(Uuid):
    """UUID as text or as its 16 bytes."""

    def one(self, cell: Any) -> UUID:
        return UUID(bytes=cell) if type(cell) is bytes and len(cell) == 16 else super().one(cell)


@cache
def kind_of(type_: str, zone: str = "UTC") -> Kind:
    """As `cells.kind_of`: `zone` is the one that moments, which come in UTC, are shown in."""
    if type_ == "INTERVAL":
        return Span()
    try:
        kind = cells.kind_of(type_, zone)
    except NotSupportedError:
        raise NotSupportedError(
            f"a MySQL source has no values of type {type_}",
            hint="Declare the column VARCHAR, BLOB or JSON in the catalog, as the server sends it",
        ) from None
    return ServerUuid(kind.name, kind.arrow) if type(kind) is Uuid else kind
