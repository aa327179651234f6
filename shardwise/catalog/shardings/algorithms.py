"""The hashes that HASH and RING know: which bytes of a key are hashed, and how.

The definitions, option by option, with test vectors, are in docs/shardings.md.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import mmh3
import xxhash

from shardwise.catalog.shardings.null_key_des import null_key_des
from shardwise.catalog.shardings.postgres_hash import postgres_hash
from shardwise.catalog.shardings.values import Value, key_bytes, key_text, whole
from shardwise.errors import DataError

INTEGERS: Final = {
    "int32le": (4, "little"),
    "int32be": (4, "big"),
    "int64le": (8, "little"),
    "int64be": (8, "big"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """How a key becomes bytes, and a hash a slot."""

    seed: int = 0
    width: int = 0
    sign: str = ""
    to_slot: str = "modulo"
    integers: str = "text"
    slice: str = ""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A hash: what runs, its widths in bits, sign and way to a slot (the defaults first), and its options.

    `null` is the key that NULL is hashed as; without one it is on slot 0.
    """

    run: Callable[[Value, Options], int]
    widths: tuple[int, ...]
    sign: str = "unsigned"
    options: frozenset[str] = frozenset({"sign", "to_slot", "integers", "slice"})
    to_slot: str = "modulo"
    null: Value = None


def _bytes(value: Value, options: Options) -> bytes:
    if options.integers != "text":
        number = whole(value)
        if number is not None:
            length, order = INTEGERS[options.integers]
            wrapped = number & ((1 << 8 * length) - 1)
            return wrapped.to_bytes(length, "little" if order == "little" else "big")
    if options.slice:
        return _sliced(key_text(value), options.slice).encode("utf-8", "surrogatepass")
    return key_bytes(value)


def bounds(text: str, length: int) -> tuple[int, int]:
    """Start and end of `start:end`: negative ones count from the end, and an end of 0 is the end."""
    start_text, colon, end_text = text.partition(":")
    start, end = (int(start_text or 0), int(end_text or 0)) if colon else (0, int(text))
    start = start if start >= 0 else max(length + start, 0)
    return start, min(end if end > 0 else length + end, length)


def _sliced(text: str, slice_text: str) -> str:
    start, end = bounds(slice_text, len(text))
    return text[start:end]


def _units(value: Value, options: Options) -> Sequence[int]:
    """UTF-16 code units of a key's text, sliced: what Java's charAt gives."""
    data = key_text(value).encode("utf-16-le", "surrogatepass")
    units = (
        memoryview(data).cast("H")
        if _LITTLE
        else [a | b << 8 for a, b in zip(data[::2], data[1::2], strict=True)]
    )
    start, end = bounds(options.slice or ":", len(units))
    return units[start:end]


_LITTLE: Final = bool(memoryview(b"\1\0").cast("H")[0] == 1)


def _crc32(value: Value, options: Options) -> int:
    return zlib.crc32(_bytes(value, options))


def _murmur3(value: Value, options: Options) -> int:
    data = _bytes(value, options)
    if options.width == 32:
        return mmh3.hash(data, options.seed, signed=False)
    return mmh3.hash64(data, options.seed, signed=False)[0]


def _xxhash64(value: Value, options: Options) -> int:
    return xxhash.xxh64_intdigest(_bytes(value, options), options.seed)


def _fnv1a(value: Value, options: Options) -> int:
    result, prime = (0x811C9DC5, 0x01000193) if options.width == 32 else (0xCBF29CE484222325, 0x100000001B3)
    limit = (1 << options.width) - 1
    for byte in _bytes(value, options):
        result = (result ^ byte) * prime & limit
    return result


def _md5(value: Value, options: Options) -> int:
    digest = hashlib.md5(_bytes(value, options), usedforsecurity=False).digest()
    return int.from_bytes(digest[: options.width // 8], "big")


def _java_string(value: Value, options: Options) -> int:
    result = 0
    for unit in _units(value, options):
        result = (result * 31 + unit) & 0xFFFFFFFF
    return result


def _java_long(value: Value, options: Options) -> int:
    number = _long(value, "HASH(java_long)")
    return (number ^ number >> 32) & 0xFFFFFFFF


def _cobar_long(value: Value, options: Options) -> int:
    return _long(value, "HASH(cobar_long)")


def _cobar_string(value: Value, options: Options) -> int:
    result = 0
    for unit in _units(value, options):
        result = (result * 31 + unit) & 0xFFFFFFFFFFFFFFFF
    return result


def _number(value: Value, options: Options) -> int:
    """128 bits, so that unsigned numbers of 64 bits are not negative."""
    number = whole(value)
    if number is None:
        raise DataError(
            "HASH(number) takes whole numbers, and this key is none",
            hint="Use a hash of text, such as java_string",
        )
    return number & (1 << 128) - 1


def _mycat_hash_mod(value: Value, options: Options) -> int:
    """Mycat's PartitionByHashMod: Wang and Jenkins' mix, in 32 bits, over the text's Java hash."""
    text = key_text(value).replace("'", " ")
    word = _java_string(text.strip("".join(map(chr, range(33)))), options)
    word = _signed((~word & _M32) + (word << 21))
    word ^= word >> 24
    word = _signed(word + (word << 3) + (word << 8))
    word ^= word >> 14
    word = _signed(word + (word << 2) + (word << 4))
    word ^= word >> 28
    return word + (word << 31) & _M32


_M32: Final = 0xFFFFFFFF


def _signed(word: int) -> int:
    """32 bits as Java has them, so that `>>` keeps the sign."""
    word &= _M32
    return word - (1 << 32) if word >> 31 else word


def _postgres(value: Value, options: Options) -> int:
    return postgres_hash(value)


def _vitess_hash(value: Value, options: Options) -> int:
    return null_key_des(_long(value, "HASH(vitess_hash)"))


def _vitess_numeric(value: Value, options: Options) -> int:
    return _long(value, "HASH(vitess_numeric)")


def _vitess_reverse_bits(value: Value, options: Options) -> int:
    return int(f"{_long(value, 'HASH(vitess_reverse_bits)'):064b}"[::-1], 2)


def _vitess_xxhash(value: Value, options: Options) -> int:
    """A keyspace id is compared from its first byte, and Vitess writes the hash's lowest byte first."""
    return int.from_bytes(xxhash.xxh64_digest(_bytes(value, options))[::-1], "big")


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
ALGORITHMS: Final = {
    "crc32": Algorithm(_crc32, (32,)),
    "murmur3": Algorithm(_murmur3, (32, 64), options=_SEEDED | {"width"}),
    "xxhash64": Algorithm(_xxhash64, (64,), options=_SEEDED),
    "fnv1a": Algorithm(_fnv1a, (64, 32), options=_WIDE),
    "md5": Algorithm(_md5, (64, 32, 128), options=_WIDE),
    "java_string": Algorithm(_java_string, (32,), "signed", frozenset({"sign", "slice"})),
    "java_long": Algorithm(_java_long, (32,), "signed", frozenset({"sign"})),
    "cobar_long": Algorithm(_cobar_long, (64,), options=frozenset()),
    "cobar_string": Algorithm(_cobar_string, (64,), options=frozenset({"slice"})),
    "number": Algorithm(_number, (128,), "abs", frozenset({"sign"})),
    "mycat_hash_mod": Algorithm(_mycat_hash_mod, (32,), "abs", frozenset()),
    "postgres": Algorithm(_postgres, (32,), "signed", frozenset({"sign", "to_slot"}), "ranges"),
    "vitess_hash": Algorithm(_vitess_hash, (64,), options=frozenset(), to_slot="scaled"),
    "vitess_numeric": Algorithm(_vitess_numeric, (64,), options=frozenset(), to_slot="scaled"),
    "vitess_reverse_bits": Algorithm(_vitess_reverse_bits, (64,), options=frozenset(), to_slot="scaled"),
    "vitess_xxhash": Algorithm(_vitess_xxhash, (64,), options=frozenset(), to_slot="scaled", null=""),
}
