"""What a source of another product may compute for the query's dialect, and how it is written there.

The promise is the answer of one database of the *query's* dialect. A source that speaks another one compares,
rounds, sorts and overflows otherwise, so nothing is left to it unless it is known to agree:

- A Scan of plain columns may always run: a value is converted, or refused, where it arrives.
- Anything else may run there only if every expression of it is in the table for the two dialects. What the
  table can write is what agrees: the same code answers both, so that they cannot differ.
- Else the node is Merged. Rows are moved, and the answer is right.

`distribution` alone asks, and `render` has the fragment written. Each pair of dialects has its own package:
`sqlite` is the duckdb dialect on SQLite, `mysql` and `postgres` are it on servers. What they share is here:
`tree` writes nodes, `writer` expressions; `servers` has what the two servers share.
"""

from __future__ import annotations

from shardwise.plan.nodes import Node
from shardwise.planner.agreement.known import ASCII, BOUND, ENCODED, SENT, Agreed, Disagreement, Known
from shardwise.planner.agreement.mysql import MySQLTree
from shardwise.planner.agreement.postgres import PostgresTree
from shardwise.planner.agreement.sqlite.tree import SQLiteTree
from shardwise.planner.agreement.tree import Tree

__all__ = ["ASCII", "BOUND", "ENCODED", "SENT", "Agreed", "Disagreement", "Known", "agree", "product"]

_TREES: dict[str, type[Tree]] = {"sqlite": SQLiteTree, "mysql": MySQLTree, "postgres": PostgresTree}
_PRODUCTS = {"sqlite": "SQLite", "mysql": "MySQL", "postgres": "PostgreSQL", "duckdb": "DuckDB"}


def agree(node: Node, dialect: str, known: Known) -> Agreed | Disagreement:
    """The tree as a source of `dialect` is to compute it, or the first thing it would not compute alike."""
    tree = _TREES.get(dialect)
    if tree is None:
        return Disagreement(node, f"nothing is known of what {product(dialect)} computes alike")
    return tree(known).agree(node)


def product(dialect: str) -> str:
    """The name of the product that speaks a dialect."""
    return _PRODUCTS.get(dialect, dialect)
