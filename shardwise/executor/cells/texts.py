"""Text and what is written as text or bytes: VARCHAR, BLOB, UUID, JSON, ENUM."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pyarrow as pa

from shardwise.executor.cells.base import NONE, Kind, Misfit, kinds_of


class Text(Kind):
    """VARCHAR. A number or a BLOB is none: the file compares and sorts it otherwise."""

    native = frozenset((str, NONE))
    affinities = ("TEXT", "BLOB")

    def one(self, cell: Any) -> str:
        if type(cell) is not str:
            raise self.misfit(cell)
        return cell

    def array(self, cells: Sequence[Any]) -> pa.Array:
        return pa.array(self.python(cells), self.arrow)

    def of_arrow(self, column: pa.Array) -> pa.Array:
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            raise _first_not_utf_8(column) from None
        return column


def _first_not_utf_8(column: pa.Array) -> Misfit:
    for cell in column.view(pa.binary()).to_pylist():
        try:
            (cell or b"").decode()
        except UnicodeDecodeError:
            return Misfit(cell.decode(errors="replace"), "is no UTF-8")
    return Misfit(None, "is no UTF-8")


class Bytes(Kind):
    """BLOB."""

    native = frozenset((bytes, NONE))
    storage = "blob"
    affinities = ("BLOB",)

    def one(self, cell: Any) -> bytes:
        if type(cell) is not bytes:
            raise self.misfit(cell)
        return cell


class Json(Kind):
    """JSON, as it is written."""

    def one(self, cell: Any) -> str:
        if type(cell) is not str:
            raise self.misfit(cell)
        try:
            json.loads(cell, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise self.misfit(cell) from None
        return cell

    def array(self, cells: Sequence[Any]) -> pa.Array:
        return pa.ExtensionArray.from_storage(self.arrow, pa.array(self.python(cells), pa.string()))


def _refuse(constant: str) -> None:
    raise ValueError(constant)


class Uuid(Kind):
    """UUID as text, letters of either case, with or without its hyphens."""

    def one(self, cell: Any) -> UUID:
        if type(cell) is not str or not _UUID.fullmatch(cell):
            raise self.misfit(cell)
        return UUID(cell)

    def canonical(self, cell: Any) -> str:
        return str(self.one(cell))

    def array(self, cells: Sequence[Any]) -> pa.Array:
        stored = [None if value is None else value.bytes for value in self.python(cells)]
        return pa.ExtensionArray.from_storage(self.arrow, pa.array(stored, pa.binary(16)))


_UUID = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Member(Kind):
    """ENUM: one of its members, as text."""

    affinities = ("TEXT", "BLOB")

    def __init__(self, name: str, members: Sequence[str]) -> None:
        index = pa.uint8() if len(members) <= 256 else pa.uint16() if len(members) <= 1 << 16 else pa.uint32()
        super().__init__(name, pa.dictionary(index, pa.string()))
        self._codes = {member: code for code, member in enumerate(members)}
        self.members = pa.array(members, pa.string())

    def one(self, cell: Any) -> str:
        if type(cell) is not str:
            raise Misfit(cell, "is no text, as the members of an ENUM are")
        if cell not in self._codes:
            raise Misfit(cell, f"is no member of {_cut(self.name)}")
        return cell

    def python(self, cells: Sequence[Any]) -> Sequence[Any]:
        if kinds_of(cells) <= {str} and self._codes.keys() | {None} >= set(cells):
            return cells
        return super().python(cells)

    def array(self, cells: Sequence[Any]) -> pa.Array:
        codes = [None if cell is None else self._codes[cell] for cell in self.python(cells)]
        return pa.DictionaryArray.from_arrays(pa.array(codes, self.arrow.index_type), self.members)


def _cut(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"
