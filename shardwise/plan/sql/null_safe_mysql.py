"""`a <=> b` where the columns are joined by `=` as well: not as a condition that an index serves.

    ON p.c = q.c AND p.c <=> q.c    =>    ON p.c = q.c AND (p.c <=> q.c) IS TRUE

MariaDB 10.11 finds the first true of NULLs if it looks q.c up: in an index, or in one that it makes of a
derived table, as all tables are in the merge.
"""

from __future__ import annotations

from sqlglot import exp


def with_null_safe(tree: exp.Expr) -> exp.Expr:
    """The tree, or a copy of it in which such comparisons are values."""
    if not any(map(_is_in_danger, tree.find_all(exp.NullSafeEQ))):
        return tree
    tree = tree.copy()
    for node in [n for n in tree.find_all(exp.NullSafeEQ) if _is_in_danger(n)]:
        inner = exp.NullSafeEQ(this=node.this.copy(), expression=node.args["expression"].copy())
        node.replace(exp.Is(this=exp.Paren(this=inner), expression=exp.true()))
    return tree


def _is_in_danger(node: exp.Expr) -> bool:
    """Whether it is a condition, and the statement equates a column of these names with another as well."""
    clause = node.find_ancestor(exp.Where, exp.Join, exp.Select)
    sides = (node.this, node.args["expression"])
    if not isinstance(clause, exp.Where | exp.Join) or any(side.find(exp.Column) is None for side in sides):
        return False
    names = _names(*sides)
    others = node.root().find_all(exp.EQ, exp.In, exp.Any, exp.Join)
    return any(not names.isdisjoint(_equated(other)) for other in others)


def _equated(node: exp.Expr) -> set[str]:
    """The columns that are equated with others: by `=`, USING, or by IN and ANY with what a query gives."""
    if isinstance(node, exp.Join):
        using = {column.name.lower() for column in node.args.get("using") or ()}
        return _names(node.root()) if node.args.get("method") else using
    if isinstance(node, exp.EQ):
        sides = (node.this, node.args["expression"])
        return _names(*sides) if all(side.find(exp.Column) is not None for side in sides) else set()
    return _names(node) if node.find(exp.Query) is not None else set()


def _names(*expressions: exp.Expr) -> set[str]:
    return {column.name.lower() for e in expressions for column in e.find_all(exp.Column)}
