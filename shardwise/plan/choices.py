"""What a plan was chosen by: figures that were expected of its fragments, and strategies that lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

STRATEGIES: Final = {
    "gather": "gather",
    "keys": "key list",
    "broadcast": "broadcast",
    "seeks": "seeks",
    "first_rows": "moving all rows before it",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How the sides of a join meet, or how a page is found, which is a side alone. `sides` are the names of
    the tables of each, in short; `unmeasured` those that have no statistics. The first of the alternatives
    was taken."""

    sides: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    unmeasured: tuple[str, ...] = ()
