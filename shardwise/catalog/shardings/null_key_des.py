"""DES under the key of eight zero bytes, which Vitess takes as a hash of 64-bit numbers (its vindex "hash").

All round keys of that key are zero, so that a round is E, S and P alone, and these are one table per S-box.
FIPS 46-3 numbers bits from 1, the most significant; so do the tables here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

_INITIAL: Final = [start - 8 * step for start in (58, 60, 62, 64, 57, 59, 61, 63) for step in range(8)]
_FINAL: Final = [_INITIAL.index(bit) + 1 for bit in range(1, 65)]
_P: Final = (
    *(16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10),
    *(2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25),
)
_BOXES: Final = (
    "e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
    "f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
    "a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
    "7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
    "2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
    "c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
    "4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
    "d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
)
"""Each S-box: four rows of sixteen, chosen by the outer bits of six and by the inner ones."""


def null_key_des(block: int) -> int:
    """The block of 64 bits, encrypted.

    >>> f"{null_key_des(1):x}"
    '166b40b44aba4bd6'
    """
    initial, boxes, final = _tables()
    mixed = _permuted(block, initial)
    left, right = mixed >> 32, mixed & 0xFFFFFFFF
    for _ in range(16):
        expanded = (right & 1) << 33 | right << 1 | right >> 31
        out = 0
        for box, table in enumerate(boxes):
            out |= table[expanded >> 28 - 4 * box & 63]
        left, right = right, left ^ out
    return _permuted(right << 32 | left, final)


def _permuted(block: int, tables: Sequence[Sequence[int]]) -> int:
    out = 0
    for byte, table in zip(block.to_bytes(8, "big"), tables, strict=True):
        out |= table[byte]
    return out


@cache
def _tables() -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """What each byte adds to the initial permutation, each six bits to a round, each byte to the last."""
    boxes = [
        [_moved(_through(box, six) << 28 - 4 * n, 32, _P) for six in range(64)]
        for n, box in enumerate(_BOXES)
    ]
    initial, final = (
        [[_moved(byte << 56 - 8 * at, 64, order) for byte in range(256)] for at in range(8)]
        for order in (_INITIAL, _FINAL)
    )
    return initial, boxes, final


def _through(box: str, six: int) -> int:
    row, column = six >> 4 & 2 | six & 1, six >> 1 & 15
    return int(box[16 * row + column], 16)


def _moved(bits: int, width: int, order: Sequence[int]) -> int:
    """Bit i of what comes out is bit order[i] of what goes in."""
    out = 0
    for bit in order:
        out = out << 1 | bits >> width - bit & 1
    return out
