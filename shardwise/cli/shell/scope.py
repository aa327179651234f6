"""What a query's text says of the names in it, as it is typed: tables, aliases, CTEs and their columns.

    SELECT o.| FROM orders AS o JOIN (SELECT id, 1 AS one FROM customers) c     =>   o: orders; c: id, one

A text that is being typed is no statement yet, so this reads tokens, not a tree: what it does not understand
it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shardwise.cli.shell.lexing import Kind, Token, tokens
from shardwise.cli.shell.names import Names, Relation

Tokens = Sequence[Token]

_ENDS_FROM: Final = (
    *("where", "group", "having", "qualify", "window", "order", "limit", "offset", "select", "union"),
    *("intersect", "except", "set", "returning"),
)
_NO_ALIAS: Final = frozenset(
    {
        *_ENDS_FROM,
        *(
            "on",
            "using",
            "join",
            "inner",
            "left",
            "right",
            "full",
            "cross",
            "outer",
            "natural",
            "asof",
            "semi",
        ),
        *("anti", "positional", "lateral", "tablesample", "from", "pivot", "unpivot", "as", "and", "or"),
    }
)
_SET_OPERATORS: Final = ("union", "intersect", "except")
_DEPTH_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Item:
    """What stands in a FROM under one name. `relation` is the table, if it is one."""

    alias: str
    columns: tuple[str, ...]
    relation: Relation | None = None


@dataclass(slots=True)
class Scope:
    """What can be named at a place: the items of the query around it, the innermost first."""

    items: list[Item] = field(default_factory=list)
    ctes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, alias: str) -> Item | None:
        """The item of that name."""
        return next((i for i in self.items if i.alias.casefold() == alias.casefold()), None)


def significant(text: str, dialect: str) -> list[Token]:
    """All tokens but blanks and comments."""
    return [t for t in tokens(text, dialect) if t.kind not in (Kind.BLANK, Kind.COMMENT)]


def scope_at(found: Tokens, place: int, names: Names) -> Scope:
    """The scope at a place in the text of the tokens, the queries around it included."""
    reader = _Reader(names)
    scope = Scope()
    groups = list(_groups_at(found, place))
    for group in groups:  # the outermost first: a CTE may be used further in
        scope.ctes.update(reader.ctes(group, scope.ctes))
    for group in reversed(groups):
        scope.items += reader.items(_segment(group, place), scope.ctes)
    return scope


def columns_of(sql: str, names: Names) -> tuple[str, ...]:
    """The columns of a query's text."""
    return _Reader(names).outputs(significant(sql, names.dialect), {})


def _groups_at(found: Tokens, place: int) -> Iterator[Tokens]:
    """The tokens of the statement, then of each pair of parentheses around the place, without them."""
    yield found
    stack: list[int] = []
    for index, token in enumerate(found):
        if token.start >= place:
            break
        if token.text == "(":
            stack.append(index)
        elif token.text == ")" and stack:
            stack.pop()
    for start in stack:
        end = _closing(found, start)
        yield found[start + 1 : end]


def _closing(found: Tokens, start: int) -> int:
    """Where the parenthesis at `start` is closed; the end if it is not."""
    depth = 0
    for index in range(start, len(found)):
        if found[index].text == "(":
            depth += 1
        elif found[index].text == ")":
            depth -= 1
            if depth == 0:
                return index
    return len(found)


def _top(found: Tokens) -> Iterator[tuple[int, Token]]:
    """The tokens that stand in no parentheses, and the opening ones."""
    index = 0
    while index < len(found):
        yield index, found[index]
        index = _closing(found, index) + 1 if found[index].text == "(" else index + 1


def _segment(group: Tokens, place: int) -> Tokens:
    """The part between set operators that has the place in it."""
    start, end = 0, len(group)
    for index, token in _top(group):
        if token.is_word(*_SET_OPERATORS):
            if token.start < place:
                start = index + 1
            else:
                end = index
                break
    return group[start:end]


class _Reader:
    """Reads queries; how deep is limited, for the text may be anything."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._depth = 0

    def items(self, query: Tokens, ctes: Mapping[str, tuple[str, ...]]) -> list[Item]:
        """What stands in the FROM of a query without set operators."""
        found: list[Item] = []
        is_from = False
        for index, token in _top(query):
            if token.is_word("from", "join") or (is_from and token.text == ","):
                is_from = True
                item = self._item(query, index + 1, ctes)
                if item is not None:
                    found.append(item)
            elif token.is_word(*_ENDS_FROM):
                is_from = False
        return found

    def _item(self, query: Tokens, index: int, ctes: Mapping[str, tuple[str, ...]]) -> Item | None:
        if index < len(query) and query[index].is_word("lateral"):
            index += 1
        if index >= len(query):
            return None
        relation, name, columns = None, "", tuple[str, ...]()
        if query[index].text == "(":
            end = _closing(query, index)
            columns = self.outputs(query[index + 1 : end], ctes)
            index = end + 1
        else:
            parts, index = _name(query, index)
            if not parts:
                return None
            name = parts[-1]
            if index < len(query) and query[index].text == "(":
                index = _closing(query, index) + 1  # a table function
            else:
                columns, relation = self._columns(parts, ctes)
        alias, renamed = _alias(query, index)
        columns = (*renamed, *columns[len(renamed) :])
        return Item(alias or name, columns, relation) if alias or name else None

    def _columns(
        self, parts: Sequence[str], ctes: Mapping[str, tuple[str, ...]]
    ) -> tuple[tuple[str, ...], Relation | None]:
        if len(parts) == 1 and parts[0].casefold() in ctes:
            return ctes[parts[0].casefold()], None
        relation = self._names.relation(parts[-1], parts[-2] if len(parts) > 1 else "")
        if relation is None:
            return (), None
        if relation.sql and not relation.columns:
            return self.outputs(significant(relation.sql, self._names.dialect), {}), relation
        return relation.columns, relation

    def ctes(self, group: Tokens, outer: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """The CTEs that a query begins with, each knowing those before."""
        found: dict[str, tuple[str, ...]] = {}
        index = _skip(group, 0, "explain", "analyze")
        if index >= len(group) or not group[index].is_word("with"):
            return found
        index = _skip(group, index + 1, "recursive")
        while index < len(group) and group[index].kind in (Kind.WORD, Kind.QUOTED):
            name, index = group[index].name, index + 1
            renamed: tuple[str, ...] = ()
            if index < len(group) and group[index].text == "(":
                end = _closing(group, index)
                renamed = tuple(t.name for t in group[index + 1 : end] if t.kind in (Kind.WORD, Kind.QUOTED))
                index = end + 1
            index = _skip(group, index, "as", "not", "materialized")
            if index >= len(group) or group[index].text != "(":
                break
            end = _closing(group, index)
            found[name.casefold()] = renamed  # known to itself, if it is recursive
            columns = self.outputs(group[index + 1 : end], {**outer, **found})
            found[name.casefold()] = renamed or columns
            index = end + 1
            if index >= len(group) or group[index].text != ",":
                break
            index += 1
        return found

    def outputs(self, query: Tokens, outer: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The columns of a query, as far as its text tells."""
        if self._depth >= _DEPTH_MAX:
            return ()
        self._depth += 1
        try:
            return tuple(self._outputs(query, outer))
        finally:
            self._depth -= 1

    def _outputs(self, query: Tokens, outer: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
        ctes = {**outer, **self.ctes(query, outer)}
        ends = [index for index, token in _top(query) if token.is_word(*_SET_OPERATORS)]
        query = query[: ends[0]] if ends else query
        starts = [index for index, token in _top(query) if token.is_word("select")]
        items = self.items(query, ctes)
        if not starts:
            yield from (column for item in items for column in item.columns)
            return
        start = _skip(query, starts[0] + 1, "distinct", "all")
        for part in _parts(query[start:]):
            if part[-1].text == "*":
                of = part[0].name.casefold() if len(part) > 1 else None
                for item in items:
                    if of is None or item.alias.casefold() == of:
                        yield from item.columns
            elif part[-1].kind in (Kind.WORD, Kind.QUOTED):
                yield part[-1].name


def _parts(found: Tokens) -> Iterator[Tokens]:
    """The expressions of a select list, up to its FROM."""
    start = 0
    for index, token in _top(found):
        if token.text == "," or token.is_word("from", *_ENDS_FROM):
            if index > start:
                yield found[start:index]
            start = index + 1
            if token.text != ",":
                return
    if start < len(found):
        yield found[start:]


def _name(query: Tokens, index: int) -> tuple[list[str], int]:
    """A name with its dots at `index`, and where it ends."""
    parts: list[str] = []
    while index < len(query) and query[index].kind in (Kind.WORD, Kind.QUOTED):
        if query[index].kind is Kind.WORD and query[index].text.lower() in _NO_ALIAS and not parts:
            break
        parts.append(query[index].name)
        index += 1
        if index >= len(query) or query[index].text != ".":
            break
        index += 1
    return parts, index


def _alias(query: Tokens, index: int) -> tuple[str, tuple[str, ...]]:
    """The alias at `index`, if there is one, and the columns that it renames."""
    index = _skip(query, index, "as")
    if index >= len(query) or query[index].kind not in (Kind.WORD, Kind.QUOTED):
        return "", ()
    if query[index].kind is Kind.WORD and query[index].text.lower() in _NO_ALIAS:
        return "", ()
    alias, index = query[index].name, index + 1
    if index < len(query) and query[index].text == "(":
        end = _closing(query, index)
        return alias, tuple(t.name for t in query[index + 1 : end] if t.kind in (Kind.WORD, Kind.QUOTED))
    return alias, ()


def _skip(found: Tokens, index: int, *words: str) -> int:
    while index < len(found) and found[index].is_word(*words):
        index += 1
    return index
