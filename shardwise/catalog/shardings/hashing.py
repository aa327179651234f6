"""HASH: which bytes are hashed, by which function, and how a hash becomes a slot.

The definitions, option by option, with test vectors, are in docs/shardings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Final, cast

from shardwise.catalog.shardings.algorithms import ALGORITHMS, INTEGERS, Algorithm, Options, bounds
from shardwise.catalog.shardings.base import OneColumn, ShardingFunction
from shardwise.catalog.shardings.mycat_ring import MycatRing
from shardwise.catalog.shardings.values import Value
from shardwise.errors import CatalogError

_SIGNS: Final = ("unsigned", "signed", "abs", "mask")
_TO_SLOT: Final = ("modulo", "scaled", "ranges")
HASHES: Final = tuple(ALGORITHMS)


@dataclass(frozen=True, slots=True)
class Hash(OneColumn):
    """HASH(algorithm, option = 'value', …) SLOTS n. NULL is on slot 0, unless the algorithm hashes it."""

    algorithm: str
    size: int
    options: tuple[tuple[str, str], ...] = ()
    _run: Callable[[Value, Options], int] = field(init=False, repr=False, compare=False)
    _given: Options = field(init=False, repr=False, compare=False)
    _null: Value = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise CatalogError(f"HASH({self.algorithm}) needs at least one slot")
        if self.algorithm.startswith("cobar") and self.size & (self.size - 1):
            raise CatalogError(
                f"HASH({self.algorithm}) masks its hash: SLOTS must be a power of two", hint="Cobar has 1024"
            )
        algorithm = _algorithm(self.algorithm)
        object.__setattr__(self, "_run", algorithm.run)
        object.__setattr__(self, "_null", algorithm.null)
        object.__setattr__(self, "_given", _read(self.algorithm, algorithm, dict(self.options)))

    def hash(self, value: Value) -> int:
        """The hash of a key that is not NULL, unsigned."""
        return self._run(value, self._given)

    def _place(self, value: Value) -> int | None:
        if value is None:
            value = self._null
        if value is None:
            return 0
        given, number = self._given, self._run(value, self._given)
        if given.to_slot == "modulo":
            if given.sign != "unsigned" and number >> given.width - 1:
                number = _signed(number, given)
            return number % self.size
        if given.sign == "signed":
            number ^= 1 << given.width - 1  # negative ones come first
        if given.to_slot == "scaled":
            return number * self.size >> given.width
        return min(number // ((1 << given.width) // self.size), self.size - 1)

    def sql(self, dialect: str) -> str | None:
        """Right for whole numbers, text, DATE, TIMESTAMP and UUID keys; DuckDB has MD5 of these hashes."""
        if dialect != "duckdb" or self._given.to_slot != "modulo" or self._given.slice:
            return None
        size = self.size
        if self.algorithm == "cobar_long":
            return f"CAST(coalesce(({{0}} % {size} + {size}) % {size}, 0) AS BIGINT)"
        plain = self._given == replace(Options(), width=64, sign="unsigned")
        if self.algorithm == "md5" and plain:
            number = "CAST('0x' || substr(md5(CAST({0} AS VARCHAR)), 1, 16) AS UBIGINT)"
            return f"CAST(coalesce({number} % {size}, 0) AS BIGINT)"
        return None


def _signed(number: int, given: Options) -> int:
    """A hash whose top bit is set, read as the option `sign` says."""
    if given.sign == "mask":
        return number & ((1 << given.width - 1) - 1)
    negative = number - (1 << given.width)
    return -negative if given.sign == "abs" else negative


def _algorithm(name: str) -> Algorithm:
    try:
        return ALGORITHMS[name]
    except KeyError:
        raise CatalogError(
            f"there is no hash function {name!r}",
            hint=f"Those built in are {', '.join((*ALGORITHMS, MycatRing.algorithm))}",
        ) from None


def _read(name: str, algorithm: Algorithm, texts: Mapping[str, str]) -> Options:
    """The options of a hash, checked."""
    for option in texts:
        if option not in algorithm.options:
            known = ", ".join(sorted(algorithm.options)) or "none"
            raise CatalogError(f"HASH({name}) has no option {option!r}", hint=f"Its options are: {known}")
    try:
        given = Options(
            seed=int(texts.get("seed", "0")),
            width=int(texts.get("width", str(algorithm.widths[0]))),
            sign=texts.get("sign", algorithm.sign),
            to_slot=texts.get("to_slot", algorithm.to_slot),
            integers=texts.get("integers", "text"),
            slice=texts.get("slice", "").replace(" ", ""),
        )
        if given.slice:
            bounds(given.slice, 1)
    except ValueError:
        raise CatalogError(f"an option of HASH({name}) is not a whole number") from None
    allowed: dict[str, tuple[object, tuple[object, ...]]] = {
        "width": (given.width, algorithm.widths),
        "sign": (given.sign, _SIGNS),
        "to_slot": (given.to_slot, _TO_SLOT),
        "integers": (given.integers, ("text", *INTEGERS)),
    }
    for option, (value, choices) in allowed.items():
        if value not in choices:
            raise CatalogError(
                f"HASH({name}) does not know {option} = {value!r}",
                hint=f"It is one of {', '.join(map(str, choices))}",
            )
    if given.to_slot != "modulo" and given.sign not in ("unsigned", "signed"):
        raise CatalogError(
            f"HASH({name}) with to_slot = '{given.to_slot}' puts hashes in order: sign is unsigned or signed"
        )
    if not 0 <= given.seed < 1 << (64 if name == "xxhash64" else 32):
        raise CatalogError(f"the seed of HASH({name}) is out of range")
    return given


def hash_function(name: str, slots: int, options: Mapping[str, str] | None = None) -> ShardingFunction:
    """HASH(name, option = 'value', …) SLOTS n: one of ours, or one that another package registered.

    A package registers `name` under the entry point group "shardwise.shardings", as a callable
    of (slots, options) that returns a `ShardingFunction`.
    """
    name = name.lower()
    given = {key.lower(): str(value) for key, value in (options or {}).items()}
    if name in ALGORITHMS:
        return Hash(name, slots, tuple(sorted(given.items())))
    if name == MycatRing.algorithm:
        return MycatRing(slots, tuple(sorted(given.items())))
    for entry in metadata.entry_points(group="shardwise.shardings", name=name):
        return cast(ShardingFunction, entry.load()(slots, given))
    return Hash(name, slots)  # raises the error that lists those there are
