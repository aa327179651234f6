"""Small trees of what only SQLite has."""

from __future__ import annotations

from sqlglot import exp

from shardwise.planner.agreement.make import call, collated, string


def binary(value: exp.Expr) -> exp.Expr:
    """Text that is compared by its bytes, whatever its column was declared to be."""
    return collated(value, "BINARY")


def is_storage(value: exp.Expr, storage: str) -> exp.Expr:
    """Whether SQLite holds it as 'integer', 'real', 'text', 'blob' or 'null'."""
    return exp.EQ(this=call("typeof", value), expression=string(storage))
