"""What a physical table lacks of what the catalog says of it, and how a fragment's text does without.

    SELECT o.id, o.note FROM orders AS o        note is missing on this shard, and orders is DRIFT FILL
    =>  SELECT o.id, o.note FROM (SELECT id, CAST(NULL AS VARCHAR) AS note FROM orders) AS o

Whoever reads finds out, before it reads a table for the first time, and asks the request for its other text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Gap(NamedTuple):
    """Columns, by folded name, that are `missing` and read as their defaults, or `narrower` and are widened.

    `is_whole`: the table itself is not there, and reads as empty.
    """

    missing: frozenset[str] = frozenset()
    narrower: frozenset[str] = frozenset()
    is_whole: bool = False

    def with_(self, other: Gap) -> Gap:
        """Both."""
        return Gap(
            self.missing | other.missing, self.narrower | other.narrower, self.is_whole or other.is_whole
        )


Gaps = Mapping[str, Gap]
"""By physical table, as SQL text."""

NO_GAPS: Final[Gaps] = {}
