"""Which indexes over shards a statement may use, and why not the others: asked by the passes that use them.

An index answers as of its build, so it is used only where that is asked for (`trust_indexes`), if it is valid
and was built of this catalog. In a connection's scope none is: its rows are everybody's. A table that the
application keeps (ATTACH) is as the application keeps it.
"""

from __future__ import annotations

from shardwise.catalog.index_tables import IndexTable, fingerprint, why_no_table
from shardwise.catalog.model import Built, Column, IndexState, JoinIndex, LookupIndex, Table
from shardwise.catalog.types import Family, read_type, type_family
from shardwise.plan.nodes import Cte, Node, Recursive, Scan
from shardwise.plan.reasons import OfIndex
from shardwise.plan.route import Note
from shardwise.plan.tree import walk
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.scans import scan_of

Index = LookupIndex | JoinIndex


def usable(index: Index, plan: Node, ctx: PlanContext) -> IndexTable | None:
    """The table of an index that serves the statement; None, and a note, where it may not be used."""
    note = objection(index, plan, ctx)
    if note is not None:
        tell(note, ctx)
        return None
    return ctx.catalog.index_tables[index.name.casefold()]


def tell(note: Note, ctx: PlanContext) -> None:
    if note not in ctx.notes:
        ctx.notes.append(note)


def not_used(index: Index, reason: OfIndex, why: str) -> Note:
    return Note(reason, f"{_not_used(index)}{why}")


def _not_used(index: Index) -> str:
    return f"{_title(index)} is not used: "


def _title(index: Index) -> str:
    """An index as messages name it."""
    return f"{'join' if isinstance(index, JoinIndex) else 'lookup'} index {index.name}"


def forget(index: Index, reasons: tuple[OfIndex, ...], ctx: PlanContext) -> None:
    """Takes back why an index does not stand for its tables, where it is used in another way."""
    told = _not_used(index)
    ctx.notes[:] = [n for n in ctx.notes if n.slug not in reasons or not n.sentence.startswith(told)]


def tell_used(index: Index, ctx: PlanContext, joined: str = "") -> None:
    if isinstance(index, LookupIndex) and index.index_table is not None:
        how = f"answers as the application keeps {index.index_table}"
    else:
        state = ctx.catalog.state_of(index)
        if state is not None:
            ctx.indexes.add(state)
        built_at = state.built_at if state is not None else None
        how = f"answers as of the build{f', {built_at}' if built_at else ''}"
    tell(Note(OfIndex.USED, f"{_title(index)} {how}{joined}"), ctx)


def may_be_used(tree: Node, ctx: PlanContext) -> frozenset[IndexState]:
    """The states of all indexes that may serve a statement, in whichever way it is planned in the end."""
    if not ctx.trusts_indexes or ctx.is_scoped:
        return frozenset()
    tables = {scan.table.full_name.casefold() for scan in walk(tree) if isinstance(scan, Scan)}
    states = (ctx.catalog.state_of(i) for i in ctx.catalog.indexes() if tables & _bases(i, ctx))
    return frozenset(state for state in states if state is not None and state.state is Built.VALID)


def _bases(index: Index, ctx: PlanContext) -> set[str]:
    """The names of the tables that it is an index of."""
    names = [index.left.table, index.right.table] if isinstance(index, JoinIndex) else [index.table]
    found = map(ctx.catalog.relation, names)
    return {table.full_name.casefold() for table in found if isinstance(table, Table)}


def objection(index: Index, plan: Node, ctx: PlanContext) -> Note | None:
    """Why an index may not be used; None if it may."""
    problem = why_no_table(ctx.catalog, index)
    if problem is not None:
        return not_used(index, OfIndex.NO_TABLE, problem)
    if not ctx.trusts_indexes:
        return not_used(index, OfIndex.NOT_TRUSTED, "trust_indexes is off, and it may be out of date")
    if ctx.is_scoped:
        return not_used(index, OfIndex.IN_SCOPE, "the connection has a scope")
    if isinstance(index, LookupIndex) and index.index_table is not None:
        return None
    state = ctx.catalog.state_of(index)
    if state is None:
        return not_used(index, OfIndex.NOT_BUILT, "it is not built")
    if state.state is not Built.VALID:
        return not_used(index, OfIndex.NOT_VALID, f"its state is {state.state.lower()}")
    if state.fingerprint != fingerprint(ctx.catalog, index):
        return not_used(index, OfIndex.OUTDATED, "what it was built of has changed in the catalog")
    if _is_hidden(index, plan):
        return not_used(index, OfIndex.NO_TABLE, "the statement has a WITH item of its name")
    return None


def scan_of_index(index: Index, found: IndexTable, ctx: PlanContext) -> Scan:
    """A new scan of the index's table."""
    scan = scan_of(found.table, index.name, ctx.names, ctx.catalog, ctx.dialect)
    ctx.learn(scan)
    return scan


def _is_hidden(index: Index, plan: Node) -> bool:
    wanted = index.name.casefold()
    return any(isinstance(n, Cte | Recursive) and n.name.casefold() == wanted for n in walk(plan))


# ------------------------------------------------------------------ equalities


def compares_alike_anywhere(column: Column, ctx: PlanContext) -> bool:
    """Whether a column of another table that is declared alike compares alike.

    A text without a declared collation has its table's, if the dialect has such. MySQL's FLOATs are rounded
    on their way.
    """
    if column.collation is not None or _family(column, ctx) not in (Family.TEXT, Family.ENUM):
        read = read_type(column.type, ctx.catalog.dialect)
        return read is None or ctx.catalog.dialect != "mysql" or read.name not in ("FLOAT", "FLOAT4")
    return ctx.dialect.collation(column) is None


def compare_alike(one: Column, other: Column, ctx: PlanContext) -> bool:
    """Whether a constant equals a value of the one where it equals that value in the other."""
    family = _family(one, ctx)
    if family is not _family(other, ctx) or family in _UNLIKE:
        return False
    if _is_padded(one, ctx) is not _is_padded(other, ctx):
        return False
    collations = {(ctx.dialect.collation(c) or "").casefold() for c in (one, other)}
    return len(collations) == 1 and all(compares_alike_anywhere(c, ctx) for c in (one, other))


def _is_padded(column: Column, ctx: PlanContext) -> bool:
    read = read_type(column.type, ctx.catalog.dialect)
    return read is not None and read.name in _PADDED


_UNLIKE = frozenset({Family.ENUM, Family.JSON, Family.BIT, Family.NESTED, Family.OTHER})
_PADDED = frozenset({"CHAR", "CHARACTER", "BPCHAR", "NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER"})


def _family(column: Column, ctx: PlanContext) -> Family:
    return type_family(column.type, ctx.catalog.dialect)
