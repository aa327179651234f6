"""Who describes and merges, by the catalog's query dialect: one object per dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from sqlglot import exp

from shardwise.catalog.model import Catalog
from shardwise.executor.describe import Describer
from shardwise.executor.describing import AnyDescriber
from shardwise.executor.merge import DuckDBMerge, MergeEngine
from shardwise.executor.pools import SourcePool
from shardwise.executor.served.describe import ServedDescriber
from shardwise.executor.served.home import Homes
from shardwise.executor.served.merge import ServedMerge
from shardwise.executor.served.products import product_of
from shardwise.executor.sqlite.describe import SQLiteDescriber
from shardwise.executor.sqlite.merge import SQLiteMerge
from shardwise.planner.dialects import query_dialect
from shardwise.planner.parse import parse
from shardwise.session.parameters import Parameters, for_engine, for_server, for_sqlite


def _as_given(params: Parameters) -> Parameters:
    return params


def _as_written(sql: str, params: Parameters) -> tuple[str, Parameters]:
    return sql, params


@dataclass(frozen=True, kw_only=True)
class Engine:
    """`values` are parameters as the engine binds them; `text` is the user's text, and its values, as the
    describer takes them."""

    merge: Callable[[Catalog, SourcePool], MergeEngine]
    describer: Callable[[Catalog, SourcePool, str], AnyDescriber]
    values: Callable[[Parameters], Parameters] = _as_given
    text: Callable[[str, Parameters], tuple[str, Parameters]] = _as_written


def _served(dialect: str) -> Engine:
    def homes(catalog: Catalog, pool: SourcePool) -> Homes:
        return Homes(pool, catalog, product_of(dialect))

    def read(sql: str) -> exp.Expr:
        return parse(sql, query_dialect(dialect))

    def read_own(sql: str) -> exp.Expr:
        (tree,) = query_dialect(dialect).trees(sql)
        return tree

    return Engine(
        merge=lambda catalog, pool: ServedMerge(homes(catalog, pool)),
        describer=lambda catalog, pool, zone: ServedDescriber(
            homes(catalog, pool), read, read_own, time_zone=zone
        ),
        text=partial(for_server, dialect=dialect),
    )


_DUCKDB: Final = Engine(
    merge=lambda _, __: DuckDBMerge(),
    describer=lambda catalog, _, zone: Describer(catalog, time_zone=zone),
    text=for_engine,
)
_ENGINES: Final[Mapping[str, Engine]] = {
    "duckdb": _DUCKDB,
    "sqlite": Engine(
        merge=lambda _, __: SQLiteMerge(),
        describer=lambda catalog, _, __: SQLiteDescriber(catalog),
        values=for_sqlite,
    ),
    "mysql": _served("mysql"),
    "postgres": _served("postgres"),
}


def engine_of(dialect: str) -> Engine:
    """The engine of a query dialect; the default's of one that queries cannot be in: the planner says so."""
    return _ENGINES.get(dialect, _DUCKDB)
