"""Where merges run, and what is needed there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.errors import CatalogError, Error, NotSupportedError, OperationalError, ShardUnavailable
from shardwise.executor.pools import SourcePool
from shardwise.executor.served.home import Homes
from shardwise.session.cluster import Cluster
from tests.servers import mariadb, postgres
from tests.servers.running import free_port, new_name
from tests.servers.served import PASSWORD, SERVERS, served

_ROWS = [(i, f"n{i % 3}") for i in range(9)]
_COLUMNS = "id BIGINT PRIMARY KEY, name VARCHAR(40)"
_MERGED = "SELECT name, count(*) FROM t GROUP BY name ORDER BY name"
_FOUND = [("n0", 3), ("n1", 3), ("n2", 3)]


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_merge_on_names_the_home(dialect: str) -> None:
    server = SERVERS[dialect](0)
    os.environ[PASSWORD] = server.password
    url = server.url(server.database())
    with served(
        dialect, {"t": (_COLUMNS, _ROWS)}, header=f" WITH (merge_on = home); CREATE SOURCE home URL '{url}' "
        f"PASSWORD ENV '{PASSWORD}'"
    ) as world:  # fmt: skip
        assert world.found(_MERGED)[1] == _FOUND
        told = world.found(f"EXPLAIN ANALYZE {_MERGED}")[1]
        assert " on source home; " in told[-1][-1]
    with (
        served(dialect, {"t": (_COLUMNS, _ROWS)}, header=" WITH (merge_on = nowhere)") as world,
        pytest.raises(CatalogError, match="nowhere"),
    ):
        world.found(_MERGED)


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_a_source_that_is_not_there_stops_only_what_asks_it(dialect: str) -> None:
    server = SERVERS[dialect](0)
    os.environ[PASSWORD] = server.password
    tables = [server.database(f"CREATE TABLE t ({_COLUMNS})") for _ in range(2)]
    for shard, database in enumerate(tables):
        server.insert(database, "t", [row for row in _ROWS if row[0] % 3 == shard + 1])
    scheme = {"mysql": "mysql", "postgres": "postgresql"}[dialect]
    catalog = f"""
        CREATE CATALOG c DIALECT {dialect};
        CREATE SOURCE s0 URL '{scheme}://{server.user}@127.0.0.1:{free_port()}/x' PASSWORD ENV '{PASSWORD}';
        CREATE SOURCE s1 URL '{server.url(tables[0])}' PASSWORD ENV '{PASSWORD}';
        CREATE SOURCE s2 URL '{server.url(tables[1])}' PASSWORD ENV '{PASSWORD}';
        CREATE SHARDING k USING MOD 3 AS m ON s{{m}};
        ATTACH TABLE t ({_COLUMNS}) SHARD BY k (id);
    """
    with Cluster(parse(catalog), Path.cwd(), None, {}) as cluster, cluster.connect() as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) + 1 FROM t WHERE id IN (1, 2, 4)")
            assert cursor.fetchall() == [(4,)]
            cursor.execute("SELECT name FROM t WHERE id = 1")
            assert cursor.fetchall() == [("n1",)]
            cursor.execute("SELECT 1 + 1")
            assert cursor.fetchall() == [(2,)]
        with connection.cursor() as cursor, pytest.raises(ShardUnavailable, match="s0"):
            cursor.execute(_MERGED)


def test_no_server_of_the_dialect(tmp_path: Path) -> None:
    catalog = f"""
        CREATE CATALOG c DIALECT mysql;
        CREATE SOURCE s0 URL 'sqlite:///{tmp_path}/a.db';
        ATTACH TABLE t (id BIGINT) ON s0;
    """
    with (
        Cluster(parse(catalog), Path.cwd(), None, {}) as cluster,
        cluster.connect() as connection,
        pytest.raises((CatalogError, NotSupportedError), match=r"MySQL|mysql"),
    ):
        connection.cursor().execute("SELECT id FROM t")


def test_the_right_to_select_is_all_that_is_needed_of_mysql() -> None:
    user = new_name("reader")[:30]
    with served("mysql", {"t": (_COLUMNS, _ROWS)}, shards=2) as world:
        for shard in range(2):
            source = world.cluster.catalog.source(f"s{shard}")
            database = (source.url or "").rpartition("/")[2]
            mariadb(shard).run(
                f"CREATE USER {user}@'%' IDENTIFIED BY 'pw'", f"GRANT SELECT ON `{database}`.* TO {user}@'%'"
            )
        catalog, owner = world.cluster.declared.to_sql(), f"mysql://{mariadb(0).user}@"
        _reads(catalog, owner, f"mysql://{user}@")
        for shard in range(2):
            database = (world.cluster.catalog.source(f"s{shard}").url or "").rpartition("/")[2]
            mariadb(shard).run(
                f"REVOKE SELECT ON `{database}`.* FROM {user}@'%'",
                f"GRANT INSERT ON `{database}`.* TO {user}@'%'",
            )
        _is_denied(catalog, owner, f"mysql://{user}@")


def test_the_right_to_select_is_all_that_is_needed_of_postgres() -> None:
    user = new_name("reader")
    with served("postgres", {"t": (_COLUMNS, _ROWS)}, shards=2) as world:
        postgres().run(f"CREATE ROLE {user} LOGIN PASSWORD 'pw'")
        for shard in range(2):
            database = (world.cluster.catalog.source(f"s{shard}").url or "").rpartition("/")[2]
            postgres().run(
                f"REVOKE ALL ON DATABASE {database} FROM PUBLIC",
                f"GRANT CONNECT ON DATABASE {database} TO {user}",
                f"GRANT SELECT ON t TO {user}",
                f"ALTER ROLE {user} SET default_transaction_read_only = on",
                database=database,
            )
        catalog, owner = world.cluster.declared.to_sql(), f"postgresql://{postgres().user}@"
        _reads(catalog, owner, f"postgresql://{user}@")
        for shard in range(2):
            database = (world.cluster.catalog.source(f"s{shard}").url or "").rpartition("/")[2]
            postgres().run(f"REVOKE SELECT ON t FROM {user}", database=database)
        _is_denied(catalog, owner, f"postgresql://{user}@")


def _reads(catalog: str, old: str, new: str) -> None:
    """Small and large merges as another user."""
    os.environ["SHARDWISE_TEST_READER"] = "pw"
    text = catalog.replace(old, new).replace(PASSWORD, "SHARDWISE_TEST_READER")
    assert text != catalog
    with Cluster(parse(text), Path.cwd(), None, {}) as cluster, cluster.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(_MERGED)
        assert cursor.fetchall() == _FOUND
        cursor.execute("SELECT a.id, repeat(b.name, 5000) AS n FROM t AS a JOIN t AS b ON a.name = b.name")
        assert len(cursor.fetchall()) == 27


def _is_denied(catalog: str, old: str, new: str) -> None:
    """Without the right the error names the source, and the right."""
    text = catalog.replace(old, new).replace(PASSWORD, "SHARDWISE_TEST_READER")
    with (
        Cluster(parse(text), Path.cwd(), None, {}) as cluster,
        cluster.connect() as connection,
        pytest.raises(OperationalError, match=r'source "s\d": .*denied') as found,
    ):
        connection.cursor().execute(_MERGED)
    assert "SELECT" in (found.value.hint or "")


class _Lost:
    """A connection that is lost at its first statement."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, *_: Any) -> None:
        raise ConnectionResetError("lost")

    arrow = execute


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_a_home_that_is_lost_is_asked_again_once(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    with served(dialect, {"t": (_COLUMNS, _ROWS)}) as world:
        assert world.found(_MERGED)[1] == _FOUND

        def opening(losses: int) -> None:
            true = Homes._opened

            def open_(homes: Homes, name: str, zone: str) -> Any:
                home = true(homes, name, zone)
                opened.append(name)
                if len(opened) <= losses:
                    home.connection = _Lost(home.connection)
                return home

            monkeypatch.setattr(Homes, "_opened", open_)
            monkeypatch.setattr(SourcePool, "is_transient", lambda *_: True)

        opening(1)
        assert world.found(_MERGED)[1] == _FOUND
        assert len(opened) == 2
        monkeypatch.undo()
        opened.clear()
        opening(2)
        with pytest.raises(Error):
            world.found(_MERGED)
        assert len(opened) == 2
