"""Whether a shard's rows are of the types that the catalog says, and how narrower ones are widened."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from shardwise.errors import OperationalError, Reason

_INTEGERS: dict[pa.DataType, tuple[int, int]] = {
    **{pa.type_for_alias(f"int{bits}"): (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{pa.type_for_alias(f"uint{bits}"): (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}


def widens(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of `given` is one of `wanted` and means the same there."""
    if given == wanted or pt.is_null(given):
        return True
    if given in _INTEGERS:
        low, high = _INTEGERS[given]
        if wanted in _INTEGERS:
            return _INTEGERS[wanted][0] <= low and high <= _INTEGERS[wanted][1]
        if pt.is_decimal(wanted):
            return bool(10 ** (wanted.precision - wanted.scale) > high)
        return bool(pt.is_float64(wanted) and high <= 1 << 53)
    if pt.is_decimal(given) and pt.is_decimal(wanted):
        whole = wanted.precision - wanted.scale >= given.precision - given.scale
        return bool(whole and wanted.scale >= given.scale)
    if pt.is_float32(given):
        return bool(pt.is_float64(wanted))
    return _is_text(given) and _is_text(wanted)


def _is_text(type_: pa.DataType) -> bool:
    if pt.is_dictionary(type_):
        type_ = type_.value_type
    return bool(pt.is_string(type_) or pt.is_large_string(type_) or pt.is_string_view(type_))


class Conform:
    """Makes batches of one shard those of the fragment's schema, by position; names are the fragment's."""

    def __init__(self, given: pa.Schema, wanted: pa.Schema, *, shard: str, fragment: str) -> None:
        if len(given) != len(wanted):
            raise OperationalError(
                f'shard "{shard}" answered fragment {fragment} with {len(given)} columns, not {len(wanted)}',
                reason=Reason.SCHEMA_DRIFT,
                shard=shard,
                hint=CHECK,
            )
        for theirs, ours in zip(given, wanted, strict=True):
            if not widens(theirs.type, ours.type):
                raise drift(shard, ours.name, str(theirs.type), str(ours.type))
        self._wanted = wanted
        self._same = given.types == wanted.types
        self._is_equal = self._same and given.names == wanted.names

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._is_equal:
            return batch
        columns = batch.columns
        if not self._same:
            columns = [_cast(c, f.type) for c, f in zip(columns, self._wanted, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self._wanted)


def drift(shard: str, column: str, given: str, wanted: str) -> OperationalError:
    """A shard's column is of another type than the catalog says."""
    return OperationalError(
        f'column "{column}" is {given} on shard "{shard}", not {wanted} as the catalog says',
        reason=Reason.SCHEMA_DRIFT,
        shard=shard,
        hint=CHECK,
    )


CHECK = "Run `shardwise catalog check` to see all differences, then `shardwise catalog import`"


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    return column if column.type == wanted else column.cast(wanted)
