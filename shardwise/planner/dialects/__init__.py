"""The query dialects, each one object: what is asked of a dialect is asked of it, nowhere by its name."""

from __future__ import annotations

from shardwise.catalog.model import Catalog
from shardwise.errors import NotSupportedError
from shardwise.planner.dialects.base import Dialect
from shardwise.planner.dialects.duckdb import DUCKDB
from shardwise.planner.dialects.mysql import MYSQL
from shardwise.planner.dialects.postgres import POSTGRES
from shardwise.planner.dialects.sqlite import SQLITE

__all__ = ["DUCKDB", "Dialect", "find_dialect", "query_dialect", "refuse_other_sources"]

_DIALECTS = {dialect.name: dialect for dialect in (DUCKDB, MYSQL, POSTGRES, SQLITE)}


def find_dialect(name: str) -> Dialect | None:
    """The dialect of this name, None if queries cannot be in it."""
    return _DIALECTS.get(name)


def refuse_other_sources(catalog: Catalog) -> None:
    """Raises where sources are of another product than the one whose dialect the catalog is in."""
    dialect = find_dialect(catalog.dialect)
    others = sorted(catalog.dialects - {catalog.dialect}) if dialect is not None and dialect.is_alone else ()
    if not others:
        return
    own, other = catalog.dialect, others[0]
    is_theirs = catalog.dialects == {other} and other in _DIALECTS and other != DUCKDB.name
    theirs = f"DIALECT {other}; or " if is_theirs else ""
    raise NotSupportedError(
        f"a catalog of the {own} dialect has sources of {own} only, not of {other}",
        hint=f"Write CREATE CATALOG … {theirs}DIALECT duckdb to ask sources of several products at once",
    )


def query_dialect(name: str) -> Dialect:
    """The dialect that a catalog says its queries are in."""
    dialect = _DIALECTS.get(name)
    if dialect is None:
        raise NotSupportedError(
            f'the query dialect "{name}" is not supported yet',
            hint="Write CREATE CATALOG … DIALECT duckdb, mysql, postgres or sqlite",
        )
    return dialect
