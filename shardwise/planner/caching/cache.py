"""The plan cache: a statement that was planned before costs a few microseconds.

Three levels, each found by what the one before has left open:

    text        the very text was seen before: nothing is read
    literals    the text but for literals that are only compared (`lift.py`): they are cut out and put back
    plan        for values of the same types, a plan that is right for these too (`template.py`)

A cache belongs to one catalog: with another one it begins anew. It keeps no more than so many statements and
about so many bytes; the statement that was not used for the longest time goes first.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Catalog
from shardwise.options import Options
from shardwise.plan.holes import Written
from shardwise.plan.kinds import Kind, kinds_of
from shardwise.plan.run import Plan
from shardwise.planner.caching.lift import Cut, cut, lift, numbered
from shardwise.planner.caching.template import Template
from shardwise.planner.context import Context
from shardwise.planner.dialects import query_dialect
from shardwise.planner.parameters import Given
from shardwise.planner.parse import parse
from shardwise.planner.scopes.scope import Scope

if TYPE_CHECKING:
    from shardwise.planner.planner import Statement

_TEMPLATES_MAX: Final = 8
"""Plans of one statement for values of the same types: LIMIT ? has one for each number."""
_KEYS_MAX: Final = 256
"""Types of values, and scopes, that one statement has plans for; the first go first."""
_PLAN_BYTES: Final = 40_000
"""About what a plan takes beside its texts."""

Key = tuple[object, ...]


@dataclass(slots=True, eq=False)
class Shape:
    """A statement without the literals that were taken out of it. Guarded by the cache's lock."""

    key: Key
    first_text: str
    ast: exp.Expr
    names: tuple[str, ...] = ()
    """The names that its parameters have in a mapping, once one was given."""
    plans: dict[Key, tuple[Template, ...]] = field(default_factory=dict)
    bytes: int = 0
    hits: int = 0
    planned: int = 0
    is_reusable: bool = True
    """Whether its plans are right for other values: not if they depend on the moment, or on rows."""
    is_bound_to_scope: bool = False
    """Whether its plans are right for the very values of the scope only."""

    def key_for(self, params: Given, context: Context, options: Options) -> Key | None:
        """What chooses among its plans before values are looked at; None: these values have no types."""
        kinds: tuple[Kind, ...] | None
        if not params:
            kinds = ()
        elif isinstance(params, Mapping):
            if not params.keys() >= set(self.names):
                return None
            kinds = kinds_of([params[name] for name in self.names])
            kinds = None if kinds is None else (*self.names, *kinds)
        else:
            kinds = kinds_of(params)
        if kinds is None:
            return None
        seen = context.shape if self.is_bound_to_scope else context.form
        passes = (options.disable_passes, options.force, options.verify_passes)
        return (kinds, seen, options.scatter, options.trust_indexes, *passes)


@dataclass(slots=True, eq=False)
class Text:
    """A statement's text as the cache knows it: its shape, and the literals that the shape lacks.

    `statement` is for the planner to keep what it made of the text.
    """

    shape: Shape
    literals: tuple[Written, ...]
    statement: Statement | None = None


class Figures(NamedTuple):
    """What SHOW CACHE shows. `text_hits` + `literal_hits` + `parsed` are the statements that were asked for;
    `plan_hits` + `planned` the plans."""

    statements: int
    plans: int
    bytes: int
    text_hits: int
    literal_hits: int
    parsed: int
    plan_hits: int
    planned: int
    evicted: int


class StatementFigures(NamedTuple):
    """One statement in the cache; `text` has no literal."""

    text: str
    plan_hits: int
    planned: int
    plans: int
    bytes: int


class PlanCache:
    """Threads may share it."""

    def __init__(self, *, statements_max: int = 1024, bytes_max: int = 64 << 20) -> None:
        self._statements_max = statements_max
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._shapes: OrderedDict[Key, Shape] = OrderedDict()
        self._texts: dict[str, Text] = {}
        self._lifted: dict[Key, tuple[int, ...]] = {}
        self._bytes = self._text_hits = self._literal_hits = self._parsed = 0
        self._plan_hits = self._planned = self._evicted = 0

    def known(self, catalog: Catalog, sql: str) -> Text | None:
        """The very text, if it was seen before."""
        with self._lock:
            if catalog is not self._catalog:
                self._start(catalog)
            text = self._texts.get(sql)
            if text is not None:
                self._text_hits += 1
                self._shapes.move_to_end(text.shape.key)
            return text

    def text(self, catalog: Catalog, sql: str) -> Text:
        """A text that is not `known`, parsed now or but for its literals before. Raises what `parse` does."""
        dialect = query_dialect(catalog.dialect)
        found = cut(sql) if dialect.has_marks and catalog.dialects == {dialect.name} else Cut((sql,))
        if len(found.parts) > 1:
            with self._lock:
                text = self._cut_alike(found) if catalog is self._catalog else None
            if text is not None:
                return text
        mark = (lambda tokens: numbered(tokens, found)) if len(found.parts) > 1 else None
        ast = parse(sql, dialect, mark)
        return self._added(catalog, sql, ast, found)

    def plan(self, text: Text, key: Key | None, sql: str, params: Given, scope: Scope) -> Plan | None:
        """A plan for these parameters, if there is one; `key` is the shape's `key_for` them."""
        shape = text.shape
        templates = shape.plans.get(key, ()) if key is not None else ()
        for number, template in enumerate(templates):
            plan = template.reuse(sql, params, text.literals, scope)
            if plan is not None:
                with self._lock:
                    shape.hits += 1
                    self._plan_hits += 1
                    if number and shape.plans.get(key) is templates:  # type: ignore[arg-type]
                        others = (each for each in templates if each is not template)
                        shape.plans[key] = (template, *others)  # type: ignore[index]
                return plan
        return None

    def keep(
        self,
        text: Text,
        key: Key | None,
        template: Template | None,
        params: Given,
        context: Context,
        options: Options,
    ) -> None:
        """Takes in what was planned because nothing fitted; a plan without template is only counted."""
        shape = text.shape
        with self._lock:
            shape.planned += 1
            self._planned += 1
            shape.is_reusable = shape.is_reusable and template is not None
            if template is None or self._shapes.get(shape.key) is not shape:
                return
            if isinstance(params, Mapping):
                wanted = {str(origin.key) for _, origin in template.given}
                if not wanted <= set(shape.names):
                    shape.names = tuple(sorted(wanted.union(shape.names)))
                    shape.plans.clear()
                    return  # the next one has a key with all of its names in it
            if template.is_bound_to_scope and not shape.is_bound_to_scope:
                shape.is_bound_to_scope = True
                shape.plans.clear()
            if key is not None:
                key = shape.key_for(params, context, options)
            if key is None:
                return
            before = shape.plans.pop(key, ())
            if len(shape.plans) >= _KEYS_MAX:
                del shape.plans[next(iter(shape.plans))]
            shape.plans[key] = (template, *before[: _TEMPLATES_MAX - 1])
            self._weigh(shape)
            self._trim()

    def clear(self) -> None:
        """Forgets all statements; the counts stay."""
        with self._lock:
            self._forget_all()

    def figures(self) -> Figures:
        with self._lock:
            return Figures(
                statements=len(self._shapes),
                plans=sum(_plans(shape) for shape in self._shapes.values()),
                bytes=self._bytes,
                text_hits=self._text_hits,
                literal_hits=self._literal_hits,
                parsed=self._parsed,
                plan_hits=self._plan_hits,
                planned=self._planned,
                evicted=self._evicted,
            )

    def statements(self) -> list[StatementFigures]:
        """Each statement in the cache, the one used last first."""
        with self._lock:
            shapes = list(reversed(self._shapes.values()))
        return [StatementFigures(masked(s.first_text), s.hits, s.planned, _plans(s), s.bytes) for s in shapes]

    # -- inside, under the lock -------------------------------------------------------------------

    def _cut_alike(self, found: Cut) -> Text | None:
        lifted = self._lifted.get(found.key(range(len(found.literals))))
        shape = self._shapes.get(found.key(lifted)) if lifted else None
        if shape is None or lifted is None:
            return None
        self._literal_hits += 1
        self._shapes.move_to_end(shape.key)
        return Text(shape, found.chosen(lifted))

    def _added(self, catalog: Catalog, sql: str, ast: exp.Expr, found: Cut) -> Text:
        lifted = lift(ast, found)
        shape = Shape(key=found.key(lifted) if lifted else (sql,), first_text=sql, ast=ast)
        text = Text(shape, found.chosen(lifted))
        with self._lock:
            self._parsed += 1
            if catalog is not self._catalog:
                return text
            known = self._shapes.get(shape.key)
            if known is not None:  # another thread was first
                return Text(known, text.literals)
            self._shapes[shape.key] = shape
            self._texts[sql] = text
            if lifted:
                self._lifted[found.key(range(len(found.literals)))] = lifted
            self._weigh(shape)
            self._trim()
        return text

    def _weigh(self, shape: Shape) -> None:
        self._bytes -= shape.bytes
        texts = len(shape.first_text) * (4 + 8 * _plans(shape))
        shape.bytes = 2_000 + 40 * len(shape.first_text) + texts + _PLAN_BYTES * _plans(shape)
        self._bytes += shape.bytes

    def _trim(self) -> None:
        while len(self._shapes) > 1 and (
            len(self._shapes) > self._statements_max or self._bytes > self._bytes_max
        ):
            _, shape = self._shapes.popitem(last=False)
            self._texts.pop(shape.first_text, None)
            self._bytes -= shape.bytes
            self._evicted += 1
        if len(self._lifted) > 2 * self._statements_max:
            self._lifted.clear()  # they are found again as statements are read

    def _start(self, catalog: Catalog) -> None:
        self._forget_all()
        self._catalog = catalog

    def _forget_all(self) -> None:
        self._shapes.clear()
        self._texts.clear()
        self._lifted.clear()
        self._bytes = 0


def _plans(shape: Shape) -> int:
    return sum(len(templates) for templates in shape.plans.values())


def masked(sql: str) -> str:
    """The text on one line, without the value of any literal.

    >>> masked("SELECT 'x', 5 FROM t -- 7")
    'SELECT ?, ? FROM t'
    """
    return " ".join(_MASKED.sub(_without_value, sql).split())


_MASKED: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z)) | (?P<name>"(?:[^"]|"")*")
    | \$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z) | \w*&?'(?:[^'\\]|''|\\.)*(?:'|\Z)
    | (?P<word>[:$]\w+|[^\W\d]\w*) | \d[\w.]*(?:(?<=[eE])[+-]\d+)?""",
    re.VERBOSE | re.DOTALL,
)


def _without_value(match: re.Match[str]) -> str:
    if match["comment"] is not None:
        return " "
    return match["name"] or match["word"] or "?"
