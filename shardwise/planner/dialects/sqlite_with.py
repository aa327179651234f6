"""WITH as SQLite reads it, written so that any reader of SQL reads it alike.

To SQLite all items of a WITH are in sight of each other, later ones too, and the word RECURSIVE says nothing:

    WITH a AS (SELECT n FROM b), b AS (SELECT 1 AS n) …    =>  WITH b AS (…), a AS (…) …
    WITH c(n) AS (SELECT 1 UNION SELECT n + 1 FROM c …) …  =>  WITH RECURSIVE c(n) AS (…) …
"""

from __future__ import annotations

from sqlglot import exp


def put_in_order(tree: exp.Expr) -> None:
    """In each WITH of the tree an item stands after those that it reads; items in a circle, an error to
    SQLite, stay where they are."""
    read = {id(cte): set[int]() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        item = with_item(table)
        if item is None:
            continue
        for reader in _around(table):
            if reader.parent is item.parent:
                read[id(reader)].add(id(item))
    for clause in tree.find_all(exp.With):
        items = clause.expressions
        if any(id(item) in read[id(item)] for item in items):
            clause.set("recursive", True)
        sorted_ = _sorted(items, read)
        if sorted_ != items:
            clause.set("expressions", sorted_)


def with_item(table: exp.Table) -> exp.CTE | None:
    """The WITH item that a name in FROM means: the innermost of that name, wherever it stands in its WITH."""
    if table.db or not isinstance(table.this, exp.Identifier):
        return None
    node: exp.Expr | None = table
    while node is not None:
        clause = node if isinstance(node, exp.With) else node.args.get("with_")
        for item in clause.expressions if clause is not None else ():
            if isinstance(item, exp.CTE) and item.alias.lower() == table.name.lower():
                return item
        node = node.parent
    return None


def _around(table: exp.Table) -> list[exp.CTE]:
    """The WITH items in whose text a name stands."""
    found = []
    node: exp.Expr | None = table.parent
    while node is not None:
        if isinstance(node, exp.CTE):
            found.append(node)
        node = node.parent
    return found


def _sorted(items: list[exp.CTE], read: dict[int, set[int]]) -> list[exp.CTE]:
    done: list[exp.CTE] = []
    waiting = list(items)
    while waiting:
        missing = {id(item) for item in waiting}
        ready = next((i for i in waiting if not (read[id(i)] - {id(i)}) & missing), waiting[0])
        waiting = [item for item in waiting if item is not ready]
        done.append(ready)
    return done
