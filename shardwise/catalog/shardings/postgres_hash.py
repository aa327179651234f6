"""PostgreSQL's own 32-bit hashes of its types: `hashint8`, `hashtext` and the like, as Citus places rows.

Bob Jenkins' lookup3 in the form of PostgreSQL's hashfn.c, which reads words in little-endian order. What a
value's type is follows from its canonical form: an int is any of the integer types (they hash alike).
"""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from shardwise.catalog.shardings.values import Value
from shardwise.errors import DataError

_MASK: Final = 0xFFFFFFFF
_START: Final = 0x9E3779B9 + 3923095
_EPOCH: Final = datetime.fromisoformat("2000-01-01")


def postgres_hash(value: Value) -> int:
    """The hash of a key that is not NULL, unsigned; text as under a deterministic collation.

    >>> postgres_hash(1), postgres_hash("hello")  # hashint8(1), hashtext('hello')
    (2389907270, 2424674345)
    """
    match value:
        case bool() | int():
            return _int8(value)
        case str():
            return hash_bytes(value.encode("utf-8", "surrogatepass"))
        case bytes():
            return hash_bytes(value)
        case UUID():
            return hash_bytes(value.bytes)
        case datetime():
            return _int8(_microseconds(value))
        case date():
            return _int8((value - _EPOCH.date()).days)
        case Decimal():
            return _numeric(value)
        case float():
            return hash_bytes(struct.pack("<d", value)) if value else 0
        case None:
            raise DataError("NULL has no hash")


def hash_bytes(data: bytes) -> int:
    """`hash_any` of PostgreSQL."""
    a = b = c = (_START + len(data)) & _MASK
    whole = len(data) - len(data) % 12
    for x, y, z in struct.iter_unpack("<3I", data[:whole]):
        a, b, c = _mix((a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK)
    rest = data[whole:]
    a += int.from_bytes(rest[:4], "little")
    b += int.from_bytes(rest[4:8], "little")
    c += int.from_bytes(rest[8:], "little") << 8  # the lowest byte is the length's
    return _final(a & _MASK, b & _MASK, c & _MASK)


def _word(word: int) -> int:
    start = (_START + 4) & _MASK
    return _final((start + word) & _MASK, start, start)


def _int8(number: int) -> int:
    """Numbers of all widths alike: the upper half does nothing to one that fits 32 bits."""
    low, high = number & _MASK, number >> 32 & _MASK
    return _word(low ^ (high if number >= 0 else ~high & _MASK))


def _microseconds(moment: datetime) -> int:
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _numeric(value: Decimal) -> int:
    """The digits to base 10,000, without zeros at either end, and the first one's place; not the sign."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # a canonical key is finite
    text = "".join(map(str, digits)) + "0" * (exponent % 4)
    low = exponent // 4  # the place of the last group of four
    text = text.zfill(-(-len(text) // 4) * 4)
    groups = [int(text[at : at + 4]) for at in range(0, len(text), 4)]
    while groups and not groups[-1]:
        groups.pop()
        low += 1
    weight = low + len(groups) - 1
    while groups and not groups[0]:
        groups.pop(0)
        weight -= 1
    if not groups:
        return _MASK
    return hash_bytes(struct.pack(f"<{len(groups)}H", *groups)) ^ weight & _MASK


def _turn(word: int, count: int) -> int:
    return (word << count | word >> 32 - count) & _MASK


def _mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    for left, middle, right in ((4, 6, 8), (16, 19, 4)):
        a = (a - c & _MASK) ^ _turn(c, left)
        c = c + b & _MASK
        b = (b - a & _MASK) ^ _turn(a, middle)
        a = a + c & _MASK
        c = (c - b & _MASK) ^ _turn(b, right)
        b = b + a & _MASK
    return a, b, c


def _final(a: int, b: int, c: int) -> int:
    c = (c ^ b) - _turn(b, 14) & _MASK
    a = (a ^ c) - _turn(c, 11) & _MASK
    b = (b ^ a) - _turn(a, 25) & _MASK
    c = (c ^ b) - _turn(b, 16) & _MASK
    a = (a ^ c) - _turn(c, 4) & _MASK
    b = (b ^ a) - _turn(a, 14) & _MASK
    return (c ^ b) - _turn(b, 24) & _MASK
