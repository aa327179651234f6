"""What `Connection.explain` gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shardwise.dbapi import html


@dataclass(frozen=True, slots=True)
class Explanation:
    """An EXPLAIN's answer: prints as text, and shows itself in a notebook.

    `rows` has one column, `plan`; of "route" it has a row per shard: shard, source, sql.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def text(self) -> str:
        """All rows as text."""
        if len(self.columns) == 1:
            return "\n".join(str(row[0]) for row in self.rows)
        return "\n".join("  ".join(str(value) for value in row) for row in self.rows)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        if len(self.columns) == 1:
            return html.preformatted(self.text)
        return html.grid(self.columns, self.rows)
