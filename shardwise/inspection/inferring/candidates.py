"""What a row might be placed by: columns and expressions of them, and functions of those."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.keys import evaluate
from shardwise.catalog.shardings import ShardingFunction, Value, canonical, hash_function, mod
from shardwise.catalog.types import Family as Kind
from shardwise.errors import DataError

_NUMBERS = (Kind.INT,)
_TEXTS = (Kind.TEXT, Kind.ENUM)
_DATES = (Kind.DATE, Kind.TIMESTAMP)
Samples = Sequence[tuple[int, Value]]
"""Values with the number of the member that each is in."""
KEYS = frozenset(
    {Kind.INT, Kind.DECIMAL, Kind.TEXT, Kind.ENUM, Kind.DATE, Kind.TIMESTAMP, Kind.UUID, Kind.BOOL}
)


FEW = 150
"""So many keys are looked at first: nearly all rules fail on them."""


@dataclass(frozen=True, eq=False)
class Key:
    """A column, or an expression of one, over the column's values by member.

    Not slotted: an expression's values are computed when they are asked for.
    """

    column: str
    expression: exp.Expr
    kind: Kind
    of_column: Samples
    dialect: str

    @property
    def is_plain(self) -> bool:
        return isinstance(self.expression, exp.Column)

    @cached_property
    def few(self) -> Samples:
        """Some of the values."""
        return self._evaluated(self.of_column[:: max(1, len(self.of_column) // FEW)])

    @cached_property
    def samples(self) -> Samples:
        """All of them; none if one cannot be computed."""
        return self._evaluated(self.of_column)

    def _evaluated(self, samples: Samples) -> Samples:
        if self.is_plain:
            return samples
        name = self.column.lower()
        try:
            return [(at, evaluate(self.expression, {name: value}, self.dialect)) for at, value in samples]
        except DataError:
            return []


@dataclass(frozen=True)
class Function:
    """A function of any number of slots.

    `is_modulo`: a slot of n is one of a multiple of n again, modulo. `is_even`: a member has one slot.
    `sizes` are the only ones that it comes in, if there are any.
    """

    of_size: Callable[[int], ShardingFunction]
    is_modulo: bool = True
    is_even: bool = False
    sizes: tuple[int, ...] = ()


def keys(column: str, kind: Kind, samples: Samples, dialect: str) -> Iterator[Key]:
    """The column itself, then expressions of it that tell its values apart."""
    plain = exp.column(exp.to_identifier(column))
    try:
        good = [(at, canonical(value, kind)) for at, value in samples]
    except DataError:
        return
    yield Key(column, plain, kind, good, dialect)
    for expression, result in _expressions(plain, kind, [value for _, value in good]):
        key = Key(column, expression, result, good, dialect)
        if len({value for _, value in key.few}) > 1:
            yield key


def _expressions(plain: exp.Expr, kind: Kind, values: Sequence[Value]) -> Iterator[tuple[exp.Expr, Kind]]:
    if kind in _NUMBERS:
        top = max((abs(value) for value in values if isinstance(value, int)), default=0)
        for power in range(1, 8):
            if top >= 10 ** (power + 1):
                yield exp.IntDiv(this=plain, expression=exp.Literal.number(10**power)), Kind.INT
                yield exp.Mod(this=plain, expression=exp.Literal.number(10**power)), Kind.INT
        for bits in range(1, 56):
            if top >= 1 << bits + 1:
                yield exp.BitwiseRightShift(this=plain, expression=exp.Literal.number(bits)), Kind.INT
    elif kind in _TEXTS:
        yield from _parts_of_text(plain, [value for value in values if isinstance(value, str)])
    elif kind in _DATES:
        yield exp.Month(this=plain), Kind.INT
        yield exp.Year(this=plain), Kind.INT


def _parts_of_text(plain: exp.Expr, values: Sequence[str]) -> Iterator[tuple[exp.Expr, Kind]]:
    """The digits that all end in or begin with, as a number."""
    shortest = min(map(len, values), default=0)
    if shortest and all(value.isascii() and value.isdigit() and len(value) < 19 for value in values):
        yield exp.cast(plain, "BIGINT"), Kind.INT
    for length in range(1, min(shortest, 6) + 1):
        number = exp.Literal.number(length)
        if all(value[-length:].isascii() and value[-length:].isdigit() for value in values):
            yield exp.cast(exp.Right(this=plain, expression=number), "BIGINT"), Kind.INT
        if all(value[:length].isascii() and value[:length].isdigit() for value in values):
            yield exp.cast(exp.Left(this=plain, expression=number), "BIGINT"), Kind.INT


def functions(key: Key) -> Iterator[Function]:
    """The functions of a key, the plainest first."""
    if key.kind in _NUMBERS:
        yield Function(mod)
        for name, options in _OF_NUMBERS if key.is_plain else ():
            yield _hash(name, options)
    if key.kind is Kind.DECIMAL and all(v == int(v) for _, v in key.samples if isinstance(v, Decimal)):
        yield Function(mod)
    if not key.is_plain or key.kind is Kind.BOOL:
        return
    if key.kind in _TEXTS:
        for options in _SLICES:
            yield Function(_of_size("cobar_string", options), sizes=(1024,))
    for name, options in _OF_ALL:
        yield _hash(name, options)


def _hash(name: str, options: Mapping[str, str]) -> Function:
    is_even = name == "mycat_murmur" or (name == "postgres" and "to_slot" not in options)
    is_scaled = name.startswith("vitess") or options.get("to_slot") == "scaled"
    return Function(_of_size(name, options), is_modulo=not is_even and not is_scaled, is_even=is_even)


def _of_size(name: str, options: Mapping[str, str]) -> Callable[[int], ShardingFunction]:
    return lambda slots: hash_function(name, slots, options)


_SLICES: tuple[dict[str, str], ...] = (
    {},
    *({"slice": text} for text in ("0:8", "0:4", "0:2", "0:1", "-1:", "-2:", "-3:", "-4:", "-8:")),
)
_OF_NUMBERS: tuple[tuple[str, dict[str, str]], ...] = (
    ("number", {}),
    ("java_long", {"sign": "abs"}),
    ("java_long", {}),
    ("vitess_hash", {}),
    ("vitess_numeric", {}),
    ("vitess_reverse_bits", {}),
    ("murmur3", {"integers": "int64le"}),
    ("murmur3", {"integers": "int32le"}),
    ("xxhash64", {"integers": "int64le"}),
)
_OF_ALL: tuple[tuple[str, dict[str, str]], ...] = (
    ("crc32", {}),
    ("java_string", {"sign": "abs"}),
    ("java_string", {}),
    ("java_string", {"sign": "mask"}),
    ("postgres", {}),
    ("postgres", {"to_slot": "modulo", "sign": "abs"}),
    ("vitess_xxhash", {}),
    ("xxhash64", {}),
    ("murmur3", {}),
    ("murmur3", {"width": "64"}),
    ("md5", {}),
    ("md5", {"width": "32"}),
    ("md5", {"width": "128"}),
    ("md5", {"to_slot": "scaled"}),
    ("fnv1a", {}),
    ("fnv1a", {"width": "32"}),
    ("mycat_hash_mod", {}),
    ("mycat_murmur", {}),
)
