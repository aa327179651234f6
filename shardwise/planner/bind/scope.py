"""Names in scope: from what the user wrote to a column's identity.

DuckDB's rules: letter case never matters; an unqualified name must be in one relation of FROM only, columns
that USING joins count once, and come before others of their name; what the block's own FROM does not have is
looked for outside (a correlated subquery)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sqlglot import exp

from shardwise.catalog.types import Family, type_family
from shardwise.errors import ProgrammingError, Reason, UnknownName
from shardwise.plan.nodes import Node, OneRow
from shardwise.plan.tree import column_id, operand
from shardwise.planner.aggregates import is_aggregate
from shardwise.planner.bind.unmodelled import Unmodelled
from shardwise.planner.positions import position_of

_WITH_FIELDS: Final = frozenset((Family.NESTED, Family.JSON, Family.OTHER))


class Named(NamedTuple):
    """A column under the name the user knows it by, and how it is read. `is_joined`: USING made it."""

    name: str
    expr: exp.Expr
    is_joined: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """One thing in FROM, under its alias."""

    alias: str
    columns: tuple[Named, ...]
    hidden: tuple[Named, ...] = ()
    schema: str | None = None

    def column(self, name: str) -> exp.Expr | None:
        lowered = name.lower()
        return next((c.expr for c in (*self.columns, *self.hidden) if c.name.lower() == lowered), None)


@dataclass(frozen=True, slots=True)
class FromItem:
    """A FROM clause, or a part of one: the node, and the names it gives.

    `star` is what `*` means and what unqualified names are looked for in; it differs from the
    relations' columns where USING made two into one, or a semi join hid its right side.
    """

    node: Node
    relations: tuple[Relation, ...]
    star: tuple[Named, ...]


NO_FROM = FromItem(OneRow(), (), ())


@dataclass(slots=True)
class Scope:
    """Where names of one query block are looked up. `has_fields`: `b.x` may be a field of the column `b`."""

    item: FromItem
    outer: Scope | None = None
    has_fields: bool = True
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    _named: dict[str, list[Named]] = field(default_factory=dict)
    """The item's columns by their names in lower case; made when the first is looked up."""

    def resolve(self, column: exp.Column) -> exp.Expr:
        """The bound form of a column the user wrote: a column, or a field of a struct column."""
        parts = [part.name for part in column.parts]
        scope: Scope | None = self
        while scope is not None:
            found = scope._local(parts, column)
            if found is None and scope is not self:
                found = scope._alias_from_outside(column)
            if found is not None:
                return found
            scope = scope.outer
        if len(parts) == 1 and self._is_relation_outside(parts[0]):
            raise Unmodelled("a whole row as a value")
        raise self._unknown(column, parts)

    def alias(self, column: exp.Column) -> exp.Expr | None:
        """The select item that an unqualified name is the alias of."""
        return self.aliases.get(column.name.lower()) if len(column.parts) == 1 else None

    def _alias_from_outside(self, column: exp.Column) -> exp.Expr | None:
        alias = self.alias(column)
        if alias is None:
            return None
        if any(is_aggregate(part) or isinstance(part, exp.Window) for part in alias.walk()):
            raise Unmodelled("a subquery that reads an outer query's aggregate by its alias")
        return operand(alias)

    def has(self, column: exp.Column) -> bool:
        """Whether the name is in this block's own FROM."""
        return self.here(column) is not None

    def here(self, column: exp.Column) -> exp.Expr | None:
        """The bound form of a column of this block's own FROM; None if it has no such column."""
        return self._local([part.name for part in column.parts], column)

    def has_column(self, column: exp.Column) -> bool:
        """Whether it is in this block's FROM, or its table in an outer one's.

        A name alone is not looked for outside: `rowid` every table has.
        """
        if self.has(column) or len(column.parts) == 1 or self.is_relation(column.parts[-2].name):
            return self.has(column)
        return self.outer is not None and self.outer.has_column(column)

    def is_relation(self, name: str) -> bool:
        return any(r.alias.lower() == name.lower() for r in self.item.relations)

    def _is_relation_outside(self, name: str) -> bool:
        scope = self.outer
        while scope is not None:
            if scope.is_relation(name):
                return True
            scope = scope.outer
        return False

    def _local(self, parts: list[str], column: exp.Column) -> exp.Expr | None:
        if len(parts) == 1:
            return self._unqualified(parts[0], column)
        path = [part.lower() for part in parts[:2]]
        for relation in self.item.relations:
            alias = relation.alias.lower()
            if len(parts) > 2 and path[1] == alias and path[0] == (relation.schema or "main").lower():
                found = relation.column(parts[2])
                if found is not None:
                    return self._field(found, parts[3:])
            if path[0] == alias:
                found = relation.column(parts[1])
                if found is not None:
                    return self._field(found, parts[2:])
        if not self.has_fields:
            return None
        found = self._unqualified(parts[0], column)
        type_ = self._type_of(found)
        if found is None or (type_ is not None and not _may_have_fields(type_)):
            return None  # `b.x` is not a field of the column `b`, but a column of a table `b` outside
        if type_ is None and self.outer is not None and self.outer.has_column(column):
            raise Unmodelled(f"{'.'.join(parts)}, a field of a column here or a column of a table outside")
        return _field(found, parts[1:])

    def _field(self, expr: exp.Expr, fields: list[str]) -> exp.Expr | None:
        return _field(expr, fields) if self.has_fields or not fields else None

    def _type_of(self, expr: exp.Expr | None) -> str | None:
        id = column_id(expr) if expr is not None else None
        return next((o.type for o in self.item.node.outputs if o.id == id), None)

    def _unqualified(self, name: str, column: exp.Column) -> exp.Expr | None:
        lowered = name.lower()
        named = self._by_name().get(lowered, ())
        found = [c.expr for c in named if c.is_joined] or [c.expr for c in named]
        if len(found) > 1:
            where = [r.alias for r in self.item.relations if r.column(name) is not None]
            raise UnknownName(
                f'column "{name}" is ambiguous: it is in {_listed(where)}',
                reason=Reason.AMBIGUOUS_COLUMN,
                hint=f"Write one of {', '.join(f'{w}.{name}' for w in where)}",
                position=position_of(column),
                sqlstate="42702",
            )
        if found:
            return found[0]
        hidden = [
            r.column(name) for r in self.item.relations if any(h.name.lower() == lowered for h in r.hidden)
        ]
        return hidden[0] if len(hidden) == 1 else None

    def _by_name(self) -> dict[str, list[Named]]:
        if not self._named:
            for column in self.item.star:
                self._named.setdefault(column.name.lower(), []).append(column)
        return self._named

    def _unknown(self, column: exp.Column, parts: list[str]) -> ProgrammingError:
        name = ".".join(parts)
        known = [c.name for c in self.item.star]
        known += [f"{r.alias}.{c.name}" for r in self.item.relations for c in r.columns]
        hint = did_you_mean(name, known)
        if len(parts) > 1 and not self.is_relation(parts[-2]):
            hint = did_you_mean(parts[-2], [r.alias for r in self.item.relations]) or hint
        return UnknownName(f'there is no column "{name}" here', hint=hint, position=position_of(column))


def _may_have_fields(type_: str) -> bool:
    """A list has none."""
    return type_family(type_, "duckdb") in _WITH_FIELDS and not type_.endswith("]")


def _field(expr: exp.Expr, fields: list[str]) -> exp.Expr:
    """`c.f.g` of a column: a STRUCT's field, a MAP's value, a UNION's member, a path in JSON."""
    for name in fields:
        expr = exp.Dot(this=expr.copy(), expression=exp.to_identifier(name, quoted=True))
    return expr


def join_items(
    kind: str, left: FromItem, right: FromItem, node: Node, using: Mapping[str, exp.Expr]
) -> FromItem:
    """The names after a join; `using` maps each joined name (lower case) to what it reads."""
    if kind in ("semi", "anti"):
        return FromItem(node, left.relations, left.star)
    star = [
        Named(c.name, using[c.name.lower()], is_joined=True) if c.name.lower() in using else c
        for c in left.star
    ]
    star += [c for c in right.star if c.name.lower() not in using]
    return FromItem(node, left.relations + right.relations, tuple(star))


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of a derived table's columns as DuckDB makes them unique: id, id_1, id_2.

    >>> unique_names(["id", "id", "ID", "id_1"])
    ('id', 'id_1', 'ID_2', 'id_1_1')
    """
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        wanted = name
        while wanted.lower() in seen:
            seen[name.lower()] = seen.get(name.lower(), 0) + 1
            wanted = f"{name}_{seen[name.lower()]}"
        seen.setdefault(wanted.lower(), 0)
        unique.append(wanted)
    return tuple(unique)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(name.lower(), {k.lower(): k for k in known}, n=3, cutoff=0.6)
    return f"Did you mean {_listed(close, 'or')}?" if close else None


def _listed(names: list[str], word: str = "and") -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"
