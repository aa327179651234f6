"""Where the user wrote what a part of the syntax tree stands for."""

from __future__ import annotations

from sqlglot import exp

from shardwise.errors import Position


def position_of(node: exp.Expr) -> Position | None:
    """Where the user wrote this name (sqlglot keeps positions on identifiers only)."""
    for identifier in node.find_all(exp.Identifier):
        meta = identifier.meta
        if "line" in meta:
            length = meta["end"] - meta["start"] + 1
            return Position(meta["line"], meta["col"] - length + 1, length)
    return None
