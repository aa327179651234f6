"""CREATE, CHECK and DROP of join indexes and lookup indexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from shardwise.catalog import load
from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.index_tables import Index, fingerprint
from shardwise.catalog.model import Catalog, JoinIndex, LookupIndex, Reference, Table
from shardwise.catalog.printing import print_item
from shardwise.catalog.tables import Built, IndexState
from shardwise.catalog.types import Family, type_family
from shardwise.errors import IntegrityError, NotSupportedError, ProgrammingError, UnknownName
from shardwise.executor.guard import Guard
from shardwise.session.clock import now
from shardwise.session.indexes import kept
from shardwise.session.indexes.job import Asked, Job, prepared
from shardwise.session.indexes.shapes import Shape, look_for_twice, shape_of, twice
from shardwise.session.indexes.staging import Difference, Staging
from shardwise.session.indexes.states import forget, set_state, working

if TYPE_CHECKING:
    from shardwise.session.cluster import Cluster


class Made(NamedTuple):
    """An index that was built: its rows, the moment that they are as of, and what is to be put into the
    catalog's file, if it is not in it."""

    name: str
    rows: int
    built_at: str
    declaration: str | None


class Found(NamedTuple):
    """What differs on a shard, in words, of how many entries, and whether that was put right. Of a table that
    the application keeps no shard is told."""

    shard: str | None
    what: str
    rows: int
    is_repaired: bool


def declare(cluster: Cluster, statement: str) -> Index:
    """The index that a CREATE statement is about: the one that the catalog has, or the statement's own."""
    catalog = cluster.catalog
    given = _declared_by(catalog, statement)
    if catalog.index(given.name) is not None:
        known = existing(catalog, given.name, type(given))
        if print_item(known, catalog.dialect) != print_item(given, catalog.dialect):
            raise ProgrammingError(
                f'index "{known.name}" is declared otherwise: {print_item(known, catalog.dialect)[:-1]}',
                hint=f"Write it as it is declared, or {_dropping(known)} first, "
                "and change the catalog's file if it is in it",
            )
        return known
    return given


def _declared_by(catalog: Catalog, statement: str) -> Index:
    others = catalog.without(*catalog.indexes())
    (found,) = others.apply(statement).indexes()
    return found


def build(cluster: Cluster, index: Index, asked: Asked) -> Made:
    """Builds an index, or goes on with a build that was stopped."""
    catalog = cluster.catalog
    _refuse_copied(catalog, index)
    catalog = catalog if catalog.index(index.name) is not None else catalog.with_(index)
    shape = shape_of(catalog, index)
    _refuse_unsearchable(shape, catalog.dialect)
    seal = fingerprint(catalog, index)
    with (
        working(cluster, index.name, asked.watcher) as work,
        prepared(cluster, catalog, shape, asked) as job,
    ):
        state = cluster.catalog.state_of(index)  # as whoever worked on it before left it
        there = _begin(cluster, index, state, seal, job)
        with job.staging() as staging:
            built_at = now()
            job.read_wanted(staging, work)
            _check_unique(job, staging)
            job.read_there(staging, there)
            rows = job.put_right(staging, work)
        set_state(cluster, index, Built.VALID, seal, built_at=built_at, rows=rows)
    return Made(index.name, rows, built_at, _undeclared(cluster, index))


def check(cluster: Cluster, index: Index, asked: Asked, *, repair: bool) -> list[Found]:
    """What differs between the index table and its base tables, after it was put right if that is wanted."""
    if repair:
        kept.refuse(index, "repaired")
    if isinstance(index, LookupIndex) and index.index_table is not None:
        differing = kept.differences(cluster, index, asked.options, asked.guard)
        return [Found(None, what, rows, False) for what, rows in differing.items()]
    catalog = cluster.catalog
    shape = shape_of(catalog, index)
    seal = fingerprint(catalog, index)
    with (
        working(cluster, index.name, asked.watcher) as work,
        prepared(cluster, catalog, shape, asked, writes=repair) as job,
    ):
        state = _need_built(index, cluster.catalog.state_of(index), seal)
        there = job.writing.there()
        with job.staging() as staging:
            built_at = now()
            job.read_wanted(staging, work)
            if repair:
                _check_unique(job, staging)
            job.read_there(staging, there)
            staging.compare()
            found = [each for each in staging.differences() if any(each[1:])]
            if repair:
                _shut(cluster, index, state, Built.BUILDING, asked.guard)
                rows = job.put_right(staging, work, is_compared=True)
                set_state(cluster, index, Built.VALID, seal, built_at=built_at, rows=rows)
        return list(_told(found, job.target.shards, is_repaired=repair))


def drop(cluster: Cluster, index: Index, asked: Asked) -> None:
    """Drops the index table on all shards."""
    kept.refuse(index, "dropped")
    catalog = cluster.catalog
    is_declared = _undeclared(cluster, index) is None
    with working(cluster, index.name, asked.watcher):
        state = cluster.catalog.state_of(index)
        if state is not None:
            shape = shape_of(catalog, index)
            with prepared(cluster, catalog, shape, asked) as job:
                _shut(cluster, index, state, Built.DROPPING, asked.guard)
                job.writing.drop()
        forget(cluster, index, is_declared=is_declared)


def existing(catalog: Catalog, name: str, kind: type[LookupIndex] | type[JoinIndex]) -> Index:
    """The index of that name and kind; raises UnknownName."""
    found = catalog.index(name)
    word = "join" if kind is JoinIndex else "lookup"
    if isinstance(found, kind):
        return found
    if found is not None:
        other = "lookup" if kind is JoinIndex else "join"
        raise UnknownName(f'"{name}" is no {word} index', hint=f"It is a {other} index")
    known = [each.name for each in catalog.indexes() if isinstance(each, kind)]
    raise UnknownName(f'there is no {word} index "{name}"', hint=did_you_mean(name, known))


# ------------------------------------------------------------------ what must hold


def _refuse_copied(catalog: Catalog, index: Index) -> None:
    """Where one table is wherever the other is, its rows join on each shard as they are."""
    if not isinstance(index, JoinIndex):
        return
    tables = [catalog.relation(column.table) for column in (index.left, index.right)]
    for one, other in (tables, tables[::-1]):
        if not isinstance(one, Table) or not isinstance(other, Table):
            continue
        if isinstance(one.placement, Reference) and {*catalog.homes(other)} <= {*catalog.homes(one)}:
            raise NotSupportedError(
                f'join index "{index.name}" is not needed: "{one.full_name}" is a reference table, with all '
                f'of its rows on every shard of "{other.full_name}", so that they are joined there',
                hint="Leave the index out",
            )


def _refuse_unsearchable(shape: Shape, dialect: str) -> None:
    """Types that a product has no index for."""
    searched = {name for names in shape.searched for name in names}
    for column in shape.columns:
        family = type_family(column.type, dialect)
        name = column.type.upper()
        if column.name in searched and (
            (dialect == "duckdb" and family in _NO_INDEX)
            or (dialect == "postgres" and name in _NO_INDEX_ON_POSTGRES)
        ):
            raise NotSupportedError(
                f'column "{column.name}" of "{shape.index.name}" is {name}, by which no rows can be searched',
                hint="Index columns of other types",
            )


_NO_INDEX = frozenset({Family.NESTED, Family.INTERVAL, Family.BIT, Family.OTHER})
_NO_INDEX_ON_POSTGRES = frozenset({"JSON", "XML", "POINT", "POLYGON"})


def _begin(cluster: Cluster, index: Index, state: IndexState | None, seal: str, job: Job) -> list[str]:
    """Has the state be BUILDING; gives the shards that have an index table of a build that was stopped."""
    there = job.writing.there()
    if state is None:
        if there:
            name = job.target.names[there[0]]
            raise ProgrammingError(
                f'there is a table "{name}" on shard "{there[0]}" already, and nothing says that '
                f'it is the index table of "{index.name}"',
                hint="Rename one of them; if it is left of an index whose lock file was lost, drop it there",
            )
    elif state.state is Built.VALID and state.fingerprint == seal:
        kind = "JOIN" if isinstance(index, JoinIndex) else "LOOKUP"
        raise ProgrammingError(
            f'index "{index.name}" is built already, as of {state.built_at}',
            hint=f"CHECK {kind} INDEX … REPAIR brings it up to date",
        )
    elif state.state is Built.DROPPING or state.fingerprint != seal:
        _shut(cluster, index, state, Built.DROPPING, job.asked.guard)
        job.writing.drop()
        there = []
    else:
        _shut(cluster, index, state, Built.BUILDING, job.asked.guard)
    set_state(cluster, index, Built.BUILDING, seal)
    return there


def _shut(cluster: Cluster, index: Index, before: IndexState, to: Built, guard: Guard) -> None:
    """Nobody reads the index from now on: the state says so, and those who read it already are waited for. If
    they do not end, the state is what it was: nothing is written yet.

    Of one that is not valid, too: whoever made it so may have been killed while it waited.
    """
    set_state(cluster, index, to, before.fingerprint)
    try:
        cluster.index_readers.wait_until_left(index.name, guard)
    except BaseException:
        set_state(
            cluster, index, before.state, before.fingerprint, built_at=before.built_at, rows=before.rows
        )
        raise


def _need_built(index: Index, state: IndexState | None, seal: str) -> IndexState:
    if state is None or state.state is Built.DROPPING:
        raise ProgrammingError(f'index "{index.name}" is not built', hint="CREATE … INDEX builds it")
    if state.fingerprint != seal:
        raise ProgrammingError(
            f'index "{index.name}" was built under another declaration, or with its rows elsewhere',
            hint="CREATE … INDEX builds it anew",
        )
    return state


def _check_unique(job: Job, staging: Staging) -> None:
    index = job.shape.index
    if not isinstance(index, LookupIndex) or not index.unique:
        return
    count = staging.twice()
    if not count and job.catalog.dialect != "duckdb":  # a collation may take other spellings as the same
        ((count,),) = job.rows(twice(job.catalog, index))
    if count:
        columns = f"{index.table} ({', '.join(index.columns)})"
        values = "1 value" if count == 1 else f"{count:,} values"
        raise IntegrityError(
            f'index "{index.name}" is UNIQUE, and {values} of {columns} are in more than one row',
            hint=f"See which: {look_for_twice(index)}. If they may be, "
            f"{_dropping(index)}, and create it without UNIQUE",
        )


def _dropping(index: Index) -> str:
    kind = "JOIN" if isinstance(index, JoinIndex) else "LOOKUP"
    name = index.name.replace('"', '""')
    return f'DROP {kind} INDEX "{name}"'


def _undeclared(cluster: Cluster, index: Index) -> str | None:
    """What would declare the index in the catalog's file, if that does not."""
    if cluster.file is None:
        return None if cluster.given.index(index.name) else print_item(index, cluster.declared.dialect)
    is_there = load(cluster.file, locked=False).index(index.name) is not None
    return None if is_there else print_item(index, cluster.declared.dialect)


def _told(found: Sequence[Difference], shards: Sequence[str], *, is_repaired: bool) -> Iterator[Found]:
    for each in found:
        for what, rows in zip(_WORDS, each[1:], strict=True):
            if rows:
                yield Found(shards[each.shard], what, rows, is_repaired)


_WORDS = ("missing", "superfluous", "on the wrong shard", "wrong values")
