"""Whether a sharding can place the keys of a table: once the key's type is known, its constants must fit it.

CREATE SHARDING b USING RANGE (x = LESS THAN '01/02/2025', …)
ATTACH TABLE orders (placed DATE) SHARD BY b (placed)       => '01/02/2025' is no DATE
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from shardwise.catalog.checker import Checker
from shardwise.catalog.places import Sharding
from shardwise.catalog.shardings import Exceptions, Grid, ListOf, Maximum, Mod, Range, ShardingFunction, Value
from shardwise.catalog.shardings.values import Kind, alike, sql_literal
from shardwise.catalog.types import Family
from shardwise.errors import CatalogError


class KeyColumn(NamedTuple):
    """One part of a table's key: what messages call it ("orders.placed"), its type as written, its family."""

    name: str
    type: str
    family: Family


def check_fit(checker: Checker, sharding: Sharding, key: Sequence[KeyColumn], at: str) -> None:
    """MOD on whole numbers, and constants that compare with the key's values; `at` is the sharding's name."""
    for function, column in _pairs(sharding.function, key):
        if isinstance(function, Mod):
            if _KINDS.get(column.family, Kind.NUMBER) is not Kind.NUMBER:
                hint = "Use a HASH that takes text, or an integer expression of the key"
                checker.fail(f"MOD takes whole numbers; {column.name} is {column.type}", at=at, hint=hint)
        elif isinstance(function, Range):
            bounds = [bound for bound in function.bounds if not isinstance(bound, Maximum)]
            found = [_fitting(checker, sharding, "bound", bound, column) for bound in bounds]
            if None not in found and any(low >= high for low, high in pairwise(found)):
                _at_sharding(checker, sharding)
                checker.fail(
                    f'the bounds of sharding "{sharding.name}" do not rise as {column.type}, '
                    f"which key {column.name} is",
                    at=sharding.name,
                )
        else:
            for value in _listed(function):
                _fitting(checker, sharding, "value", value, column)


def check_member_key(checker: Checker, key: Sequence[KeyColumn], at: str) -> None:
    """The key of a DIRECTORY is a member's name: text, or what has one text."""
    for column in key:
        if column.family not in _NAMES:
            checker.fail(
                "the members of a DIRECTORY are named by text, whole numbers, dates or UUIDs; "
                f"{column.name} is {column.type}",
                at=at,
                hint="Declare the column TEXT",
            )


_NAMES = (Family.TEXT, Family.INT, Family.DATE, Family.UUID, Family.OTHER)


def _pairs(
    function: ShardingFunction, key: Sequence[KeyColumn]
) -> Iterator[tuple[ShardingFunction, KeyColumn]]:
    """Each function of one column, and its column."""
    if isinstance(function, Grid):
        yield from _pairs(function.outer, key[: function.outer.arity])
        yield from _pairs(function.inner, key[function.outer.arity :])
    elif isinstance(function, Exceptions):
        yield function, key[0]
        yield from _pairs(function.function, key)
    elif function.arity == 1:
        yield function, key[0]


def _listed(function: ShardingFunction) -> Iterator[Value]:
    if isinstance(function, Exceptions):
        yield from function.keys
    elif isinstance(function, ListOf):
        for group in function.groups:
            yield from group


def _fitting(checker: Checker, sharding: Sharding, what: str, constant: Value, column: KeyColumn) -> Any:
    """The constant as it compares with keys of the column; None where nothing is known of them."""
    kind = _KINDS.get(column.family)
    if kind is None or constant is None:
        return None
    try:
        return alike(constant, kind)
    except CatalogError:
        _at_sharding(checker, sharding)
        written = sql_literal(constant) or str(constant)
        message = (
            f'{what} {written} of sharding "{sharding.name}" is no {column.type}, which key {column.name} is'
        )
        hint = f"Write '{constant!s}'" if kind is Kind.TEXT else _HINTS.get(kind)
        checker.fail(message, at=str(constant), hint=hint)


def _at_sharding(checker: Checker, sharding: Sharding) -> None:
    """Errors point into the sharding from now on: what is wrong is written there."""
    checker.index = next(i for i, item in enumerate(checker.catalog.items) if item is sharding)


_KINDS = {
    Family.INT: Kind.NUMBER,
    Family.DECIMAL: Kind.NUMBER,
    Family.FLOAT: Kind.NUMBER,
    Family.BOOL: Kind.NUMBER,
    Family.TEXT: Kind.TEXT,
    Family.ENUM: Kind.TEXT,
    Family.BLOB: Kind.BYTES,
    Family.DATE: Kind.TIMESTAMP,
    Family.TIMESTAMP: Kind.TIMESTAMP,
    Family.TIMESTAMPTZ: Kind.TIMESTAMPTZ,
    Family.UUID: Kind.UUID,
}
_HINTS = {
    Kind.NUMBER: "Write a number",
    Kind.TIMESTAMP: "Write it as '2025-01-31'",
    Kind.TIMESTAMPTZ: "Write it as '2025-01-31 00:00:00+00'",
}
