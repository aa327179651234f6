"""Numbers: whole ones of any width, floats, booleans, exact decimals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pyarrow as pa

from shardwise.executor.cells.base import NONE, NUMBERS, WHOLE, Kind, Misfit, kinds_of

_EXACT = 1 << 53
"""Whole numbers up to here are exact as a REAL."""


class Whole(Kind):
    """TINYINT to BIGINT and their unsigned fellows. A REAL without a fraction is one too."""

    native = frozenset((int, NONE))
    affinities = WHOLE
    storage = "integer"

    def __init__(self, name: str, arrow: pa.DataType, low: int, high: int) -> None:
        super().__init__(name, arrow)
        self.low, self.high = low, high
        self._holds_all = low <= -(1 << 63) and high >= (1 << 63) - 1

    def one(self, cell: Any) -> int:
        value = cell
        if type(cell) is float and cell.is_integer() and abs(cell) <= _EXACT:
            value = int(cell)
        if type(value) is not int:
            raise self.misfit(cell)
        if not self.low <= value <= self.high:
            raise Misfit(cell, f"is out of the range of {self.name}")
        return value

    def python(self, cells: Sequence[Any]) -> Sequence[Any]:
        if self._holds_all and self.native.issuperset(map(type, cells)):
            return cells
        one = self.one
        return [None if cell is None else one(cell) for cell in cells]

    def array(self, cells: Sequence[Any]) -> pa.Array:
        if self.native.issuperset(map(type, cells)):
            try:
                return pa.array(cells, self.arrow)
            except (pa.ArrowInvalid, OverflowError):
                pass  # the slow way names the value
        return pa.array(self.python(cells), self.arrow)

    def of_arrow(self, column: pa.Array) -> pa.Array:
        try:
            return column.cast(self.arrow)
        except pa.ArrowInvalid:
            return super().of_arrow(column)


class Huge(Whole):
    """HUGEINT and UHUGEINT, which Arrow carries as 16 bytes, the lowest first."""

    def of_arrow(self, column: pa.Array) -> pa.Array:
        return self.array(column.to_pylist())

    def array(self, cells: Sequence[Any]) -> pa.Array:
        signed = self.low < 0
        stored = [
            None if value is None else value.to_bytes(16, "little", signed=signed)
            for value in self.python(cells)
        ]
        return pa.ExtensionArray.from_storage(self.arrow, pa.array(stored, pa.binary(16)))


class Real(Kind):
    """DOUBLE. A whole number is one too where it is exact."""

    native = frozenset((float, NONE))
    affinities = NUMBERS
    storage = "real"

    def one(self, cell: Any) -> float:
        if type(cell) is float:
            return cell
        if type(cell) is int and abs(cell) <= _EXACT:
            return float(cell)
        if type(cell) is int:
            raise Misfit(cell, f"is a whole number that {self.name} cannot hold exactly")
        raise self.misfit(cell)

    def array(self, cells: Sequence[Any]) -> pa.Array:
        if kinds_of(cells) <= {float}:
            return pa.array(cells, self.arrow)
        return pa.array(self.python(cells), self.arrow)

    def of_arrow(self, column: pa.Array) -> pa.Array:
        return column if column.type == self.arrow else super().of_arrow(column)


class Single(Real):
    """FLOAT: a REAL that four bytes hold. SQLite's have eight, and would compare and group by all of them."""

    native = frozenset((NONE,))

    def one(self, cell: Any) -> float:
        value = super().one(cell)
        with np.errstate(over="ignore"):
            if float(np.float32(value)) != value:
                raise Misfit(
                    cell, f"no {self.name} holds exactly", "Declare the column DOUBLE in the catalog"
                )
        return value

    def array(self, cells: Sequence[Any]) -> pa.Array:
        return pa.array(self.python(cells), self.arrow)


class Boolean(Kind):
    """0 and 1, as SQLite itself has them."""

    affinities = WHOLE
    storage = "integer"

    def one(self, cell: Any) -> bool:
        if type(cell) in (int, float) and cell in (0, 1):
            return bool(cell)
        raise self.misfit(cell, "A BOOLEAN is 0 or 1 in SQLite")

    def canonical(self, cell: Any) -> int:
        return int(self.one(cell))

    def array(self, cells: Sequence[Any]) -> pa.Array:
        storage = pa.array(self.python(cells), pa.bool_()).cast(pa.int8())
        return pa.ExtensionArray.from_storage(self.arrow, storage)


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)


class Exact(Kind):
    """DECIMAL(p, s). Text is exact; a REAL is the nearest decimal of 15 digits, if p is no more than that."""

    affinities = ("TEXT", *NUMBERS)

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__(f"DECIMAL({precision},{scale})", pa.decimal128(precision, scale))
        self.precision, self.scale = precision, scale
        self._limit = 10**precision
        digits = f"[1-9][0-9]{{0,{precision - scale - 1}}}|0" if precision > scale else "0"
        self._usual = re.compile(rf"-?({digits})\.[0-9]{{{scale}}}" if scale else rf"-?({digits})")

    def scaled(self, cell: Any) -> int:
        """The whole number that is the value times 10 to the scale."""
        kind = type(cell)
        if kind is int:
            found = cell * 10**self.scale
        elif kind is float:
            found = self._of_real(cell)
        elif kind is str and _NUMBER.fullmatch(cell):
            found = self._of_text(cell, cell)
        else:
            raise self.misfit(cell)
        if abs(found) >= self._limit:
            raise Misfit(cell, f"is out of the range of {self.name}")
        return int(found)

    def _of_text(self, text: str, cell: object) -> int:
        with localcontext() as context:
            context.prec = 2000
            moved = Decimal(text).scaleb(self.scale)
            if moved.adjusted() > 60:
                raise Misfit(cell, f"is out of the range of {self.name}")
            whole = int(moved)
            if whole != moved:
                raise Misfit(cell, f"has more decimals than {self.name}")
        return whole

    def _of_real(self, cell: float) -> int:
        if self.precision > 15:
            raise Misfit(
                cell,
                f"is a REAL, which is exact to 15 digits and {self.name} has {self.precision}",
                "Declare the column TEXT in the file and store decimals as text",
            )
        if not np.isfinite(cell):
            raise self.misfit(cell)
        try:
            return self._of_text(f"{cell:.15g}", cell)
        except Misfit as misfit:
            misfit.hint = "Declare the column TEXT in the file, or more decimals in the catalog"
            raise

    def unscaled(self, whole: int) -> Decimal:
        """The value of a scaled whole number."""
        if abs(whole) >= self._limit:
            raise Misfit(whole, f"is out of the range of {self.name}")
        return Decimal(f"{whole}E-{self.scale}")

    def one(self, cell: Any) -> Decimal:
        if type(cell) is str and self._usual.fullmatch(cell):
            return Decimal(cell) or self.unscaled(0)  # no -0.00
        return self.unscaled(self.scaled(cell))

    def canonical(self, cell: Any) -> int:
        return self.scaled(cell)

    def array(self, cells: Sequence[Any]) -> pa.Array:
        kinds = kinds_of(cells)
        fast = None
        if kinds <= {int, float} and self.precision <= 15:
            fast = self._array_of_numbers(cells)
        elif kinds == {str}:
            try:
                return pa.array(cells, pa.string()).cast(self.arrow)
            except pa.ArrowInvalid:
                pass  # the slow way names the value
        return pa.array(self.python(cells), self.arrow) if fast is None else fast

    def of_arrow(self, column: pa.Array) -> pa.Array:
        try:
            return column.cast(self.arrow)
        except pa.ArrowInvalid:
            return super().of_arrow(column)

    def _array_of_numbers(self, cells: Sequence[Any]) -> pa.Array | None:
        """Numbers all of which are exact decimals of the scale; None if any is not at first sight."""
        is_null = np.fromiter((cell is None for cell in cells), np.bool_, len(cells))
        try:
            given = np.fromiter((cell or 0 for cell in cells), np.float64, len(cells))
        except OverflowError:
            return None
        scaled = np.rint(given * 10**self.scale)
        if not (np.abs(scaled) < self._limit).all() or (scaled / 10**self.scale != given).any():
            return None
        return _decimals(scaled.astype(np.int64), is_null, self.arrow)


def _decimals(scaled: np.ndarray[Any, Any], is_null: np.ndarray[Any, Any], arrow: pa.DataType) -> pa.Array:
    """Scaled whole numbers as decimals: 16 bytes each, the lowest first."""
    wide = np.empty((len(scaled), 2), np.int64)
    wide[:, 0] = scaled
    wide[:, 1] = scaled >> 63
    valid = None
    if is_null.any():
        valid = pa.py_buffer(np.packbits(~is_null, bitorder="little").tobytes())
    return pa.Array.from_buffers(arrow, len(scaled), [valid, pa.py_buffer(wide.tobytes())])
