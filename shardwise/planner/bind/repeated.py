"""One subquery that is written twice in a block, which is bound as two.

    SELECT (SELECT min(k) FROM r WHERE c = q.i), count(*) FROM q GROUP BY (SELECT min(k) FROM r WHERE c = q.i)

The plans differ in the names of their relations alone. For one database it is one expression, as `q.i + 1`
is: what is selected is the key, which is NULL where a grouping set leaves it out. Two are one if they are
written alike, and mean the same: in another place a name of the text may be another column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Cte, CteRef, Item, Node, Output, Recursive, fields_of
from shardwise.plan.tree import bare, column_id, columns_in, names_read, plans_in, same


class Written:
    """Subqueries as they are written, by their plans."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[Node, exp.Expr]] = {}

    def note(self, plan: Node, text: exp.Expr) -> None:
        self._texts[id(plan)] = (plan, text)  # the plan is kept, so that its id is nobody else's

    def is_again(self, one: exp.Expr, other: exp.Expr) -> bool:
        """Whether `other` is `one`, written a second time."""
        return means_the_same(one, other) and self.are_written_alike(one, other)

    def are_written_alike(self, one: exp.Expr, other: exp.Expr) -> bool:
        """Whether the subqueries of two expressions are, but for letter case and parentheses around them."""
        pairs = zip(plans_in(one), plans_in(other), strict=True)
        return all(
            plan is again or self._text(plan) == self._text(again) is not None for plan, again in pairs
        )

    def _text(self, plan: Node) -> str | None:
        if id(plan) not in self._texts:
            return None
        text = bare(self._texts[id(plan)][1])
        while isinstance(text, exp.Subquery) and text.is_wrapper:
            text = bare(text.this)
        return text.transform(_folded).sql("duckdb")


def _folded(part: exp.Expr) -> exp.Expr:
    """Where it matters, `unmodelled` has kept names apart that differ in letter case alone."""
    return exp.to_identifier(part.name.lower()) if isinstance(part, exp.Identifier) else part


def means_the_same(one: exp.Expr, other: exp.Expr) -> bool:
    """Whether two expressions differ in nothing but the names of what their subqueries make."""
    if same(one, other):
        return True
    if one.find(exp.Subquery) is None or columns_in(one) != columns_in(other):
        return False
    names = _Names()
    return names.are_alike(one, other) and names.keep(
        {("column", id) for id in columns_in(one)}
        | {("name", name) for e in (one, other) for plan in plans_in(e) for name in names_read(plan)}
    )


class _Names:
    """Compares two plans, and pairs the names that each has made for itself."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, object], object] = {}
        self._back: dict[tuple[str, object], object] = {}

    def keep(self, outside: Set[tuple[str, object]]) -> bool:
        """Whether these names, which are made outside, stand for themselves."""
        return all(self._are_paired(kind, name, name) for kind, name in outside)

    def are_alike(self, one: object, other: object) -> bool:
        if type(one) is not type(other):
            return False
        if isinstance(one, Node) and isinstance(other, Node):
            return self._nodes(one, other)
        if isinstance(one, exp.Expr) and isinstance(other, exp.Expr):
            return self._expressions(one, other)
        if isinstance(one, Output) and isinstance(other, Output):
            return self.are_alike(one.id, other.id) and one == other.named(one.id)
        if isinstance(one, ColumnId) and isinstance(other, ColumnId):
            return self._are_paired("column", one, other)
        if isinstance(one, Item) and isinstance(
            other, Item
        ):  # their names are paired with the node's outputs
            return self.are_alike(one.expr, other.expr)
        if isinstance(one, tuple | list) and isinstance(other, tuple | list):
            return len(one) == len(other) and all(map(self.are_alike, one, other))
        return one == other

    def _nodes(self, one: Node, other: Node) -> bool:
        made, also = ([output.id for output in node.outputs] for node in (one, other))
        return all(
            self._have_alike(one, other, name) for name in fields_of(type(one)).all
        ) and self.are_alike(made, also)

    def _have_alike(self, one: Node, other: Node, name: str) -> bool:
        mine, theirs = getattr(one, name), getattr(other, name)
        if name == "rel":
            return self._are_paired("rel", mine, theirs)
        if name == "name" and isinstance(one, Cte | CteRef | Recursive):
            return self._are_paired("name", mine, theirs)
        return self.are_alike(mine, theirs)

    def _expressions(self, one: exp.Expr, other: exp.Expr) -> bool:
        if type(one) is exp.Column:
            return self._are_paired("column", column_id(one), column_id(other))
        if one.find(exp.Column, exp.Subquery) is None:
            return same(one, other)
        mine, theirs = _given(one.args), _given(other.args)
        return mine.keys() == theirs.keys() and all(self.are_alike(mine[key], theirs[key]) for key in mine)

    def _are_paired(self, kind: str, one: object, other: object) -> bool:
        there = self._pairs.setdefault((kind, one), other)
        back = self._back.setdefault((kind, other), one)
        return there == other and back == one


def _given(args: Mapping[str, object]) -> dict[str, object]:
    return {
        key: value for key, value in args.items() if value is not None and value is not False and value != []
    }


def written_again(sql: exp.Expr) -> Mapping[int, exp.Table]:
    """Of a statement that is kept whole: by its identity, each reference in a subquery that repeats a key of
    GROUP BY or DISTINCT word for word, and the one in the key.

    An engine finds the key again only if both read the very same tables.
    """
    found: dict[int, exp.Table] = {}

    def first(table: exp.Table) -> exp.Table:
        """Of the key of a block within a subquery that is written again, too: the one that is repeated."""
        return first(found[id(table)]) if id(table) in found else table

    for clause in (*sql.find_all(exp.Group), *sql.find_all(exp.Distinct)):
        block = clause.parent
        shown = (
            block.expressions if isinstance(clause, exp.Distinct) and isinstance(block, exp.Select) else []
        )
        for parts in ([clause], shown):
            for mine, key in _pairs(parts, block):
                if id(mine) not in found and first(key) is not mine:  # it may be a key of both
                    found[id(mine)] = key
    return {mine: first(key) for mine, key in found.items()}


def _pairs(parts: Sequence[exp.Expr], block: exp.Expr | None) -> Iterator[tuple[exp.Table, exp.Table]]:
    keys = [query for part in parts for query in part.find_all(exp.Query)]
    own = set(map(id, keys))
    for query in block.find_all(exp.Query) if block is not None and keys else ():
        key = next((key for key in keys if key == query), None)
        if key is not None and id(query) not in own:
            yield from zip(query.find_all(exp.Table), key.find_all(exp.Table), strict=True)
