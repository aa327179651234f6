"""Where the rows of a plan node are: the one property that decides what may run per shard.

    Copied(S)       the same bag of rows on each shard of S (None: anywhere; nothing of it is on a shard)
    Split(S, keys)  each row on exactly one shard of S; S of one shard is "all rows are there"
    At(f, columns)  all rows on the shard that `f` gives for these columns of an outer row
    Merged          in the merge, and whatever the rules below do not name

A key is a tuple of output columns that a sharding was applied to. `full`: every row, those with
NULL too, is where the sharding puts its key. `loose`: rows without NULL in it are, the rest anywhere.
`orphaned`: as loose, and rows whose key names no row of the parent table may be anywhere as well.

Every question "may this run per shard?" is answered here. Whether a source of another dialect than the
query's computes a node alike is asked of `agreement`, and only by `Analysis`. Each rule names the query
that goes wrong without it, on two shards by MOD 2 (s0 = even and NULL, s1 = odd), a, b, c split by k, r a
reference table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any, Literal

from sqlglot import exp

from shardwise.catalog.model import Catalog, Reference, Sharded, ShardedWith, Table
from shardwise.errors import InternalError
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    CteRef,
    Distinct,
    Empty,
    Fence,
    Filter,
    Gather,
    Item,
    Join,
    Keep,
    Limit,
    Local,
    Node,
    OneRow,
    Output,
    Project,
    Raw,
    Recursive,
    Scan,
    SetOp,
    Sort,
    TableFunction,
    Values,
    Window,
)
from shardwise.plan.tree import column_id, free_columns, plan_of, subplans
from shardwise.planner.aggregates import is_order_sensitive
from shardwise.planner.agreement import Disagreement, Known, agree
from shardwise.planner.borders import Use, loses
from shardwise.planner.determinism import window_depends_on_order
from shardwise.planner.dialects import query_dialect
from shardwise.planner.equivalence import (
    NONE,
    Equivalence,
    comparison_of,
    equalities,
    equivalence,
    is_binary,
    is_one_text,
    key_family,
    linkable,
    renames,
)
from shardwise.planner.functions import is_volatile, rejects_null
from shardwise.planner.quotients import has_quotient, is_stored

Shards = tuple[str, ...]
Strength = Literal["full", "loose", "orphaned"]


@dataclass(frozen=True, slots=True)
class Key:
    """`columns` (or, after a full join, pairs that COALESCE makes one) that `function` was applied to."""

    function: str
    columns: tuple[ColumnId, ...]
    strength: Strength = "full"

    def loosened(self) -> Key:
        return replace(self, strength="loose") if self.strength == "full" else self


@dataclass(frozen=True, slots=True)
class Copied:
    shards: Shards | None


@dataclass(frozen=True, slots=True)
class Split:
    shards: Shards
    keys: tuple[Key, ...] = ()

    @property
    def is_one(self) -> bool:
        return len(self.shards) == 1


@dataclass(frozen=True, slots=True)
class At:
    function: str
    columns: tuple[ColumnId, ...]
    shards: Shards
    orphaned: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    pass


MERGED = Merged()
ANYWHERE = Copied(None)
Distribution = Copied | Split | At | Merged


class Analysis:
    """The distribution of every node of one statement, each computed once and kept with the node.

    `types` knows every column of the statement, outer ones too: identities are unique. `known` is what
    sources of another dialect are asked about with.
    """

    def __init__(
        self,
        catalog: Catalog,
        types: Mapping[ColumnId, Output],
        known: Known | None = None,
    ) -> None:
        self.catalog = catalog
        self.types = types
        self.known = known or Known(types)
        dialect = query_dialect(catalog.dialect)
        self._carries_collations = dialect.carries_collations
        self._cuts_quotients = dialect.reader.cuts_quotients
        self._ctes: dict[str, Distribution] = {}

    def of(self, node: Node) -> Distribution:
        known: tuple[Mapping[str, Distribution], Distribution] | None = node.__dict__.get("_distribution")
        if known is None or known[0] != self._ctes:  # CTEs may be read from elsewhere than when it was asked
            found = self._agreed(node, _distribution(node, self))
            known = node.__dict__["_distribution"] = self._ctes, found
        return known[1]

    def allows(self, node: Node, shards: Shards) -> bool:
        """Whether the sources of all these shards compute the whole tree as the query's dialect does.

        For what a pass puts below a Gather.
        """
        return self.disagreement(node, shards) is None

    def disagreement(self, node: Node, shards: Shards) -> tuple[str, Disagreement] | None:
        """A dialect of these shards' sources, and what it would compute otherwise; a Gather is its input."""
        for dialect in sorted(self._foreign(shards)):
            found = agree(node, dialect, self.known)
            if isinstance(found, Disagreement):
                return dialect, found
        return None

    def are_foreign(self, shards: Shards) -> bool:
        """Whether a source of these shards speaks another dialect: what one shard has whole may be merged."""
        return bool(self._foreign(shards))

    def _agreed(self, node: Node, found: Distribution) -> Distribution:
        """`found`, if every source of it agrees; of copies, those on sources that do.

        What is on no shard (ANYWHERE) is asked about with whatever it is joined to.
        """
        shards = () if isinstance(found, Merged) else found.shards or ()
        if not self._foreign(shards) or self.allows(node, shards):
            return found
        if isinstance(found, Copied):
            native = tuple(s for s in shards if self.catalog.dialect_of_shard(s) == self.catalog.dialect)
            return Copied(native) if native else MERGED
        return MERGED

    def _foreign(self, shards: Shards) -> frozenset[str]:
        """The dialects of the shards' sources other than the query's."""
        own = {self.catalog.dialect}
        if self.catalog.dialects == own:
            return frozenset()
        return self.catalog.dialects_of_shards(shards) - own

    def equal(self, node: Node) -> Equivalence:
        return equivalence(node, self.types)

    def reading(self, name: str, distribution: Distribution) -> Analysis:
        """The same statement, where references to the CTE `name` have this distribution."""
        inner = Analysis(self.catalog, self.types, self.known)
        inner._ctes = {**self._ctes, name: distribution}
        return inner

    def is_fragile(self, expr: exp.Expr) -> bool:
        """Whether the value may compare in the merge otherwise than on the shards."""
        if self._carries_collations:
            return expr.find(exp.Collate) is not None
        return is_fragile(expr, self.types)

    def is_cut(self, expr: exp.Expr) -> bool:
        """Whether the value would have fewer digits in the merge than on the shards."""
        return self._cuts_quotients and has_quotient(expr, self.types)

    def loses(self, node: Node, use: Use) -> bool:
        """Whether a value of the node's would come otherwise to its use in the merge than it left a shard."""
        return self._cuts_quotients and loses(node, use, self.types)

    def cte(self, name: str) -> Distribution:
        return self._ctes.get(name, MERGED)


def _distribution(node: Node, analysis: Analysis) -> Distribution:
    """Rule 3 first: whatever a node does, it is whole where everything it needs is on one shard.

    Wrong if it looked at inputs only: SELECT k FROM a WHERE k IN (2, 4) AND v < (SELECT avg(v) FROM a).
    """
    if isinstance(node, Cte):
        return _cte(node, analysis)
    if isinstance(node, Recursive):
        return _recursive(node, analysis)
    if isinstance(node, Raw):
        return _raw(node, analysis)
    leaf = _leaf(node, analysis)
    if leaf is not None:
        return _unpinned(node, leaf)
    parts = [analysis.of(n) for n in node.inputs] + [analysis.of(p) for p in subplans(node)]
    own = _by_rule(node, analysis)
    if isinstance(own, Split | Copied):
        return own if isinstance(own, Split) else _picked(node, own)
    shard = _common_shard(parts)
    if shard is not None:
        return Split((shard,))
    return own if isinstance(own, At) else _outer_row(node, parts, analysis)


def _unpinned(node: Node, leaf: Distribution) -> Distribution:
    """Volatile rows exist once: VALUES (random()) is made in the merge, not on each shard."""
    return MERGED if leaf == ANYWHERE and any(is_volatile(e) for e in node.expressions) else leaf


def _common_shard(parts: list[Distribution]) -> str | None:
    """The first shard that has all of every part, if at least one part is only there."""
    if not any(isinstance(p, Split) for p in parts):
        return None
    common: Shards | None = None
    for part in parts:
        if isinstance(part, Copied) or (isinstance(part, Split) and part.is_one):
            here = part.shards
        else:
            return None
        if here is not None:
            common = here if common is None else common_shards(common, here)
    return common[0] if common else None


def _outer_row(node: Node, parts: list[Distribution], analysis: Analysis) -> Distribution:
    """Below an outer row: a node whose parts are all on that row's shard is whole there.

    LATERAL (SELECT v FROM b WHERE b.k = a.k ORDER BY v DESC LIMIT 1) is, but not without `b.k = a.k`.
    """
    ats = {p for p in parts if isinstance(p, At)}
    if len(ats) != 1:
        return MERGED
    (at,) = ats
    if set(at.columns) & (set().union(*(n.output_ids for n in node.inputs)) if node.inputs else set()):
        return MERGED
    for part in parts:
        if (
            part is not at
            and part != at
            and not (isinstance(part, Copied) and covers(part.shards, at.shards))
        ):
            return MERGED
    return at


def _picked(node: Node, copied: Copied) -> Distribution:
    """Over copies, what depends on the order of rows or is volatile is done on one copy only.

    a JOIN (SELECT c, row_number() OVER (ORDER BY v) n FROM r) t …: each copy would number ties its own way.
    """
    if not _varies(node):
        return copied
    return MERGED if copied.shards is None else Split(copied.shards[:1])


def _varies(node: Node) -> bool:
    if isinstance(node, Limit) or (isinstance(node, Distinct) and node.on is not None):
        return True
    if any(is_volatile(e) for e in node.expressions):
        return True
    if isinstance(node, Aggregate):
        return any(is_order_sensitive(item.expr) for item in node.calls)
    return isinstance(node, Window) and any(window_depends_on_order(item.expr) for item in node.items)


def covers(copies: Shards | None, shards: Shards) -> bool:
    """Whether every shard has a copy."""
    return copies is None or shards == copies or set(shards) <= set(copies)


def common_shards(one: Shards, other: Shards) -> Shards:
    """In the order of the first; there may be thousands."""
    if one == other:
        return one
    others = frozenset(other)
    return tuple(s for s in one if s in others)


def _meet(one: Shards | None, other: Shards | None) -> Shards | None:
    if one is None or other is None:
        return other if one is None else one
    return common_shards(one, other)


# Leaves


def _leaf(node: Node, analysis: Analysis) -> Distribution | None:
    if isinstance(node, Scan):
        return _scan(node, analysis.catalog)
    if isinstance(node, OneRow | Values | Empty | TableFunction):
        return ANYWHERE if not subplans(node) else None
    if isinstance(node, Local | Gather):
        return MERGED
    if isinstance(node, CteRef):
        return analysis.cte(node.name)
    return None


def _scan(scan: Scan, catalog: Catalog) -> Distribution:
    shards = scan.route.shards
    if not shards:
        return ANYWHERE
    placement = scan.table.placement
    if isinstance(placement, Sharded):
        return Split(shards, tuple(_scan_keys(scan, placement, catalog)))
    if isinstance(placement, ShardedWith):
        function = f"with {placement.parent}.{placement.parent_column}".lower()
        key = _plain_key(function, scan, (placement.column,), "orphaned")
        return Split(shards, (key,) if key else ())
    return Copied(shards) if isinstance(placement, Reference) else Split(shards)


def _scan_keys(scan: Scan, placement: Sharded, catalog: Catalog) -> Iterator[Key]:
    """A key whose values are not hashed in one form for all that compare equal is none.

    'A' = 'a' under NOCASE, but they are on two shards, unless the catalog says EXACT. A DIRECTORY has no
    place for NULL: it may be anywhere.
    """
    nullable = {c.name.lower() for c in scan.table.columns or () if c.nullable}
    unplaced = nullable if catalog.sharding(placement.sharding).is_open else set()
    for shard_key in placement.keys:
        columns = (c.name.lower() for part in shard_key.parts for c in part.find_all(exp.Column))
        names = tuple(dict.fromkeys(columns))
        function = placement.sharding.lower()
        if shard_key.by_slot or any(type(part) is not exp.Column for part in shard_key.parts):
            shapes = ", ".join(_shape(part, names) for part in shard_key.parts)
            function += f" {'by slot' if shard_key.by_slot else 'of'} {shapes}"
        # The first key places every row; another agrees with it, but cannot where it is NULL.
        is_full = shard_key is placement.keys[0] and unplaced.isdisjoint(names)
        key = _plain_key(function, scan, names, "full" if is_full else "loose")
        if key is not None:
            yield key
    for unique in global_keys(scan.table, placement):
        # UNIQUE lets NULLs be: SELECT id, count(*) FROM t GROUP BY id has its NULL group on every shard.
        strength: Strength = "loose" if unique.lower() in nullable else "full"
        key = _plain_key(f"with {scan.table.name}.{unique}".lower(), scan, (unique,), strength)
        if key is not None:
            yield key


def _shape(part: exp.Expr, names: Sequence[str]) -> str:
    """The expression with its columns by position: equal shapes of equal values are equal."""

    def swap(e: exp.Expr) -> exp.Expr:
        return exp.Var(this=f"#{names.index(e.name.lower())}") if type(e) is exp.Column else e

    return part.copy().transform(swap).sql("duckdb")


def _plain_key(function: str, scan: Scan, names: tuple[str, ...], strength: Strength) -> Key | None:
    by_name = {o.id.name.lower(): o for o in scan.columns}
    found = [by_name.get(name.lower()) for name in names]
    columns = [o for o in found if o is not None]
    if len(columns) != len(names) or not all(map(is_one_text, columns)):
        return None
    families = ",".join(key_family(o.type or "") + comparison_of(o) for o in columns)
    return Key(f"{function} ({families})", tuple(o.id for o in columns), strength)


def global_keys(table: Table, placement: Sharded) -> Iterator[str]:
    """Columns whose value names one row in the whole database: what SHARD WITH children may refer to."""
    shard_key = {c.name.lower() for p in placement.keys[0].parts for c in p.find_all(exp.Column)}
    candidates = [*table.unique_across, *(k for k in (table.primary_key, *table.unique) if k)]
    seen = set()
    for key in candidates:
        is_global = key in table.unique_across or shard_key <= {c.lower() for c in key}
        if len(key) == 1 and is_global and key[0].lower() not in seen:
            seen.add(key[0].lower())
            yield key[0]


# Nodes


def _by_rule(node: Node, analysis: Analysis) -> Distribution:
    rule = _RULES.get(type(node))
    if rule is None:
        raise InternalError(f"distribution: no rule for {type(node).__name__}")
    return rule(node, analysis)


def _filter(node: Filter, analysis: Analysis) -> Distribution:
    """Rules 4 and 8. IS NOT NULL on a loose key makes it full.

    `key = outer column` pins the rows to the outer row's shard.
    """
    below = analysis.of(node.input)
    if not isinstance(below, Split | Copied):
        return below if isinstance(below, At) and _subqueries_stay(node, below, analysis) else MERGED
    if not _subqueries_stay(node, below, analysis):
        return MERGED
    if isinstance(below, Copied):
        return _with_copied_subqueries(node, below, analysis)
    keys = tuple(_firmer(key, node.conjuncts) for key in below.keys)
    pinned = _pinned(node, below, analysis) if free_columns(node) and not below.is_one else None
    return pinned or replace(below, keys=keys)


def _firmer(key: Key, conjuncts: tuple[exp.Expr, ...]) -> Key:
    if key.strength != "loose":
        return key
    firm = all(any(rejects_null(c, {column}) for c in conjuncts) for column in key.columns)
    return replace(key, strength="full") if firm else key


def _pinned(node: Filter, below: Split, analysis: Analysis) -> At | None:
    """`b.k = a.k` with a.k from outside: below the outer row, b's rows are on one shard.

    An orphaned key may be pinned too: what remembers it is `At.orphaned`.
    """
    mine = node.input.output_ids
    known = analysis.equal(node)
    for key in below.keys:
        outer = []
        for column in key.columns:
            candidates = [c for c in known.same_as(column) if c not in mine]
            if not candidates:
                break
            outer.append(min(candidates))
        else:
            return At(key.function, tuple(outer), below.shards, key.strength == "orphaned")
    return None


def _project(node: Project, analysis: Analysis) -> Distribution:
    """Rule 4: renames and copies pass; an expression is no key (SELECT k % 2 AS k … GROUP BY k).

    Nor does a computed value carry a collation, an ENUM's order or all digits to the merge: it is computed
    there. (Of a derived table that one server stores, it has no more digits there either.)
    """
    below = analysis.of(node.input)
    if not _subqueries_stay(node, below, analysis):
        return MERGED
    if isinstance(below, Split):
        is_cut = not below.is_one and any(analysis.is_cut(i.expr) for i in node.items)
        if is_cut and not is_stored(node.input):
            return MERGED
        if not below.is_one and any(analysis.is_fragile(i.expr) for i in node.items if not _is_bare(i.expr)):
            return MERGED
        keys = _renamed_keys(below.keys, renames(node.rel, node.items), analysis.equal(node.input))
        return Split(below.shards, (*keys, *_coalesced_keys(node, analysis)))
    return _with_copied_subqueries(node, below, analysis) if isinstance(below, Copied) else below


def _is_bare(expr: exp.Expr) -> bool:
    return type(expr) is exp.Column


def is_fragile(expr: exp.Expr, types: Mapping[ColumnId, Output]) -> bool:
    """Whether the value may compare in a way that Arrow does not carry: by a collation, or as an ENUM."""
    if expr.find(exp.Collate) is not None:
        return True
    outputs = (types.get(ColumnId(c.table, c.name)) for c in expr.find_all(exp.Column))
    return any(
        o is not None and (not is_binary(o.collation) or "ENUM" in (o.type or "").upper()) for o in outputs
    )


def _renamed_keys(
    keys: tuple[Key, ...], copies: dict[ColumnId, tuple[ColumnId, ...]], known: Equivalence
) -> tuple[Key, ...]:
    renamed = []
    for key in keys:
        columns = []
        for column in key.columns:
            new = next(
                (c for same in (column, *sorted(known.same_as(column))) for c in copies.get(same, ())), None
            )
            if new is not None:
                columns.append(new)
        if len(columns) == len(key.columns):
            renamed.append(replace(key, columns=tuple(columns)))
    return tuple(dict.fromkeys(renamed))


def _coalesced_keys(node: Project, analysis: Analysis) -> Iterator[Key]:
    """Rule 7: coalesce(a.k, b.k) over a FULL JOIN of full keys linked by it is a full key again.

    Not of loose ones, whose NULLs are on every shard: with `(SELECT b.k FROM a LEFT JOIN b ON a.k = b.k) x`,
    SELECT coalesce(x.k, c.k) FROM x FULL JOIN c ON x.k = c.k GROUP BY 1 has a NULL group on each.
    """
    join = node.input
    if not isinstance(join, Join) or join.kind != "full":
        return
    left, right = analysis.of(join.left), analysis.of(join.right)
    if not isinstance(left, Split) or not isinstance(right, Split):
        return
    computed: dict[tuple[ColumnId | None, ...], ColumnId] = {}
    for item in node.items:
        if isinstance(item.expr, exp.Coalesce):
            both = tuple(column_id(e) for e in (item.expr.this, *item.expr.expressions))
            computed[both] = ColumnId(node.rel, item.name)
    for one, other in product(left.keys, right.keys):
        if one.function == other.function and one.strength == other.strength == "full":
            columns = [computed.get(pair) for pair in zip(one.columns, other.columns, strict=True)]
            found = tuple(c for c in columns if c is not None)
            if len(found) == len(columns) and _joined_by(join, one, other):
                yield Key(one.function, found)


def _joined_by(join: Join, one: Key, other: Key) -> bool:
    pairs = {frozenset((column_id(c.this), column_id(c.expression))) for c in join.on if type(c) is exp.EQ}
    return all(frozenset(pair) in pairs for pair in zip(one.columns, other.columns, strict=True))


def _aggregate(node: Aggregate, analysis: Analysis) -> Distribution:
    """Rule 9: whole groups are on one shard if the columns of all grouping sets hold a full key.

    Columns of all sets, not one of each: a.k and b.k are equal, and NULL where the set is the other's.

    A loose one will not do: its NULL group is on every shard.
    SELECT b.k, count(*) FROM a LEFT JOIN b ON a.k = b.k GROUP BY b.k
    """
    below = analysis.of(node.input)
    if not _subqueries_stay(node, below, analysis):
        return MERGED
    if not isinstance(below, Split):
        return _with_copied_subqueries(node, below, analysis) if isinstance(below, Copied) else MERGED
    if not below.is_one and _makes_fragile(node.calls, analysis):
        return MERGED
    known = analysis.equal(node.input)
    in_all = set(range(len(node.keys))).intersection(*(node.sets or ()))
    members = [node.keys[i] for i in sorted(in_all)]
    columns = _bare_columns(item.expr for item in members)
    held = tuple(key for key in below.keys if _holds(columns, key, known))
    if not held:
        return Split(below.shards) if below.is_one else MERGED
    return Split(below.shards, _renamed_keys(held, renames(node.rel, members), known))


def _makes_fragile(items: Iterable[Item], analysis: Analysis) -> bool:
    """Whether a value would leave the shards without its collation or ENUM: max(s), first_value(s)."""
    calls = (item.expr.this if isinstance(item.expr, exp.Window) else item.expr for item in items)
    return any(not isinstance(call, exp.Count) and analysis.is_fragile(call) for call in calls)


def _bare_columns(expressions: Iterable[exp.Expr]) -> frozenset[ColumnId]:
    return frozenset(id for e in expressions if (id := column_id(e)) is not None)


def _holds(columns: Set[ColumnId], key: Key, known: Equivalence) -> bool:
    """Whether rows that agree in `columns` agree in the key, which says where they all are."""
    return key.strength == "full" and all(known.same_as(column) & columns for column in key.columns)


def _window(node: Window, analysis: Analysis) -> Distribution:
    """Rule 9: as Aggregate, for every PARTITION BY."""
    below = analysis.of(node.input)
    if not _subqueries_stay(node, below, analysis):
        return MERGED
    if not isinstance(below, Split):
        return _with_copied_subqueries(node, below, analysis) if isinstance(below, Copied) else MERGED
    if not below.is_one and _makes_fragile(node.items, analysis):
        return MERGED
    known = analysis.equal(node.input)
    for item in node.items:
        columns = _bare_columns(item.expr.args.get("partition_by") or ())
        if not any(_holds(columns, key, known) for key in below.keys):
            return below if below.is_one else MERGED
    return below


def _distinct(node: Distinct, analysis: Analysis) -> Distribution:
    """Rule 9: duplicates are on one shard if the output (or the ON list) holds a full key."""
    below = analysis.of(node.input)
    if not isinstance(below, Split):
        return below if isinstance(below, Copied) else MERGED
    if below.is_one:
        return below
    columns = node.output_ids if node.on is None else _bare_columns(node.on)
    known = analysis.equal(node.input)
    return below if any(_holds(columns, key, known) for key in below.keys) else MERGED


def _keep(node: Keep, analysis: Analysis) -> Distribution:
    below = analysis.of(node.input)
    if not isinstance(below, Split):
        return below
    copies: dict[ColumnId, tuple[ColumnId, ...]] = {o.id: (o.id,) for o in node.columns}
    return Split(below.shards, _renamed_keys(below.keys, copies, analysis.equal(node.input)))


def _fence(node: Fence, analysis: Analysis) -> Distribution:
    return analysis.of(node.input)


def _ordered(node: Sort | Limit, analysis: Analysis) -> Distribution:
    """Rule 12: only one shard carries them whole."""
    below = analysis.of(node.inputs[0])
    if isinstance(below, Split) and below.is_one and not subplans(node):
        return below
    return below if isinstance(below, Copied) and not subplans(node) else MERGED


def _set_operation(node: SetOp, analysis: Analysis) -> Distribution:
    """Rule 10. Keys of UNION ALL are those that all arms have at the same positions.

    SELECT x FROM a EXCEPT SELECT c FROM r gives a row twice where x is no key. UNION ALL of arms on different
    shards is made in the merge: SELECT count(*) FROM a WHERE k = 1 is a row wherever it is asked.
    """
    arms = [analysis.of(arm) for arm in node.arms]
    if mixes_collations(node) and not all(isinstance(arm, Split) and arm.is_one for arm in arms):
        return MERGED
    copies = [arm for arm in arms if isinstance(arm, Copied)]
    if len(copies) == len(arms):
        shards = reduce(_meet, (arm.shards for arm in copies))
        return Copied(shards) if shards is None or shards else MERGED
    if node.kind == "union":
        return _union(node, arms)
    left, right = arms[0], arms[1]
    for key in _positional_keys(node, 0, left):
        if isinstance(right, Copied) and isinstance(left, Split) and covers(right.shards, left.shards):
            return Split(left.shards, (key,))
        if key in _positional_keys(node, 1, right) and isinstance(left, Split) and isinstance(right, Split):
            both = common_shards(left.shards, right.shards)
            return Split(both if both and node.kind == "intersect" else left.shards, (key,))
    for key in _positional_keys(node, 1, right):
        covered = isinstance(left, Copied) and isinstance(right, Split) and covers(left.shards, right.shards)
        if node.kind == "intersect" and covered and isinstance(right, Split):
            return Split(right.shards, (key,))
    return MERGED


def mixes_collations(node: SetOp) -> bool:
    """Which one the result has is for the engine to say; a stream would not carry it, and what is equal in
    an arm need not be equal in the result."""
    columns = zip(*(arm.outputs for arm in node.arms), strict=True)
    return any(len({o.collation for o in same}) > 1 for same in columns)


def _union(node: SetOp, arms: list[Distribution]) -> Distribution:
    if not all(isinstance(arm, Split) for arm in arms):
        return MERGED
    splits = [arm for arm in arms if isinstance(arm, Split)]
    shards = splits[0].shards
    if any(arm.shards != shards and set(arm.shards) != set(shards) for arm in splits):
        return MERGED
    common = set(_positional_keys(node, 0, splits[0]))
    for i, arm in enumerate(splits[1:], 1):
        common &= set(_positional_keys(node, i, arm))
    keys = tuple(sorted(common, key=str))
    if node.all or len(shards) == 1 or keys:
        return Split(shards, keys)
    return MERGED


def _positional_keys(node: SetOp, position: int, arm: Distribution) -> tuple[Key, ...]:
    """The arm's full keys over the set operation's own columns, of columns that all arms declare alike."""
    if not isinstance(arm, Split):
        return ()
    copies: dict[ColumnId, tuple[ColumnId, ...]] = {}
    for mine, theirs in zip(node.outputs, node.arms[position].outputs, strict=True):
        if mine.type is not None and is_one_text(mine):
            copies[theirs.id] = (*copies.get(theirs.id, ()), mine.id)
    full = tuple(k for k in arm.keys if k.strength == "full")
    return _renamed_keys(full, copies, NONE)


def _raw(node: Raw, analysis: Analysis) -> Distribution:
    """Whole where all its tables are; what it does is not known, so one copy is picked.

    PIVOT's columns depend on its rows: only the merge tells them.
    """
    if node.sql.find(exp.Pivot) is not None:
        return MERGED
    parts = [analysis.of(table) for table in node.tables]
    shards: Shards | None = None
    for part in parts:
        if (isinstance(part, Split) and part.is_one) or isinstance(part, Copied):
            shards = _meet(shards, part.shards)
        else:
            return MERGED
    return Split(shards[:1]) if shards else MERGED


# Joins


def _join(node: Join, analysis: Analysis) -> Distribution:
    """Rules 5 to 7."""
    if node.kind == "positional":
        return MERGED
    left, right = analysis.of(node.left), analysis.of(node.right)
    if node.kind == "right":
        left, right = right, left
    if not _subqueries_stay(node, _combined(left, right), analysis):
        return MERGED
    if isinstance(left, Copied) and isinstance(right, Copied):
        shards = _meet(left.shards, right.shards)
        return Copied(shards) if shards is None or shards else MERGED
    if isinstance(right, At):
        return _lateral(node, left, right, analysis)
    if isinstance(left, Split) and isinstance(right, Copied):
        # Not for FULL: each shard would return the copies that none of its rows match.
        fits = node.kind != "full" and covers(right.shards, left.shards)
        return left if fits else MERGED
    if isinstance(left, Copied) and isinstance(right, Split):
        # Not for LEFT: r LEFT JOIN a returns an unmatched row of r once per shard.
        fits = node.kind in ("inner", "cross") and covers(left.shards, right.shards)
        return right if fits and not node.lateral else MERGED
    if isinstance(left, Split) and isinstance(right, Split):
        if left.is_one and right.is_one and left.shards == right.shards:
            return Split(left.shards, _keys_after(node, left, right, None))
        if node.lateral:
            return MERGED
        linked = _linked(node, left, right, analysis)
        if linked is not None:
            return Split(_shards_after(node, left, right), _keys_after(node, left, right, linked))
    return MERGED


def _combined(left: Distribution, right: Distribution) -> Distribution:
    """What subqueries in ON must be available on."""
    if isinstance(left, Split):
        return left
    return right if isinstance(right, Split) else left


def _lateral(node: Join, left: Distribution, right: At, analysis: Analysis) -> Distribution:
    fits = node.kind in ("inner", "cross", "left") and isinstance(left, Split)
    if fits and isinstance(left, Split) and _is_at(left, right, analysis.equal(node.left)):
        return left
    return MERGED


def _is_at(outer: Split, inner: At, known: Equivalence) -> bool:
    """Whether the rows an outer row needs are on that row's own shard."""
    for key in outer.keys:
        fits = key.function == inner.function and not (inner.orphaned and key.strength == "orphaned")
        if fits and all(known.equal(a, b) for a, b in zip(key.columns, inner.columns, strict=True)):
            return True
    return False


def _linked(node: Join, left: Split, right: Split, analysis: Analysis) -> tuple[Key, Key] | None:
    """A key of each side, equal in position by this ON and each side's own facts.

    Position matters: t1.p = t2.q AND t1.q = t2.p does not link (p, q) with (p, q). `IS NOT DISTINCT
    FROM` links only full keys: NULL meets NULL, and of a loose key NULLs may be anywhere.
    """
    sides = analysis.equal(node.left).joined(analysis.equal(node.right))
    plain = sides.with_pairs(equalities(node.on, analysis.types))
    null_safe = plain.with_pairs(equalities(node.on, analysis.types, null_safe=True))
    for one in left.keys:
        for other in right.keys:
            if one.function != other.function:
                continue
            if one.strength == other.strength == "orphaned":
                continue
            pairs = list(zip(one.columns, other.columns, strict=True))
            if all(plain.equal(a, b) for a, b in pairs):
                return one, other
            if one.strength == other.strength == "full" and all(null_safe.equal(a, b) for a, b in pairs):
                return one, other
    return None


def _shards_after(node: Join, left: Split, right: Split) -> Shards:
    """Routes meet only where both sides must match.

    a LEFT JOIN b ON a.k = b.k AND b.k = 2 keeps a's odd rows.
    """
    if node.kind in ("inner", "semi", "cross"):
        met = common_shards(left.shards, right.shards)
        return met or left.shards[:1]
    if node.kind == "full":
        return tuple(dict.fromkeys(left.shards + right.shards))
    return left.shards


def _keys_after(node: Join, left: Split, right: Split, linked: tuple[Key, Key] | None) -> tuple[Key, ...]:
    if node.kind in ("semi", "anti"):
        return left.keys
    if node.kind in ("inner", "cross"):
        firm = {k: replace(k, strength="full") for k in linked or () if not is_null_safe(node)}
        return tuple(dict.fromkeys(firm.get(k, _firmer(k, node.on)) for k in left.keys + right.keys))
    loosened = tuple(k.loosened() for k in right.keys)
    if node.kind == "full":
        return tuple(k.loosened() for k in left.keys) + loosened
    return left.keys + loosened


def is_null_safe(node: Join) -> bool:
    return any(type(c) is exp.NullSafeEQ for c in node.on)


# Subqueries in expressions


def _with_copied_subqueries(node: Node, below: Copied, analysis: Analysis) -> Distribution:
    """A copy, on the shards that have copies of the subqueries' rows too."""
    shards = below.shards
    for plan in subplans(node):
        inner = analysis.of(plan)
        if not isinstance(inner, Copied):
            return MERGED
        shards = _meet(shards, inner.shards)
        if shards == ():
            return MERGED
    return Copied(shards)


def _subqueries_stay(node: Node, below: Distribution, analysis: Analysis) -> bool:
    """Rule 8: whether each subquery has, on the shard of the row it is asked for, all rows it needs.

    NOT IN, ANY and ALL need all of them even if linked: `k IN (SELECT k FROM b)` as a value must be NULL, not
    FALSE, where another shard holds b's NULL; only as a conjunct, where both reject the row, may IN be split.
    """
    plans = subplans(node)
    if not plans:
        return True
    if isinstance(below, Copied):
        return all(isinstance(analysis.of(p), Copied) for p in plans)
    return all(_stays(node, plan, below, analysis) for plan in plans)


def _stays(node: Node, plan: Node, below: Distribution, analysis: Analysis) -> bool:
    inner = analysis.of(plan)
    shards = below.shards if isinstance(below, Split | At) else ()
    if isinstance(inner, Copied) and covers(inner.shards, shards):
        return True
    if isinstance(inner, At) and isinstance(below, Split) and _is_at(below, inner, analysis.equal(node)):
        return True
    if isinstance(inner, At) and inner == below:
        return True
    if isinstance(inner, Split) and isinstance(below, Split):
        return (inner.is_one and inner.shards == below.shards) or _in_linked(
            node, plan, inner, below, analysis
        )
    return False


def stays(node: Node, plan: Node, analysis: Analysis) -> bool:
    """Whether one subquery of `node` has what it needs on every shard of the rows it is asked for."""
    parts = [analysis.of(n) for n in node.inputs]
    if isinstance(node, Join):
        left, right = parts
        return _stays(node, plan, _combined(left, right), analysis)
    return _stays(node, plan, parts[0], analysis)


def _in_linked(node: Node, plan: Node, inner: Split, outer: Split, analysis: Analysis) -> bool:
    """`a.k IN (SELECT b.k …)` as a conjunct of WHERE or of an inner ON: equal keys are on one shard."""
    if isinstance(node, Filter):
        conjuncts = node.conjuncts
    elif isinstance(node, Join) and node.kind in ("inner", "cross"):
        conjuncts = node.on
    else:
        return False
    known = analysis.equal(node)
    for conjunct in conjuncts:
        if type(conjunct) is not exp.In or plan_of(conjunct.args.get("query") or exp.Null()) is not plan:
            continue
        asked = conjunct.this.expressions if isinstance(conjunct.this, exp.Tuple) else [conjunct.this]
        while len(asked) == 1 and isinstance(asked[0], exp.Paren):
            asked = [asked[0].this]
        pairs = dict(zip((o.id for o in plan.outputs), (column_id(e) for e in asked), strict=False))
        for key in outer.keys:
            for other in inner.keys:
                if key.function != other.function or key.strength == other.strength == "orphaned":
                    continue
                if all(
                    (mine := pairs.get(theirs)) is not None
                    and known.equal(mine, column)
                    and linkable(mine, theirs, analysis.types)
                    for column, theirs in zip(key.columns, other.columns, strict=True)
                ):
                    return True
    return False


# WITH


def _cte(node: Cte, analysis: Analysis) -> Distribution:
    """Rule 14: whole if the definition and the body are on one shard; else each is gathered."""
    definition = analysis.of(node.definition)
    if isinstance(definition, Copied) and definition.shards is not None:
        definition = Split(definition.shards[:1])
    body = analysis.reading(node.name, definition).of(node.body)
    if definition == ANYWHERE and isinstance(body, Split | Copied):
        return body if not isinstance(body, Split) or body.is_one else MERGED
    shard = _common_shard([definition, body])
    return Split((shard,)) if shard is not None else MERGED


def _recursive(node: Recursive, analysis: Analysis) -> Distribution:
    """Rule 12, last: a recursion is whole on one shard or on copies, or runs in the merge."""
    base = analysis.of(node.base)
    if isinstance(base, Split) and not base.is_one:
        return MERGED
    step = analysis.reading(node.name, base).of(node.step)
    if isinstance(base, Copied) and isinstance(step, Copied):
        shards = _meet(base.shards, step.shards)
        return Copied(shards) if shards is None or shards else MERGED
    shard = _common_shard([base, step])
    return Split((shard,)) if shard is not None else MERGED


def _leafless(node: Node, analysis: Analysis) -> Distribution:
    """Values or a table function with subqueries in them: as a Project of one row."""
    return _with_copied_subqueries(node, ANYWHERE, analysis)


_RULES: dict[type[Node], Callable[[Any, Analysis], Distribution]] = {
    Filter: _filter,
    Project: _project,
    Join: _join,
    Aggregate: _aggregate,
    Window: _window,
    Distinct: _distinct,
    Keep: _keep,
    Fence: _fence,
    Sort: _ordered,
    Limit: _ordered,
    SetOp: _set_operation,
    OneRow: _leafless,
    Values: _leafless,
    TableFunction: _leafless,
}
