"""A fragment's statements for sources of another dialect than the query's.

The tree is written by the agreement of the two dialects, once per dialect; then it is text like any other.
What is bound are the values that the agreement asks for: a DECIMAL's as a whole number, keys and rows as
JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from shardwise.catalog.model import SlotSet
from shardwise.errors import InternalError
from shardwise.plan.gaps import NO_GAPS, Gaps
from shardwise.plan.nodes import Node
from shardwise.plan.partitions import SYNTAXES, ShardTexts
from shardwise.plan.run import Text
from shardwise.plan.sent import RowsText
from shardwise.plan.sql import to_query
from shardwise.planner.agreement import ASCII, BOUND, ENCODED, SENT, Agreed, agree
from shardwise.planner.agreement.sent import SentRows
from shardwise.planner.dialects import query_dialect
from shardwise.planner.key_lists import Lists
from shardwise.planner.pass_context import PlanContext


@dataclass
class _Statement:
    """What one dialect's shards are sent: the text, the values that are not as they were given, the names of
    those that are."""

    texts: ShardTexts
    bound: dict[str, Any]
    given: frozenset[str]
    ascii: Mapping[str, str] = field(default_factory=dict)
    """Names that are bound to a given text if it is ASCII, and to NULL if not, by the names of these."""
    sent: Mapping[str, SentRows] = field(default_factory=dict)
    """Keys and rows, of which each shard may be sent its own."""
    _whole: dict[str, RowsText] = field(default_factory=dict)

    def params(self, given: Mapping[str, Any], lists: Lists) -> Mapping[str, Any]:
        """`lists` are those of `given` of which the shard has its own part."""
        own = {name: value for name, value in given.items() if name in self.given}
        plain = {name: _if_ascii(given.get(of)) for name, of in self.ascii.items()}
        sent = {name: self._text(name, rows, given, lists) for name, rows in self.sent.items()}
        return {**own, **plain, **self.bound, **sent}

    def _text(self, name: str, rows: SentRows, given: Mapping[str, Any], lists: Lists) -> RowsText:
        if rows.is_of(lists):
            return rows.text(lists)
        if name not in self._whole:  # all shards are sent the same
            self._whole[name] = rows.text(given)
        return self._whole[name]


@dataclass
class Foreign:
    """The statements of one fragment. `names` are its columns'; threads may share it.

    All shards of a dialect have the same text, whatever the parameters' values.
    """

    tree: Node
    ctx: PlanContext
    names: Sequence[str]
    slots: Mapping[str, SlotSet | None]
    _known: dict[str, _Statement] = field(default_factory=dict)

    def texts(self, own: Text) -> Text:
        """The text for each shard; `own` gives those of the query's dialect."""

        def text(shard: str, gaps: Gaps = NO_GAPS) -> str:
            statement = self._statement(shard)
            return own(shard, gaps) if statement is None else statement.texts.text(shard, gaps)

        return text

    def params(self, shard: str, given: Mapping[str, Any], lists: Lists) -> Mapping[str, Any]:
        """What is bound on a shard; `lists` are those of which it is sent a part, as that."""
        statement = self._statement(shard)
        own = {**given, **lists}
        return own if statement is None else statement.params(own, lists)

    def _statement(self, shard: str) -> _Statement | None:
        catalog = self.ctx.catalog
        dialect = catalog.dialect_of_shard(shard)
        if dialect == catalog.dialect:
            return None
        found = self._known.get(dialect)
        if found is None:
            found = self._known[dialect] = self._written(self.tree, dialect)
        return found

    def _written(self, tree: Node, dialect: str) -> _Statement:
        found = agree(tree, dialect, self.ctx.known)
        if not isinstance(found, Agreed):
            raise InternalError(f"a fragment has what its source does not compute alike: {found.why}")
        names = [_name(n, is_encoded=e) for n, e in zip(self.names, found.encoded, strict=False)]
        query = to_query(found.node, lambda _: None, names, query_dialect(dialect).reader)
        bound: dict[str, Any] = {}
        plain: dict[str, str] = {}
        sent: dict[str, SentRows] = {}
        given = set()
        for placeholder in query.find_all(exp.Placeholder):
            if BOUND in placeholder.meta:
                bound[placeholder.name] = placeholder.meta[BOUND]
            elif SENT in placeholder.meta:
                sent[placeholder.name] = placeholder.meta[SENT]
            elif ASCII in placeholder.meta:
                plain[placeholder.name] = placeholder.meta[ASCII]
            else:
                given.add(placeholder.name)
        texts = ShardTexts(query, self.ctx.catalog, self.slots, SYNTAXES[dialect])
        return _Statement(texts, bound, frozenset(given), plain, sent)


def _if_ascii(value: Any) -> Any:
    return value if isinstance(value, str) and value.isascii() else None


def _name(name: str, *, is_encoded: bool) -> str:
    """A column's name: marked if it is encoded, and never by chance."""
    if is_encoded:
        return ENCODED + name
    return f"_{name}" if name.startswith(ENCODED) else name
