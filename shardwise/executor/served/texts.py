"""A statement's text with other items of FROM in the place of its tables.

    replaced("SELECT s.t.a FROM s.t", tree, …)  =>  SELECT `t`.a FROM (SELECT …) AS `t`

All else is as it was written, so that the server names columns as it would, and finds the same mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from shardwise.errors import Position


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


def replaced(
    sql: str, tree: exp.Expr, item: Callable[[exp.Table], str | None], identifier: Callable[[str], str]
) -> Text:
    """`item` gives what stands for a table that is no WITH item in sight, None: it stays."""
    edits: list[Edit] = []
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or (not table.db and _is_hidden(table)):
            continue
        span, new = _span(table.args.get("db") or table.this, table.this), item(table)
        if span is None or new is None:
            continue
        alias = "" if table.args.get("alias") is not None else f" AS {identifier(table.name)}"
        edits.append(Edit(*span, new + alias))
    for column in tree.find_all(exp.Column):
        schema, of = column.args.get("db"), column.args.get("table")
        span = _span(schema, of) if schema is not None and of is not None else None
        if of is not None and span is not None:
            edits.append(Edit(*span, identifier(of.name)))
    edits.sort()
    return Text("".join(_edited(sql, edits)), tuple(edits), sql)


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


def _with_items(node: exp.Expr) -> set[str]:
    found = node.args.get("with_")
    return {cte.alias.lower() for cte in found.expressions} if found is not None else set()


def _is_hidden(table: exp.Table) -> bool:
    """Whether a WITH item has the name (one sees those before it, and itself only in a recursive WITH)."""
    name = table.name.lower()
    child: exp.Expr = table
    node = table.parent
    while node is not None:
        if isinstance(node, exp.With):
            for cte in node.expressions:
                if cte is child and not node.args.get("recursive"):
                    break
                if cte.alias.lower() == name:
                    return True
                if cte is child:
                    break
        elif child is not node.args.get("with_") and name in _with_items(node):
            return True
        child, node = node, node.parent
    return False
