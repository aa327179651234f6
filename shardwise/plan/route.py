"""Where a fragment goes, and why to no fewer shards."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """A decision worth telling: `slug` is stable and documented, `sentence` is for this statement."""

    slug: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`shards` in the catalog's order, out of `total`; `why` no fewer."""

    shards: tuple[str, ...]
    total: int
    why: tuple[Note, ...] = ()
