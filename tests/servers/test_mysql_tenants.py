"""A database per tenant on one MariaDB server: listed, pruned, missing, and what must not be a tenant.

MySQL's schemas are its databases: `NAMED 'shop_{tenant}.{table}'` names one for each member.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shardwise.catalog.language import parse
from shardwise.errors import OperationalError, Reason
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from tests.servers import mariadb
from tests.servers.running import new_name

SQL = "SELECT tenant, count(*), sum(v) FROM erp.orders GROUP BY tenant ORDER BY tenant"


@pytest.fixture(scope="module")
def prefix() -> Iterator[str]:
    """Tenant 1 has one order, 2 has two, 30 has thirty."""
    server, prefix = mariadb(0), new_name("tenants")
    names = [f"{prefix}_{tenant}" for tenant in (1, 2, 30)] + [f"{prefix}other"]
    for name in names:
        server.database("CREATE TABLE orders (id BIGINT, v BIGINT)", name=name)
    for tenant in (1, 2, 30):
        server.insert(f"{prefix}_{tenant}", "orders", [(n, tenant * n) for n in range(tenant)])
    yield prefix
    for name in names:
        server.run(f"DROP DATABASE `{name}`")


def cluster(prefix: str, dialect: str = "mysql") -> Cluster:
    server = mariadb(0)
    return open_cluster(
        parse(
            f"CREATE CATALOG shop DIALECT {dialect};"
            f"CREATE SOURCE main URL '{server.url(f'{prefix}other')}';"
            "CREATE SHARDING by_database USING DIRECTORY AS tenant ON main;"
            "ATTACH TABLE erp.orders (id BIGINT, v BIGINT) SHARD BY by_database (tenant BIGINT VIRTUAL)"
            f" NAMED '{prefix}_{{tenant}}.{{table}}';"
        ),
        secrets={"main": server.password},
    )


def answer(con: Cluster, sql: str) -> list[tuple[object, ...]]:
    with con.connect() as connection:
        return [tuple(map(int, row)) for row in connection.cursor().execute(sql).fetchall()]


@pytest.mark.parametrize("dialect", ["mysql", "duckdb"])
def test_databases_are_members(prefix: str, dialect: str) -> None:
    with cluster(prefix, dialect) as con:
        assert con.members("by_database") == ("1", "2", "30")
        assert answer(con, SQL) == [(1, 1, 0), (2, 2, 2), (30, 30, 13050)]
        assert answer(con, "SELECT count(*) FROM erp.orders WHERE tenant = 2") == [(2,)]
        assert answer(con, "SELECT id, v FROM erp.orders WHERE tenant IN (2, 99) ORDER BY id") == [
            (0, 0),
            (1, 2),
        ]


def test_a_database_without_the_table_is_no_empty_tenant(prefix: str) -> None:
    server = mariadb(0)
    server.database(name=f"{prefix}_7")
    try:
        with cluster(prefix) as con, pytest.raises(OperationalError) as caught:
            answer(con, SQL)
        assert caught.value.reason == Reason.SCHEMA_DRIFT
        assert f"{prefix}_7`.`orders` is missing" in caught.value.message
    finally:
        server.run(f"DROP DATABASE `{prefix}_7`")


def test_in_a_scope(prefix: str) -> None:
    with cluster(prefix) as con, con.connect(scope={"tenant": 30}) as scoped:
        assert scoped.execute("SELECT count(*), max(v) FROM erp.orders").fetchall() == [(30, 870)]
