"""What is known to be equal at a node: classes of columns, from equalities that every row passed.

Only equalities within one type family are chained, and of texts only where equal ones are the same: '01' = 1
= '1' does not make '01' equal '1'. What outer joins, OR, NOT, CASE and UNION arms say is not passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from shardwise.catalog.types import Family, type_family
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Fence,
    Filter,
    Join,
    Keep,
    Limit,
    Node,
    Output,
    Project,
    Sort,
    Window,
)
from shardwise.plan.tree import bare, column_id

Types = Mapping[ColumnId, Output]
Pair = tuple[ColumnId, ColumnId]

_ALONE = {"UHUGEINT", "UINT128", "DATETIME"}
"""Types that are compared with others of their family as something coarser. DuckDB compares UHUGEINT with
other whole numbers as DOUBLE: 2^100 is 2^100 + 1 there; MySQL a TIMESTAMP with a DATETIME in the session's
zone, where an hour may come twice."""
_INTEGERS = {"TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT"}
_INEXACT = {Family.NESTED, Family.OTHER, Family.JSON, Family.INTERVAL}


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Disjoint classes of columns that hold equal values in each row."""

    classes: tuple[frozenset[ColumnId], ...] = ()

    def with_pairs(self, pairs: Iterable[Pair]) -> Equivalence:
        classes = list(self.classes)
        for left, right in pairs:
            merged = frozenset((left, right)).union(*(c for c in classes if left in c or right in c))
            classes = [c for c in classes if not (c & merged)] + [merged]
        return Equivalence(tuple(classes))

    def joined(self, other: Equivalence) -> Equivalence:
        return Equivalence(self.classes + other.classes)

    def equal(self, left: ColumnId, right: ColumnId) -> bool:
        return left == right or any(left in c and right in c for c in self.classes)

    def same_as(self, id: ColumnId) -> frozenset[ColumnId]:
        return next((c for c in self.classes if id in c), frozenset((id,)))

    def renamed(self, renames: Mapping[ColumnId, tuple[ColumnId, ...]]) -> Equivalence:
        """Over other identities; columns without one are forgotten, copies of one column are equal."""
        classes = [frozenset(new for id in c for new in renames.get(id, ())) for c in self.classes]
        known = {id for c in self.classes for id in c}
        classes += [frozenset(new) for id, new in renames.items() if id not in known]
        return Equivalence(tuple(c for c in classes if len(c) > 1))


NONE = Equivalence()


def equivalence(node: Node, types: Types) -> Equivalence:
    """What is equal in every row of `node`."""
    cached: Equivalence | None = node.__dict__.get("_equivalence")
    if cached is None:
        cached = node.__dict__["_equivalence"] = _equivalence(node, types)
    return cached


def _equivalence(node: Node, types: Types) -> Equivalence:
    if isinstance(node, Filter):
        return equivalence(node.input, types).with_pairs(equalities(node.conjuncts, types))
    if isinstance(node, Join):
        return _after_join(node, types)
    if isinstance(node, Project):
        return equivalence(node.input, types).renamed(renames(node.rel, node.items))
    if isinstance(node, Aggregate):
        if node.sets is not None:
            return NONE
        return equivalence(node.input, types).renamed(renames(node.rel, node.keys))
    if isinstance(node, Window | Distinct | Sort | Limit | Keep | Fence):
        return equivalence(node.inputs[0], types)
    return NONE


def _after_join(node: Join, types: Types) -> Equivalence:
    left, right = equivalence(node.left, types), equivalence(node.right, types)
    if node.kind in ("inner", "cross"):
        return left.joined(right).with_pairs(equalities(node.on, types))
    if node.kind == "semi":
        mine = node.left.output_ids
        return left.with_pairs(p for p in equalities(node.on, types) if p[0] in mine and p[1] in mine)
    if node.kind in ("left", "anti", "asof", "asof_left"):
        return left
    if node.kind == "right":
        return right
    return NONE


def renames(rel: str, items: Iterable[tuple[str, exp.Expr]]) -> dict[ColumnId, tuple[ColumnId, ...]]:
    """From each input column to the outputs that are bare copies of it."""
    copies: dict[ColumnId, tuple[ColumnId, ...]] = {}
    for name, expr in items:
        id = column_id(expr)
        if id is not None:
            copies[id] = (*copies.get(id, ()), ColumnId(rel, name))
    return copies


def equalities(
    conjuncts: Iterable[exp.Expr],
    types: Types,
    *,
    null_safe: bool = False,
    linked: Callable[[ColumnId, ColumnId, Types], bool] | None = None,
) -> list[Pair]:
    """The pairs that a top-level `=` of columns makes equal; `null_safe`: those that may both be NULL, too.
    `linked` says of which it does, `linkable` if it is not given."""
    linked = linked or linkable
    pairs = []
    for conjunct in conjuncts:
        test = bare(conjunct)
        if type(test) is exp.EQ or type(test) is exp.NullSafeEQ:
            if is_null_safe(test) and not null_safe:
                continue
            lefts, rights = _members(test.this), _members(test.expression)
            if len(lefts) == len(rights):
                for one, other in zip(lefts, rights, strict=True):
                    left, right = column_id(one), column_id(other)
                    if left is not None and right is not None and linked(left, right, types):
                        pairs.append((left, right))
    return pairs


def is_null_safe(conjunct: exp.Expr) -> bool:
    """Whether it may be TRUE of two NULLs: IS NOT DISTINCT FROM, and `=` of rows, (1, NULL) = (1, NULL)."""
    test = bare(conjunct)
    if type(test) is exp.EQ:
        return any(isinstance(side, exp.Tuple) for side in (bare(test.this), bare(test.expression)))
    return type(test) is exp.NullSafeEQ


def _members(expr: exp.Expr) -> list[exp.Expr]:
    return list(expr.expressions) if isinstance(expr, exp.Tuple) else [expr]


def linkable(left: ColumnId, right: ColumnId, types: Types) -> bool:
    """Whether `=` between them compares in the type that both are hashed in."""
    one, other = types.get(left), types.get(right)
    if one is None or other is None or one.type is None or other.type is None:
        return False
    if not are_told_apart_alike(one, other):
        return False
    family = key_family(one.type)
    if family is not key_family(other.type) or family in _INEXACT:
        return False
    names = {one.type.upper(), other.type.upper()}
    plain = {name.partition("(")[0].strip() for name in names}
    return len(plain) == 1 or plain.isdisjoint(_ALONE)


def are_declared_alike(one: ColumnId, other: ColumnId, types: Types) -> bool:
    """Whether two columns are declared alike, so that comparing them cannot fail; integers are, of any
    width."""
    names = {types[one].type, types[other].type}
    return len(names) == 1 or all(name is not None and name.upper() in _INTEGERS for name in names)


def key_family(type_text: str) -> Family:
    """The kind of a column's values to a sharding: by DuckDB's name of the type, or else by MySQL's."""
    family = type_family(type_text, "duckdb")
    return family if family is not Family.OTHER else type_family(type_text, "mysql")


def are_told_apart_alike(one: Output, other: Output) -> bool:
    """Whether two of their values that are equal are the same text: by the collation, or as both are EXACT.

    'a' of an EXACT LOWER column equals 'A' of an EXACT UPPER one, and of one that is not EXACT at all.
    """
    if is_binary(one.collation) and is_binary(other.collation):
        return True
    alike = (one.spelling, _folded(one)) == (other.spelling, _folded(other))
    return one.spelling is not None and alike


def is_one_text(output: Output) -> bool:
    """Whether two of its values that are equal are the same."""
    return are_told_apart_alike(output, output)


def comparison_of(output: Output) -> str:
    """What a key's columns must have in common, beside their type, to be placed alike; "" for their bytes."""
    return "" if is_binary(output.collation) else f" {_folded(output)} {output.spelling}"


def _folded(output: Output) -> str:
    return (output.collation or "").lower()


def is_binary(collation: str | None) -> bool:
    return collation is None or collation.upper() in ("BINARY", "C", "POSIX")
