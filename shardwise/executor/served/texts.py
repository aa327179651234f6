"""A statement's text with other rows for its tables.

    SELECT t.a FROM t          =>  WITH `t` AS (SELECT …) SELECT t.a FROM t
    SELECT s.t.a FROM s.t      =>  WITH `shardwise_1` AS (SELECT …) SELECT `t`.a FROM `shardwise_1` AS `t`

All else is as it was written, so that the server names columns as it would, and finds the same mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlglot import exp

from shardwise.errors import Position
from shardwise.plan.sql.in_sight import items_in_sight


class Edit(NamedTuple):
    """From `start` up to `end` (exclusive) of the old text there is `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class Text:
    """A text that was edited."""

    sql: str
    edits: tuple[Edit, ...]
    original: str

    def position(self, at: int) -> Position | None:
        """Where in the original an offset of `sql` is; None: in what was put there."""
        moved = 0
        for edit in self.edits:
            start = edit.start + moved
            if at < start:
                break
            if at < start + len(edit.new):
                return None
            moved += len(edit.new) - (edit.end - edit.start)
        return position_of(self.original, at - moved, 1)

    def as_written(self, name: str) -> str:
        """A column's name, which is a piece of `sql`, as it would be of the original."""
        for edit in self.edits:
            name = name.replace(edit.new, self.original[edit.start : edit.end]) if edit.new else name
        return name

    def find(self, text: str) -> Position | None:
        """Where the original has a text, if it is there once."""
        at = self.original.find(text) if text else -1
        if at < 0 or self.original.find(text, at + 1) >= 0:
            return None
        return position_of(self.original, at, len(text))


def position_of(sql: str, at: int, length: int) -> Position | None:
    if not 0 <= at < len(sql):
        return None
    before = sql[:at]
    return Position(before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1, max(1, length))


Item = Callable[[exp.Table, bool], str | None]
"""The name of the WITH item that stands for a table; None: it stays as it is. The flag says whether it may be
the table's own."""


def replaced(
    sql: str, tree: exp.Expr, item: Item, identifier: Callable[[str], str], *, is_named: bool = True
) -> Text:
    """The text with other names for its tables, where they are other names; `is_named`: they need not be."""
    edits: list[Edit] = []
    is_named = is_named and tree.args.get("with_") is None
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or (
            not table.db and table.name.lower() in items_in_sight(table)
        ):
            continue
        name = item(table, is_named and not table.db)
        span = _span(table.args.get("db") or table.this, table.this)
        if span is None or name is None or (is_named and not table.db):
            continue
        alias = "" if table.args.get("alias") is not None else f" AS {identifier(table.name)}"
        edits.append(Edit(*span, identifier(name) + alias))
    for column in tree.find_all(exp.Column):
        schema, of = column.args.get("db"), column.args.get("table")
        span = _span(schema, of) if schema is not None and of is not None else None
        if of is not None and span is not None:
            edits.append(Edit(*span, identifier(of.name)))
    edits.sort()
    return Text("".join(_edited(sql, edits)), tuple(edits), sql)


_WITH = re.compile(r"\s*WITH\b(\s+RECURSIVE\b)?", re.IGNORECASE)


def with_items(text: Text, items: Mapping[str, str], identifier: Callable[[str], str]) -> Text:
    """The text after WITH items, or among its own; `items` are queries by name, each after those it reads."""
    if not items:
        return text
    listed = ", ".join(f"{identifier(name)} AS ({query})" for name, query in items.items())
    found = _WITH.match(text.sql)
    if found is None:
        return replace(
            text, sql=f"WITH {listed} {text.sql}", edits=(Edit(0, 0, f"WITH {listed} "), *text.edits)
        )
    at = found.end()
    new = f" {listed},"
    return replace(text, sql=text.sql[:at] + new + text.sql[at:], edits=(Edit(at, at, new), *text.edits))


def _edited(sql: str, edits: list[Edit]) -> Iterator[str]:
    at = 0
    for edit in edits:
        yield sql[at : edit.start]
        yield edit.new
        at = edit.end
    yield sql[at:]


def _span(first: exp.Expr, last: exp.Expr) -> tuple[int, int] | None:
    start, end = first.meta.get("start"), last.meta.get("end")
    return None if start is None or end is None else (start, end + 1)
