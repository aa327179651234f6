"""What predicates are searched for: a table's shard keys, their columns' types, and where a value leads.

A *target* is what a predicate may compare with a value and thereby prune: a key column, by its name
in lower case, or a key expression, by its text. A `Place` is one column of a sharding: it turns what
is known of that column into slots of the whole sharding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from operator import or_
from typing import NamedTuple

from sqlglot import exp

from shardwise.catalog import keys
from shardwise.catalog.model import Column, Sharded, Sharding, Spelling, Table
from shardwise.catalog.shardings import (
    KEY_FAMILIES,
    UNKNOWN,
    Between,
    Exceptions,
    Grid,
    OneColumn,
    Part,
    ShardingFunction,
    SlotSet,
    Value,
    full,
    mask,
)
from shardwise.catalog.types import Family, type_family
from shardwise.errors import DataError
from shardwise.planner.dialects import DUCKDB, find_dialect
from shardwise.planner.literals import Constant
from shardwise.planner.spellings import Folds, text_of

HIDDEN = ("_shard", "_source")
_FINER = frozenset({"TIMESTAMP_NS"})  # than key values: two keys may be one value
_BINARY = frozenset({"", "binary", "c", "posix", "ucs_basic"})


class PruneReason(StrEnum):
    """Why a predicate does not narrow the shards that are asked."""

    KEY_NOT_COMPARED = "key-not-compared"
    NO_SHARD_KEY = "no-shard-key"
    OR_WITH_OTHER = "or-with-another-column"
    TEXT_AS_NUMBER = "text-compared-with-number"
    CONSTANT_NOT_EXACT = "constant-not-of-key-type"
    NOT_CONSTANT = "key-not-compared-with-constant"
    FORM_NOT_UNDERSTOOD = "predicate-not-understood"
    KEY_COLLATION = "key-collation"
    KEY_SPELLING = "key-spelling"
    KEY_TYPE = "key-type"
    RANGE_NOT_ORDERED = "range-on-unordered-sharding"
    VALUE_NOT_PLACED = "value-not-placed"
    ALL_SLOTS_MATCH = "all-slots-match"
    ANY_TYPE = "key-of-any-type"
    DIALECT = "dialect-not-pruned"


class PruneNote(NamedTuple):
    """A reason and its sentence. No note shows a value of the query."""

    slug: PruneReason
    sentence: str


@dataclass(frozen=True, slots=True)
class Place:
    """One column of a sharding: `function` places its values, `lift` widens that to the whole sharding."""

    function: ShardingFunction
    lift: Callable[[SlotSet], SlotSet]

    @property
    def is_whole(self) -> bool:
        """Whether its slots are the sharding's own."""
        return self.lift is _same

    def of_values(self, values: Iterable[Value]) -> SlotSet:
        """The slots of any of `values`. Error if one cannot be placed."""
        slot, size = self.function.slot, self.function.size
        found: set[int] = set()
        others = 0
        for value in values:
            try:
                found.add(slot((value,)))
            except DataError:
                others |= self.function.slots((value,))  # none where it has no slot
            if len(found) >= size:
                break
        return self.lift(mask(found) | others)

    def of_range(self, part: Between, or_null: bool = False) -> SlotSet:
        """The slots of a range, and of NULL if that matches too."""
        slots = self.function.slots((part,))
        return self.lift(slots | self.function.slots((None,)) if or_null else slots)

    def without(self, values: Sequence[Value]) -> SlotSet:
        """The slots that hold anything but `values` and NULL."""
        return self.lift(full(self.function.size) & ~self.function.slots_only(values))


class _Slot(OneColumn):
    """A key that *is* the slot (ALSO BY SLOT (…))."""

    __slots__ = ("_size",)

    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def size(self) -> int:
        return self._size

    def _place(self, value: Value) -> int | None:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < self._size:
            raise DataError("this is no slot")
        return value


class _Column(OneColumn):
    """One column of a function that takes several and is no grid."""

    __slots__ = ("_function", "_index")

    def __init__(self, function: ShardingFunction, index: int) -> None:
        self._function, self._index = function, index

    @property
    def size(self) -> int:
        return self._function.size

    def _place(self, value: Value) -> int | None:
        raise DataError("one column alone has no slot")

    def slots(self, key: Sequence[Part]) -> SlotSet:
        whole: list[Part] = [UNKNOWN] * self._function.arity
        whole[self._index] = key[0]
        return self._function.slots(whole)


def place(function: ShardingFunction, index: int) -> Place:
    """The place of a sharding function's column."""
    if isinstance(function, Grid):
        cut = function.outer.arity
        if index < cut:
            inside = place(function.outer, index)
            return Place(inside.function, partial(_rows, function, inside.lift))
        inside = place(function.inner, index - cut)
        return Place(inside.function, partial(_columns, function, inside.lift))
    if function.arity == 1:
        return Place(function, _same)
    return Place(_Column(function, index), _same)


def _slot_place(function: ShardingFunction) -> Place:
    """The place of a key that is the slot: or an exception's slot, if the row's own key is one."""
    if isinstance(function, Exceptions):
        exceptional = full(function.size) & ~full(function.function.size)
        return Place(_Slot(function.function.size), partial(or_, exceptional))
    return Place(_Slot(function.size), _same)


def _same(slots: SlotSet) -> SlotSet:
    return slots


def _rows(grid: Grid, lift: Callable[[SlotSet], SlotSet], slots: SlotSet) -> SlotSet:
    return grid.cross(lift(slots), full(grid.inner.size))


def _columns(grid: Grid, lift: Callable[[SlotSet], SlotSet], slots: SlotSet) -> SlotSet:
    return grid.cross(full(grid.outer.size), lift(slots))


@dataclass(frozen=True, slots=True)
class KeyPart:
    """One column of a shard key: `target` names it, `expr` is set where it is computed from `columns`."""

    target: str
    family: Family
    place: Place
    columns: tuple[str, ...]
    expr: exp.Expr | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """A shard key that may prune; `function` is None where the key is the slot itself."""

    function: ShardingFunction | None
    parts: tuple[KeyPart, ...]


class ShardKeys:
    """A scan's shard keys as targets. `families` are the types of targets that may prune.

    `exact` are those that have a collation and an EXACT spelling: only what they *equal* says where a row is.
    """

    def __init__(
        self, rel: str, table: Table, sharding: Sharding, dialect: str, sources: Mapping[str, str]
    ) -> None:
        self.rel = rel
        self.table = table
        self.sharding = sharding
        self.dialect = dialect
        self._speaks = find_dialect(dialect)
        self.constants = (self._speaks or DUCKDB).constants
        self.sources = sources
        self.all = full(sharding.function.size)
        self.families: dict[str, Family] = {}
        self.exact: dict[str, tuple[Spelling, Folds]] = {}
        self.notes: dict[PruneNote, None] = {}  # in order, each once
        self._useless: set[str] = set()  # key columns whose values are not compared here; the notes say why
        placement = table.placement
        virtual = placement.virtual if isinstance(placement, Sharded) else ()
        self._columns = {column.name.lower(): column for column in (*(table.columns or ()), *virtual)}
        self._has_expressions = False
        self.keys = self._read(placement) if isinstance(placement, Sharded) else ()
        self.names = frozenset(name for key in self.keys for part in key.parts for name in part.columns)

    def note(self, slug: PruneReason, sentence: str) -> None:
        """Remember a reason, in case nothing prunes."""
        self.notes[PruneNote(slug, sentence)] = None

    def constant(self, target: str, expr: exp.Expr) -> Constant:
        """What a target must equal to match `target = expr`."""
        return self._spelled(target, self.constants.constant(expr, self.families[target]))

    def members(self, target: str, exprs: Sequence[exp.Expr]) -> list[Constant]:
        """The same of an IN list."""
        found = self.constants.constants(exprs, self.families[target])
        return [self._spelled(target, constant) for constant in found]

    def is_by_bytes(self, target: str) -> bool:
        """Whether the target is compared and ordered as it is placed; notes that it is not."""
        if target in self.exact:
            title = self.title(target)
            self.note(PruneReason.KEY_COLLATION, f"{title} is EXACT: only = and IN say where a row is")
        return target not in self.exact

    def _spelled(self, target: str, constant: Constant) -> Constant:
        """The constant as the rows of an EXACT column spell it."""
        if target not in self.exact or not isinstance(constant, str):
            return constant
        spelling, folds = self.exact[target]
        text = text_of(constant, spelling, folds)
        return UNKNOWN if text is None else text

    def title(self, target: str) -> str:
        """A target as messages name it."""
        return f"{self.table.name}.{target}" if target.isidentifier() else target

    def target(self, expr: exp.Expr) -> str | None:
        """The target that an operand is, None if it is none that prunes."""
        while isinstance(expr, exp.Paren):
            expr = expr.this
        if isinstance(expr, exp.Column):
            name = expr.name.lower()
            return name if expr.table == self.rel and name in self.families else None
        if self._has_expressions and not isinstance(expr, (exp.Literal, exp.Tuple)):
            shape = _shape(expr, self.rel)
            return shape if shape in self.families else None
        return None

    def hidden(self, expr: exp.Expr) -> str | None:
        """`_shard` or `_source`, if the operand is that hidden column of this scan."""
        name = expr.name.lower() if isinstance(expr, exp.Column) and expr.table == self.rel else ""
        return name if name in HIDDEN and name not in self._columns else None

    def mentions_usable_key(self, expr: exp.Expr) -> bool:
        """Whether a key column of this scan stands anywhere in an expression; not one that never prunes, for
        that is told already, and no other form of the condition would help."""
        names = self.names - self._useless
        return any(c.table == self.rel and c.name.lower() in names for c in expr.find_all(exp.Column))

    def _read(self, placement: Sharded) -> tuple[Key, ...]:
        found = []
        for key in placement.keys:
            function = None if key.by_slot else self.sharding.function
            if function is not None and function.arity != len(key.parts):
                continue
            parts = []
            for index, expr in enumerate(key.parts):
                where = _slot_place(self.sharding.function) if function is None else place(function, index)
                parts.append(self._part(expr, where))
            found.append(Key(function, tuple(parts)))
        return tuple(found)

    def _part(self, expr: exp.Expr, where: Place) -> KeyPart:
        while isinstance(expr, exp.Paren):
            expr = expr.this
        columns = tuple(dict.fromkeys(column.name.lower() for column in expr.find_all(exp.Column)))
        useless = [name for name in columns if not self._usable(name)]
        self._useless.update(useless)
        usable = not useless
        if isinstance(expr, exp.Column):
            return KeyPart(columns[0], self.families.get(columns[0], Family.OTHER), where, columns)
        shape, family = _shape(expr, ""), keys.family_of(expr, self.families, self.dialect)
        # LEFT(k, 2) = 'AB' compares by k's collation, and EXACT says nothing of parts of its texts.
        is_folded = family is Family.TEXT and not self.exact.keys().isdisjoint(columns)
        if usable and family in KEY_FAMILIES and not is_folded:
            self.families[shape] = family
            self._has_expressions = True
        return KeyPart(shape, family, where, columns, expr)

    def _family(self, type_text: str) -> Family:
        return self._speaks.family(type_text) if self._speaks else type_family(type_text, self.dialect)

    def _usable(self, name: str) -> bool:
        """Whether a column's values may be compared here; remembers its family, or why not."""
        column = self._columns.get(name)
        title = self.title(name)
        if column is None:
            self.note(PruneReason.KEY_TYPE, f"the type of {title} is not known")
            return False
        family = self._family(column.type)
        if family not in KEY_FAMILIES or column.type.upper() in _FINER:
            self.note(PruneReason.KEY_TYPE, f"{title} is of type {column.type}, which is not pruned by")
            return False
        if not self._is_told_apart(column, name, title):
            return False
        self.families[name] = family
        return True

    def _is_told_apart(self, column: Column, name: str, title: str) -> bool:
        """Whether two equal values of the column are the same text; remembers its spelling, or why not."""
        dialect = self._speaks or DUCKDB
        collation = dialect.collation(column)
        if (collation or "").lower() in _BINARY:
            return True
        folds = dialect.folds(column)
        if column.spelling is None:
            why = "" if folds is None else ", and is not declared EXACT"
            self.note(PruneReason.KEY_COLLATION, f"{title} has collation {collation}{why}")
        elif folds is None:
            why = f"{title} has collation {collation}, with which EXACT is not relied on"
            self.note(PruneReason.KEY_COLLATION, why)
        else:
            self.exact[name] = column.spelling, folds
            return True
        return False


def _shape(expr: exp.Expr, rel: str) -> str:
    """An expression's text in which columns of `rel` have no table and no letter case."""

    def plain(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.table == rel:
            return exp.column(node.name.lower())
        return node.this if isinstance(node, exp.Paren) and isinstance(node.this, exp.Column) else node

    return expr.transform(plain).sql()
