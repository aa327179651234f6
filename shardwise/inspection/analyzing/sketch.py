"""How many distinct values, of a sketch that can be put together over partitions.

A value's hash says which of 1,024 registers it is counted in; a register keeps the least of what follows in
the hash, as a number between 0 and 1. The sketch of two partitions is, register by register, the lesser of
the two: a value that both have counts once. What registers hold is spread as an exponential of the rate
n / 1024, cut off at 1 where nothing fell into a register; the estimate is its maximum likelihood (Giroire's
MinCount, 2009, is akin). The standard error is 1/√1024, about 3 %, less where there are few values.

The hash is MD5, which all products but SQLite have. Its first two digits and a quarter (`a` to `d`) of the
third say the register, twelve digits from the fourth on what it keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import md5

REGISTERS = 1024
DIGITS = 12
_ONE = float(16**DIGITS)
_QUARTERS = "aaaabbbbccccdddd"


def sketch_of(texts: Iterable[str]) -> dict[str, str]:
    """The sketch of values, as a source computes it of its own."""
    found: dict[str, str] = {}
    for text in texts:
        digest = md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()
        register, rest = digest[:2] + _QUARTERS[int(digest[2], 16)], digest[3 : 3 + DIGITS]
        if rest < found.get(register, "g"):
            found[register] = rest
    return found


def register_of(digest: str) -> str:
    """The same as SQL, of a digest."""
    third = f"substr({digest}, 3, 1)"
    quarter = f"CASE WHEN {third} < '4' THEN 'a' WHEN {third} < '8' THEN 'b' WHEN {third} < 'c' THEN 'c'"
    return f"concat(substr({digest}, 1, 2), {quarter} ELSE 'd' END)"


def rest_of(digest: str) -> str:
    """What a register keeps the least of, as SQL."""
    return f"substr({digest}, 4, {DIGITS})"


def united(sketches: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The sketch of all their values."""
    found: dict[str, str] = {}
    for sketch in sketches:
        for register, rest in sketch.items():
            if rest < found.get(register, "g"):
                found[register] = rest
    return found


def distinct_of(sketch: Mapping[str, str]) -> float:
    """How many distinct values it is of."""
    filled = len(sketch)
    if not filled:
        return 0.0
    empty = REGISTERS - filled
    reached = sum((int(rest, 16) + 1) / _ONE for rest in sketch.values()) + empty
    return REGISTERS * (filled if empty else filled - 1) / reached
