"""The time zone of a mysql catalog: the servers' own, which must be the same on all of them."""

from __future__ import annotations

from datetime import datetime

import pytest

import shardwise
from shardwise.catalog.language import parse
from shardwise.errors import OperationalError
from tests.servers import mariadb, private_mariadb
from tests.servers.mariadb_server import MariaDB

pytestmark = pytest.mark.servers
T = ("CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP)", "SET time_zone = '+00:00'")


def cluster(*servers: MariaDB, header: str = "", **options: str) -> shardwise.Cluster:
    text = f"CREATE CATALOG zones DIALECT mysql {header};\n"
    for n, server in enumerate(servers):
        database = server.database(*T, f"INSERT INTO t VALUES ({n}, '2024-07-01 12:00:0{n}')")
        text += f"CREATE SOURCE s{n} URL '{server.url(database)}';\n"
    slots = ", ".join(f"s{n} = {n}" for n in range(len(servers)))
    text += f"""CREATE SHARDING by_id USING MOD {len(servers)} ({slots});
        ATTACH TABLE t (id INT, at TIMESTAMP) SHARD BY by_id (id);"""
    secrets = {f"s{n}": server.password for n, server in enumerate(servers)}
    return shardwise.open(parse(text), secrets=secrets, **options)


def first(found: shardwise.Cluster) -> list[tuple[object, ...]]:
    with found, found.connect() as con:
        return con.execute("SELECT min(at) FROM t").fetchall()


@pytest.fixture(scope="module")
def berlin() -> MariaDB:
    return private_mariadb("zone-Berlin", environment={"TZ": "Europe/Berlin"})


def test_the_servers_own(berlin: MariaDB) -> None:
    assert first(cluster(mariadb(0), mariadb(1))) == [(datetime(2024, 7, 1, 12),)]
    assert first(cluster(berlin, berlin)) == [(datetime(2024, 7, 1, 14),)]


def test_servers_that_differ(berlin: MariaDB) -> None:
    with pytest.raises(
        OperationalError, match='"s1" is Europe/Berlin, and that of source "s0" UTC'
    ) as caught:
        first(cluster(mariadb(0), berlin))
    assert "time_zone = 'UTC'" in str(caught.value)


@pytest.mark.parametrize("zone", ["+09:00", "Asia/Tokyo"])
def test_one_that_is_said(berlin: MariaDB, zone: str) -> None:
    found = cluster(mariadb(0), berlin, header=f"WITH (time_zone = '{zone}')")
    assert first(found) == [(datetime(2024, 7, 1, 21),)]
    assert first(cluster(mariadb(0), berlin, time_zone=zone)) == [(datetime(2024, 7, 1, 21),)]
