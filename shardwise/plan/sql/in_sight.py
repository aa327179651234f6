"""Which WITH items a place in a statement sees, as DuckDB, MySQL and PostgreSQL have it."""

from __future__ import annotations

from sqlglot import exp


def items_in_sight(node: exp.Expr) -> dict[str, exp.Expr]:
    """The items, innermost first, by name in lower case.

    In a WITH an item sees those before it, and itself only if the WITH is recursive:

        WITH a AS (SELECT * FROM a), b AS (SELECT * FROM a) SELECT * FROM b     the first `a` is a table
    """
    found: dict[str, exp.Expr] = {}
    child, above = node, node.parent
    while above is not None:
        if isinstance(above, exp.With):
            for item in above.expressions:
                if item is child and not above.args.get("recursive"):
                    break
                found.setdefault(item.alias.lower(), item)
                if item is child:
                    break
        else:
            with_ = above.args.get("with_")
            for item in with_.expressions if with_ is not None and with_ is not child else ():
                found.setdefault(item.alias.lower(), item)
        child, above = above, above.parent
    return found
