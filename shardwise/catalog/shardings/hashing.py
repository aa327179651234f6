"""HASH and RING: which bytes are hashed, by which function, and how a hash becomes a slot.

The definitions, option by option, with test vectors, are in docs/shardings.md.
"""

from __future__ import annotations

import hashlib
import zlib
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Final, cast

import mmh3
import xxhash

from shardwise.catalog.shardings.base import OneColumn, ShardingFunction
from shardwise.catalog.shardings.values import Value, key_bytes, key_text, whole
from shardwise.errors import CatalogError, DataError

_INTEGERS: Final = {
    "int32le": (4, "little"),
    "int32be": (4, "big"),
    "int64le": (8, "little"),
    "int64be": (8, "big"),
}
_SIGNS: Final = ("unsigned", "signed", "abs", "mask")


@dataclass(frozen=True, slots=True)
class _Options:
    """How a key becomes bytes, and a hash a slot."""

    seed: int = 0
    width: int = 0
    sign: str = ""
    to_slot: str = "modulo"
    integers: str = "text"
    slice: str = ""


@dataclass(frozen=True, slots=True)
class _Algorithm:
    """A hash: what runs, its widths in bits and sign (the defaults first), and the options it takes."""

    run: Callable[[Value, _Options], int]
    widths: tuple[int, ...]
    sign: str = "unsigned"
    options: frozenset[str] = frozenset({"sign", "to_slot", "integers", "slice"})


def _bytes(value: Value, options: _Options) -> bytes:
    if options.integers != "text":
        number = whole(value)
        if number is not None:
            length, order = _INTEGERS[options.integers]
            wrapped = number & ((1 << 8 * length) - 1)
            return wrapped.to_bytes(length, "little" if order == "little" else "big")
    if options.slice:
        return _sliced(key_text(value), options.slice).encode("utf-8", "surrogatepass")
    return key_bytes(value)


def _bounds(text: str, length: int) -> tuple[int, int]:
    """Start and end of `start:end`: negative ones count from the end, and an end of 0 is the end."""
    start_text, colon, end_text = text.partition(":")
    start, end = (int(start_text or 0), int(end_text or 0)) if colon else (0, int(text))
    start = start if start >= 0 else max(length + start, 0)
    return start, min(end if end > 0 else length + end, length)


def _sliced(text: str, slice_text: str) -> str:
    start, end = _bounds(slice_text, len(text))
    return text[start:end]


def _units(value: Value, options: _Options) -> Sequence[int]:
    """UTF-16 code units of a key's text, sliced: what Java's charAt gives."""
    data = key_text(value).encode("utf-16-le", "surrogatepass")
    units = (
        memoryview(data).cast("H")
        if _LITTLE
        else [a | b << 8 for a, b in zip(data[::2], data[1::2], strict=True)]
    )
    start, end = _bounds(options.slice or ":", len(units))
    return units[start:end]


_LITTLE: Final = bool(memoryview(b"\1\0").cast("H")[0] == 1)


def _crc32(value: Value, options: _Options) -> int:
    return zlib.crc32(_bytes(value, options))


def _murmur3(value: Value, options: _Options) -> int:
    data = _bytes(value, options)
    if options.width == 32:
        return mmh3.hash(data, options.seed, signed=False)
    return mmh3.hash64(data, options.seed, signed=False)[0]


def _xxhash64(value: Value, options: _Options) -> int:
    return xxhash.xxh64_intdigest(_bytes(value, options), options.seed)


def _fnv1a(value: Value, options: _Options) -> int:
    result, prime = (0x811C9DC5, 0x01000193) if options.width == 32 else (0xCBF29CE484222325, 0x100000001B3)
    limit = (1 << options.width) - 1
    for byte in _bytes(value, options):
        result = (result ^ byte) * prime & limit
    return result


def _md5(value: Value, options: _Options) -> int:
    digest = hashlib.md5(_bytes(value, options), usedforsecurity=False).digest()
    return int.from_bytes(digest[: options.width // 8], "big")


def _java_string(value: Value, options: _Options) -> int:
    result = 0
    for unit in _units(value, options):
        result = (result * 31 + unit) & 0xFFFFFFFF
    return result


def _java_long(value: Value, options: _Options) -> int:
    number = _long(value, "HASH(java_long)")
    return (number ^ number >> 32) & 0xFFFFFFFF


def _cobar_long(value: Value, options: _Options) -> int:
    return _long(value, "HASH(cobar_long)")


def _cobar_string(value: Value, options: _Options) -> int:
    result = 0
    for unit in _units(value, options):
        result = (result * 31 + unit) & 0xFFFFFFFFFFFFFFFF
    return result


def _long(value: Value, what: str) -> int:
    """A whole number as 64 bits, two's complement."""
    number = whole(value)
    if number is None:
        raise DataError(
            f"{what} takes whole numbers, and this key is none",
            hint="Use a hash of text, such as java_string",
        )
    return number & 0xFFFFFFFFFFFFFFFF


_SEEDED: Final = frozenset({"seed", "sign", "to_slot", "integers", "slice"})
_WIDE: Final = frozenset({"width", "sign", "to_slot", "integers", "slice"})
_ALGORITHMS: Final = {
    "crc32": _Algorithm(_crc32, (32,)),
    "murmur3": _Algorithm(_murmur3, (32, 64), options=_SEEDED | {"width"}),
    "xxhash64": _Algorithm(_xxhash64, (64,), options=_SEEDED),
    "fnv1a": _Algorithm(_fnv1a, (64, 32), options=_WIDE),
    "md5": _Algorithm(_md5, (64, 32, 128), options=_WIDE),
    "java_string": _Algorithm(_java_string, (32,), "signed", frozenset({"sign", "slice"})),
    "java_long": _Algorithm(_java_long, (32,), "signed", frozenset({"sign"})),
    "cobar_long": _Algorithm(_cobar_long, (64,), options=frozenset()),
    "cobar_string": _Algorithm(_cobar_string, (64,), options=frozenset({"slice"})),
}
HASHES: Final = tuple(_ALGORITHMS)


@dataclass(frozen=True, slots=True)
class Hash(OneColumn):
    """HASH(algorithm, option = 'value', …) SLOTS n. NULL is on slot 0."""

    algorithm: str
    size: int
    options: tuple[tuple[str, str], ...] = ()
    _run: Callable[[Value, _Options], int] = field(init=False, repr=False, compare=False)
    _given: _Options = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise CatalogError(f"HASH({self.algorithm}) needs at least one slot")
        if self.algorithm.startswith("cobar") and self.size & (self.size - 1):
            raise CatalogError(
                f"HASH({self.algorithm}) masks its hash: SLOTS must be a power of two", hint="Cobar has 1024"
            )
        algorithm = _algorithm(self.algorithm)
        object.__setattr__(self, "_run", algorithm.run)
        object.__setattr__(self, "_given", _read(self.algorithm, algorithm, dict(self.options)))

    def hash(self, value: Value) -> int:
        """The hash of a key that is not NULL, unsigned."""
        return self._run(value, self._given)

    def _place(self, value: Value) -> int | None:
        if value is None:
            return 0
        given, number = self._given, self._run(value, self._given)
        if given.to_slot == "scaled":
            return number * self.size >> given.width
        if given.sign != "unsigned" and number >> given.width - 1:
            number = _signed(number, given)
        return number % self.size

    def sql(self, dialect: str) -> str | None:
        """Right for whole numbers, text, DATE, TIMESTAMP and UUID keys; DuckDB has MD5 of these hashes."""
        if dialect != "duckdb" or self._given.to_slot == "scaled" or self._given.slice:
            return None
        size = self.size
        if self.algorithm == "cobar_long":
            return f"CAST(coalesce(({{0}} % {size} + {size}) % {size}, 0) AS BIGINT)"
        plain = self._given == replace(_Options(), width=64, sign="unsigned")
        if self.algorithm == "md5" and plain:
            number = "CAST('0x' || substr(md5(CAST({0} AS VARCHAR)), 1, 16) AS UBIGINT)"
            return f"CAST(coalesce({number} % {size}, 0) AS BIGINT)"
        return None


def _signed(number: int, given: _Options) -> int:
    """A hash whose top bit is set, read as the option `sign` says."""
    if given.sign == "mask":
        return number & ((1 << given.width - 1) - 1)
    negative = number - (1 << given.width)
    return -negative if given.sign == "abs" else negative


def _algorithm(name: str) -> _Algorithm:
    try:
        return _ALGORITHMS[name]
    except KeyError:
        raise CatalogError(
            f"there is no hash function {name!r}", hint=f"Those built in are {', '.join(_ALGORITHMS)}"
        ) from None


def _read(name: str, algorithm: _Algorithm, texts: Mapping[str, str]) -> _Options:
    """The options of a hash, checked."""
    for option in texts:
        if option not in algorithm.options:
            known = ", ".join(sorted(algorithm.options)) or "none"
            raise CatalogError(f"HASH({name}) has no option {option!r}", hint=f"Its options are: {known}")
    try:
        given = _Options(
            seed=int(texts.get("seed", "0")),
            width=int(texts.get("width", str(algorithm.widths[0]))),
            sign=texts.get("sign", algorithm.sign),
            to_slot=texts.get("to_slot", "modulo"),
            integers=texts.get("integers", "text"),
            slice=texts.get("slice", "").replace(" ", ""),
        )
        if given.slice:
            _bounds(given.slice, 1)
    except ValueError:
        raise CatalogError(f"an option of HASH({name}) is not a whole number") from None
    allowed: dict[str, tuple[object, tuple[object, ...]]] = {
        "width": (given.width, algorithm.widths),
        "sign": (given.sign, _SIGNS),
        "to_slot": (given.to_slot, ("modulo", "scaled")),
        "integers": (given.integers, ("text", *_INTEGERS)),
    }
    for option, (value, choices) in allowed.items():
        if value not in choices:
            raise CatalogError(
                f"HASH({name}) does not know {option} = {value!r}",
                hint=f"It is one of {', '.join(map(str, choices))}",
            )
    if not 0 <= given.seed < 1 << (64 if name == "xxhash64" else 32):
        raise CatalogError(f"the seed of HASH({name}) is out of range")
    return given


@dataclass(frozen=True, slots=True)
class Ring(OneColumn):
    """RING(algorithm) POINTS p: consistent hashing over 0 … 2³²−1; slot i is the i-th member.

    Member m has p points, the hashes of the texts "m-0" … "m-(p-1)". A key belongs to the member of
    the first point at or after its hash, wrapping round. Hashes wider than 32 bits give their top 32.
    Of members whose points collide the one named first has it. NULL is on slot 0.
    """

    algorithm: str
    points: int
    members: tuple[str, ...]
    _hash: Hash = field(init=False, repr=False, compare=False)
    _at: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _slots: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.points < 1 or not self.members or len(set(self.members)) < len(self.members):
            raise CatalogError("a RING needs members of different names, and at least one point for each")
        if self.algorithm in ("java_long", "cobar_long"):
            raise CatalogError(
                f"RING({self.algorithm}): a ring's points are text, which this hash does not take"
            )
        object.__setattr__(self, "_hash", Hash(self.algorithm, 1))
        owners: dict[int, int] = {}
        for slot, member in enumerate(self.members):
            for point in range(self.points):
                owners.setdefault(self._point(f"{member}-{point}"), slot)
        ordered = sorted(owners)
        object.__setattr__(self, "_at", tuple(ordered))
        object.__setattr__(self, "_slots", tuple(owners[point] for point in ordered))

    def _point(self, value: Value) -> int:
        width = _ALGORITHMS[self.algorithm].widths[0]
        return self._hash.hash(value) >> (width - 32)

    @property
    def size(self) -> int:
        return len(self.members)

    def _place(self, value: Value) -> int | None:
        if value is None:
            return 0
        index = bisect_left(self._at, self._point(value))
        return self._slots[index if index < len(self._at) else 0]


def hash_function(name: str, slots: int, options: Mapping[str, str] | None = None) -> ShardingFunction:
    """HASH(name, option = 'value', …) SLOTS n: one of ours, or one that another package registered.

    A package registers `name` under the entry point group "shardwise.shardings", as a callable
    of (slots, options) that returns a `ShardingFunction`.
    """
    name = name.lower()
    given = {key.lower(): str(value) for key, value in (options or {}).items()}
    if name in _ALGORITHMS:
        return Hash(name, slots, tuple(sorted(given.items())))
    for entry in metadata.entry_points(group="shardwise.shardings", name=name):
        return cast(ShardingFunction, entry.load()(slots, given))
    return Hash(name, slots)  # raises the error that lists those there are


def ring(algorithm: str, points: int, members: Sequence[str]) -> Ring:
    """RING(algorithm) POINTS p (member, …)."""
    return Ring(algorithm.lower(), points, tuple(members))
