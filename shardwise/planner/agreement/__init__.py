"""What a source of another product may compute for the query's dialect, and how it is written there.

The promise is the answer of one database of the *query's* dialect. A source that speaks another one compares,
rounds, sorts and overflows otherwise, so nothing is left to it unless it is known to agree:

- A Scan of plain columns may always run: a value is converted, or refused, where it arrives.
- Anything else may run there only if every expression of it is in the table for the two dialects. What the
  table can write is what agrees: the same code answers both, so that they cannot differ.
- Else the node is Merged. Rows are moved, and the answer is right.

`distribution` alone asks, and `render` has the fragment written. Each pair of dialects has its own package:
`sqlite` is the duckdb dialect on SQLite.
"""

from __future__ import annotations

from shardwise.plan.nodes import Gather, Keep, Node, Scan
from shardwise.planner.agreement.known import BOUND, ENCODED, KEYS, Agreed, Disagreement, Known
from shardwise.planner.agreement.sqlite.tree import SQLiteTree

__all__ = ["BOUND", "ENCODED", "KEYS", "Agreed", "Disagreement", "Known", "agree", "product"]

SERVERS = frozenset(("mysql", "postgres"))
_PRODUCTS = {"sqlite": "SQLite", "mysql": "MySQL", "postgres": "PostgreSQL", "duckdb": "DuckDB"}


def agree(node: Node, dialect: str, known: Known) -> Agreed | Disagreement:
    """The tree as a source of `dialect` is to compute it, or the first thing it would not compute alike."""
    if dialect == "sqlite":
        return SQLiteTree(known).agree(node)
    if dialect in SERVERS and _is_plain(node):
        return Agreed(node, (False,) * len(node.outputs))
    return Disagreement(node, f"nothing is known of what {product(dialect)} computes alike")


def _is_plain(node: Node) -> bool:
    """Whether it is columns of a table as they are."""
    while isinstance(node, Keep | Gather):
        node = node.input
    return isinstance(node, Scan)


def product(dialect: str) -> str:
    """The name of the product that speaks a dialect."""
    return _PRODUCTS.get(dialect, dialect)
