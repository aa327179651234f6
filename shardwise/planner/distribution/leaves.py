"""Leaves: scans are where the catalog places their table (rules 1 and 16), made rows are anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from shardwise.catalog.model import Catalog, Reference, Sharded, ShardedWith, Table
from shardwise.plan.nodes import CteRef, Empty, Gather, Local, Node, OneRow, Rows, Scan, TableFunction, Values
from shardwise.plan.tree import subplans
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.subqueries import with_copied_subqueries
from shardwise.planner.distribution.values import ANYWHERE, MERGED, Copied, Distribution, Key, Split, Strength
from shardwise.planner.equivalence import comparison_of, is_one_text, key_family


def of_leaf(node: Node, analysis: Questions) -> Distribution | None:
    if isinstance(node, Scan):
        return _scan(node, analysis.catalog)
    if isinstance(node, OneRow | Values | Empty | TableFunction):
        return ANYWHERE if not subplans(node) else None
    if isinstance(node, Local | Gather):
        return MERGED
    if isinstance(node, Rows):
        return ANYWHERE if node.is_sent else MERGED
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


def of_made_rows(node: Node, analysis: Questions) -> Distribution:
    """Values or a table function with subqueries in them: as a Project of one row."""
    return with_copied_subqueries(node, ANYWHERE, analysis)
