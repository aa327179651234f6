"""CHECK of a lookup index that the application keeps: its table beside the table that it leads to.

It is compared with two queries, in the catalog's dialect, as any statement would: nothing of it is written,
so nothing need be kept of the rows but their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.catalog.index_tables import IndexTable, index_table
from shardwise.catalog.model import Catalog, LookupIndex, Table
from shardwise.errors import InternalError, NotSupportedError
from shardwise.executor.guard import Guard
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.session.cluster import Cluster

ABSENT = "missing: its value is looked for on all shards"
INCOMPLETE = "missing of a value that is there: rows are not found"
SUPERFLUOUS = "superfluous: it leads to no row"


def refuse(index: object, what: str) -> None:
    """Raises NotSupportedError of an index that the application keeps."""
    if isinstance(index, LookupIndex) and index.index_table is not None:
        raise NotSupportedError(
            f'index "{index.name}" is not {what}: the application keeps "{index.index_table}", and shardwise '
            "writes nothing but index tables of its own",
            hint="CHECK LOOKUP INDEX says what differs; put it right where the application writes it, or "
            "have shardwise build one: CREATE LOOKUP INDEX",
        )


def differences(cluster: Cluster, index: LookupIndex, options: Options, guard: Guard) -> dict[str, int]:
    """How many entries differ, by what is wrong with them; none where all that rows need is there."""
    options = replace(options, trust_indexes=False, schema=None, scatter="allow")
    statements = queries(cluster.catalog, index)
    found = {}
    for what, sql in statements.items():
        with cluster.run(sql, options=options, guard=guard) as result:
            ((count,),) = result.fetchall()
        found[what] = int(count)
    found[ABSENT] -= found[INCOMPLETE]
    return {what: count for what, count in found.items() if count}


def queries(catalog: Catalog, index: LookupIndex) -> dict[str, str]:
    """A number of entries each: those the table needs and the index lacks, those of them whose value it has,
    and those that it has and the table does not need."""
    kept, base = index_table(catalog, index), catalog.relation(index.table)
    if not isinstance(base, Table):
        raise InternalError(f'"{index.table}" is no table')
    needed, there = _needed(index, base, kept), _there(kept)
    lacking = exp.except_(needed, there)
    searched = [f"c{n}" for n in range(len(index.columns))]
    same = [exp.EQ(this=_column(name, "d"), expression=_column(name, "k")) for name in searched]
    has_value = exp.Exists(
        this=exp.select(exp.Literal.number(1)).from_(there.subquery("k")).where(*same, copy=False)
    )
    counts = {
        ABSENT: exp.select("count(*)").from_(lacking.subquery("d")),
        INCOMPLETE: exp.select("count(*)").from_(lacking.copy().subquery("d")).where(has_value),
        SUPERFLUOUS: exp.select("count(*)").from_(exp.except_(there.copy(), needed.copy()).subquery("d")),
    }
    return {what: query.sql(dialect=catalog.dialect) for what, query in counts.items()}


def _needed(index: LookupIndex, base: Table, kept: IndexTable) -> exp.Select:
    """The values and keys of the table's rows; a NULL is never looked up."""
    searched = [_column(name, "t") for name in index.columns]
    keys = [_of_alias(key.expr) for key in kept.keys]
    known = [exp.Not(this=exp.Is(this=each.copy(), expression=exp.Null())) for each in searched]
    return _named([*searched, *keys]).from_(_table(base)).where(*known)


def _there(kept: IndexTable) -> exp.Select:
    columns = [_column(name, "t") for name in (*kept.searched, *(key.name for key in kept.keys))]
    return _named(columns).from_(_table(kept.table))


def _named(items: Iterable[exp.Expr]) -> exp.Select:
    return exp.select(*(item.as_(f"c{n}") for n, item in enumerate(items)))


def _of_alias(expr: exp.Expr) -> exp.Expr:
    return expr.copy().transform(lambda e: _column(e.name, "t") if type(e) is exp.Column else e)


def _column(name: str, alias: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=alias)


def _table(table: Table) -> exp.Expr:
    return exp.alias_(exp.table_(table.name, db=table.schema, quoted=True), "t", table=True)
