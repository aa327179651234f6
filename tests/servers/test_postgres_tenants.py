"""A schema per tenant on one PostgreSQL database: listed, pruned, missing, and what must not be a tenant."""

from __future__ import annotations

import pytest

from shardwise.catalog.language import parse
from shardwise.errors import OperationalError, Reason
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from tests.servers import postgres

SQL = "SELECT tenant, count(*), sum(v) FROM erp.orders GROUP BY tenant ORDER BY tenant"


@pytest.fixture(scope="module")
def database() -> str:
    """Tenant 1 has one order, 2 has two, 30 has thirty."""
    statements = ["CREATE SCHEMA other", "CREATE TABLE other.orders (id bigint, v bigint)"]
    for tenant in (1, 2, 30):
        rows = f"SELECT i::bigint AS id, ({tenant} * i)::bigint AS v FROM generate_series(0, {tenant} - 1) i"
        statements += [
            f"CREATE SCHEMA tenant_{tenant}",
            f"CREATE TABLE tenant_{tenant}.orders AS {rows}",
        ]
    return postgres().database(*statements)


def cluster(database: str, dialect: str = "duckdb") -> Cluster:
    server = postgres()
    return open_cluster(
        parse(
            f"CREATE CATALOG shop DIALECT {dialect};"
            f"CREATE SOURCE main URL '{server.url(database)}';"
            "CREATE SHARDING by_schema USING DIRECTORY AS tenant ON main;"
            "ATTACH TABLE erp.orders (id BIGINT, v BIGINT) SHARD BY by_schema (tenant BIGINT VIRTUAL)"
            " NAMED 'tenant_{tenant}.{table}';"
        ),
        secrets={"main": server.password},
    )


def answer(con: Cluster, sql: str) -> list[tuple[object, ...]]:
    with con.connect() as connection:
        return [tuple(map(int, row)) for row in connection.cursor().execute(sql).fetchall()]


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_schemas_are_members(database: str, dialect: str) -> None:
    with cluster(database, dialect) as con:
        assert con.members("by_schema") == ("1", "2", "30")
        assert answer(con, SQL) == [(1, 1, 0), (2, 2, 2), (30, 30, 13050)]
        assert answer(con, "SELECT count(*) FROM erp.orders WHERE tenant = 2") == [(2,)]
        assert answer(con, "SELECT id, v FROM erp.orders WHERE tenant IN (2, 99) ORDER BY id") == [
            (0, 0),
            (1, 2),
        ]


def test_a_schema_without_the_table_is_no_empty_tenant(database: str) -> None:
    server = postgres()
    server.run("CREATE SCHEMA tenant_7", database=database)
    try:
        with cluster(database) as con, pytest.raises(OperationalError) as caught:
            answer(con, SQL)
        assert caught.value.reason == Reason.SCHEMA_DRIFT
        assert 'table "tenant_7.orders" is missing' in caught.value.message
    finally:
        server.run("DROP SCHEMA tenant_7", database=database)
