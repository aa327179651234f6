"""What the dialects' models ask of a query block: of its FROM, joins and groups, and which names it gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from shardwise.catalog.model import Catalog, Table, View


def sources(select: exp.Select) -> list[exp.Expr]:
    """The items of FROM."""
    clause = select.args.get("from_")
    if clause is None:
        return []
    joins = [*(clause.this.args.get("joins") or ()), *(select.args.get("joins") or ())]
    return [clause.this, *(join.this for join in joins)]


class Joins:
    """The joins of a block, commas too."""

    def __init__(self, select: exp.Select) -> None:
        self.all: list[exp.Join] = list(select.args.get("joins") or ())

    @property
    def commas(self) -> list[exp.Join]:
        words = ("kind", "side", "method", "on", "using")
        return [j for j in self.all if not any(j.args.get(word) for word in words)]

    @property
    def has_outer(self) -> bool:
        """Whether the rows of one may be kept that is not the first item: RIGHT or FULL."""
        return any(str(j.args.get("side") or "").upper() in ("RIGHT", "FULL") for j in self.all)

    @property
    def has_natural(self) -> bool:
        return any(j.args.get("method") for j in self.all)

    @property
    def has_using(self) -> bool:
        return any(j.args.get("using") for j in self.all)


def is_star(item: exp.Expr) -> bool:
    """`*` or `t.*`."""
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def has_star(select: exp.Select) -> bool:
    """Whether there is a star in what is selected, be it in `count(*)`."""
    return any(isinstance(part, exp.Star) for item in select.expressions for part in item.walk())


def groups_by_constant(select: exp.Select) -> bool:
    """Whether a key of GROUP BY has no column in it."""
    return any(is_constant for _, is_constant in group_keys(select))


def group_keys(select: exp.Select) -> Iterator[tuple[exp.Expr, bool]]:
    """The keys of GROUP BY, each with whether no column is in it, or in the item whose position it is."""
    group = select.args.get("group")
    for key in group.expressions if group is not None else ():
        place = int(key.name) if isinstance(key, exp.Literal) and key.name.isdigit() else None
        grouped = select.expressions[place - 1 : place] if place else [key]
        yield key, any(each.find(exp.Column) is None for each in grouped)


def is_itself(item: exp.Alias) -> bool:
    """A column under its own name, as each is that was selected by it."""
    return isinstance(item.this, exp.Column) and item.this.name.lower() == item.alias.lower()


def gives_name_twice(select: exp.Select) -> bool:
    """Whether two columns of its result have one name."""
    shown = Counter(item.alias_or_name.lower() for item in select.expressions if item.alias_or_name)
    return any(count > 1 for count in shown.values())


def orders_by_expression(operation: exp.SetOperation, first: exp.Expr) -> bool:
    """Whether ORDER BY has more than names of the first arm, and positions."""
    order = operation.args.get("order")
    names = {item.alias_or_name.lower() for item in first.expressions if item.alias_or_name}
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        is_name = isinstance(key, exp.Column) and not key.table and key.name.lower() in names
        if not is_name and not (isinstance(key, exp.Literal) and not key.is_string):
            return True
    return False


@dataclass(frozen=True)
class Names:
    """The names of columns in FROM, as far as they are plain to see.

    `relation_of` finds a name in the catalog, `with_item` what an item of FROM is in WITH; `wraps` are what a
    query may be in, beside which its first SELECT is looked for.
    """

    catalog: Catalog
    relation_of: Callable[[exp.Table, Catalog], Table | View | None]
    with_item: Callable[[exp.Table], exp.Expr | None]
    wraps: tuple[type[exp.Expr], ...]

    def first_select(self, query: exp.Expr) -> exp.Expr:
        """The arm that gives a set operation's names."""
        while isinstance(query, self.wraps):
            query = query.this
        return query

    def of(self, item: exp.Expr) -> set[str] | None:
        """The names that an item of FROM gives; None where that is not plain."""
        if isinstance(item, exp.Subquery):
            return self._selected(self.first_select(item.this))
        if not isinstance(item, exp.Table):
            return None
        cte = self.with_item(item)
        if cte is not None:
            alias = cte.args.get("alias")
            given = {c.name.lower() for c in alias.args.get("columns") or ()} if alias is not None else set()
            return given or self._selected(cte.this)
        found = self.relation_of(item, self.catalog)
        if isinstance(found, Table) and found.columns is not None:
            return {column.name.lower() for column in found.columns}
        return None

    def _selected(self, select: exp.Expr) -> set[str] | None:
        if not isinstance(select, exp.Select):
            return None
        names: set[str] = set()
        for item in select.expressions:
            if is_star(item):
                for source in sources(select):
                    inner = self.of(source)
                    if inner is None:
                        return None
                    names |= inner
            elif item.alias_or_name:
                names.add(item.alias_or_name.lower())
        return names


def arms(operation: exp.Expr) -> Iterator[exp.Expr]:
    """The queries that a set operation puts together."""
    if isinstance(operation, exp.SetOperation):
        yield from arms(operation.this)
        yield from arms(operation.expression)
    elif isinstance(operation, exp.Subquery):
        yield from arms(operation.this)
    else:
        yield operation
