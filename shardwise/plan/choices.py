"""What a plan was chosen by: figures that were expected of its fragments, and strategies that lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

STRATEGIES: Final = {
    "gather": "gather",
    "keys": "key list",
    "broadcast": "broadcast",
}
"""How strategies are called."""


class Foreseen(NamedTuple):
    """Rows that leave the shards, and their bytes; `is_guess`: of some table nothing was measured."""

    rows: float
    bytes: float
    is_guess: bool


class Alternative(NamedTuple):
    """One strategy: rows expected to be moved off the shards and sent to them, and bytes of both."""

    strategy: str
    moved: float
    sent: float
    bytes: float


def rows_sent(params: Mapping[str, Any], sent_as: Mapping[str, str]) -> int:
    """Lists side by side are one list of rows."""
    longest: dict[str, int] = {}
    for name, group in sent_as.items():
        values = params.get(name)
        # A source that takes no lists is sent them as a text.
        count = len(values) if isinstance(values, list | tuple) else 0
        longest[group] = max(count, longest.get(group, 0))
    return sum(longest.values())


def bytes_sent(values: Any) -> int:
    """Of a list of values, about as Arrow holds them."""
    if isinstance(values, str | bytes):
        return len(values)
    if not isinstance(values, list | tuple):
        return 8
    return sum(len(v) + 4 if isinstance(v, str | bytes) else 8 for v in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How the sides of a join meet. `sides` are the names of the tables of each, in short; `unmeasured` those
    that have no statistics. The first of the alternatives was taken."""

    sides: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    unmeasured: tuple[str, ...] = ()
