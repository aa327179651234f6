"""Scopes over a DIRECTORY: the scope's value is the member, and nothing is listed for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest

import shardwise
from shardwise.errors import CatalogError, DataError, NotSupportedError, ProgrammingError

FILES = """
CREATE SOURCE file_{tenant} FOR EACH tenant URL 'duckdb:///{tenant}.duckdb' READ ONLY;
CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
CREATE TABLE notes (id BIGINT PRIMARY KEY, body VARCHAR) SHARD BY by_file (tenant TYPE VIRTUAL);
CREATE TABLE tags (note_id BIGINT, tag VARCHAR) SHARD WITH notes ON note_id = notes.id;
CREATE TABLE log (what VARCHAR) SCATTERED ON by_file;
CREATE TABLE kinds (name VARCHAR) REFERENCE ON by_file;
"""
SCHEMAS = """
CREATE SOURCE all_of_them URL 'duckdb:///all.duckdb' READ ONLY;
CREATE SHARDING by_file USING DIRECTORY AS tenant ON all_of_them;
CREATE TABLE notes (id BIGINT PRIMARY KEY, body VARCHAR) SHARD BY by_file (tenant TYPE VIRTUAL)
    NAMED 't_{tenant}.{table}';
CREATE TABLE log (what VARCHAR) SCATTERED ON by_file NAMED 't_{tenant}.{table}';
"""
MEMBERS = (7, 8, 9)


def fill(con: duckdb.DuckDBPyConnection, member: int, schema: str = "main") -> None:
    """Ids repeat from member to member; of member 9 there are no notes."""
    con.execute(f"CREATE TABLE {schema}.notes (id BIGINT PRIMARY KEY, body VARCHAR)")
    con.execute(f"CREATE TABLE {schema}.tags (note_id BIGINT, tag VARCHAR)")
    con.execute(f"CREATE TABLE {schema}.log (what VARCHAR)")
    con.execute(f"CREATE TABLE {schema}.kinds AS SELECT 'kind' AS name")
    for n in range(0 if member == 9 else member):
        con.execute(f"INSERT INTO {schema}.notes VALUES ({n}, 'note {n} of {member}')")
        con.execute(f"INSERT INTO {schema}.tags VALUES ({n}, 'tag of {member}')")
        con.execute(f"INSERT INTO {schema}.log VALUES ('log of {member}')")


@pytest.fixture(scope="module", params=["files", "schemas"])
def layout(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(scope="module", params=["BIGINT", "TEXT"])
def cluster(
    layout: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp(layout)
    if layout == "files":
        for member in MEMBERS:
            with duckdb.connect(str(folder / f"{member}.duckdb")) as con:
                fill(con, member)
    else:
        with duckdb.connect(str(folder / "all.duckdb")) as con:
            for member in MEMBERS:
                con.execute(f"CREATE SCHEMA t_{member}")
                fill(con, member, f"t_{member}")
    text = (FILES if layout == "files" else SCHEMAS).replace("TYPE", request.param)
    (folder / "cluster.sql").write_text(text, encoding="utf-8")
    with shardwise.open(folder / "cluster.sql") as opened:
        yield opened


@pytest.fixture
def listings(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shardings that were listed."""
    found: list[str] = []
    members: Callable[[str], tuple[str, ...]] = cluster.members
    monkeypatch.setattr(cluster, "members", lambda name: found.append(name) or members(name))
    return found


def one(con: Any, sql: str) -> Any:
    ((found,),) = con.execute(sql).fetchall()
    return found


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("value", ["8", 8])
def test_a_member_is_its_own_scope_and_lists_nothing(
    cluster: Any, listings: list[str], value: Any, pinned: bool
) -> None:
    with cluster.connect(scope={"tenant": value}, pinned=pinned) as con:
        assert one(con, "SELECT count(*) FROM notes") == 8
        assert one(con, "SELECT count(DISTINCT body) FROM notes WHERE body LIKE '%of 8'") == 8
        assert str(one(con, "SELECT max(tenant) FROM notes")) == "8"
        assert one(con, "SELECT count(*) FROM notes a LEFT JOIN notes b USING (id, tenant)") == 8
        assert one(con, "SELECT count(*) FROM notes WHERE CAST(right(body, 1) AS INTEGER) = 8") == 8
        assert one(con, "SELECT count(*) FROM notes WHERE tenant = '7'") == 0
        plan = "\n".join(row[0] for row in con.execute("EXPLAIN SELECT * FROM notes").fetchall())
        assert "LIMIT" not in plan  # no fence: in the member's tables there is nobody else's row
        assert "7" not in plan.replace("4775807", "")
    assert listings == []


def test_tables_without_a_key_lie_with_the_member(cluster: Any, layout: str) -> None:
    with cluster.connect(scope={"by_file": 8}, pinned=True) as con:
        if layout == "schemas":
            with pytest.raises(NotSupportedError, match="SCATTERED"):
                con.execute("SELECT count(*) FROM log")
            return
        assert one(con, "SELECT count(*) FROM log WHERE what = 'log of 8'") == 8
        assert one(con, "SELECT count(*) FROM log") == 8
        assert one(con, "SELECT count(*) FROM tags") == 8
        assert one(con, "SELECT count(*) FROM notes JOIN tags ON note_id = id") == 8


def test_a_reference_table_is_read_from_the_scopes_member(cluster: Any, layout: str) -> None:
    if layout == "schemas":
        pytest.skip("a reference table lies with members that are files")
    with cluster.connect(scope={"tenant": 8}, pinned=True) as con:
        assert con.execute("SELECT name, _shard FROM kinds").fetchall() == [("kind", "file_8")]
        assert one(con, "SELECT count(*) FROM kinds LEFT JOIN notes ON TRUE") == 8
    with cluster.connect(scope={"tenant": 5}, pinned=True) as con:
        assert one(con, "SELECT count(*) FROM notes") == 0
        with pytest.raises(CatalogError, match="no member of the scope"):
            con.execute("SELECT name FROM kinds").fetchall()


def test_several_members(cluster: Any, listings: list[str]) -> None:
    with cluster.connect(scope={"tenant": [7, 9, "8"]}) as con:
        assert one(con, "SELECT count(*) FROM notes") == 15
        con.execute("SET SCOPE tenant IN (9, 7)")
        assert [str(row[0]) for row in con.execute("SELECT DISTINCT tenant FROM notes").fetchall()] == ["7"]
    assert listings == []


def test_shards_of_a_directory(cluster: Any, layout: str, listings: list[str]) -> None:
    if layout == "schemas":
        return
    with cluster.connect(scope={"shard": ["file_7", "file_9"]}) as con:
        assert one(con, "SELECT count(*) FROM notes") == 7
        assert listings == []
        assert one(con, "SELECT count(*) FROM notes JOIN tags ON id = note_id") == 7


@pytest.mark.parametrize("value", ["../8", "8/../7", "a/b", "", ".", "..", "8\0"])
def test_a_name_that_climbs_out_is_no_member(cluster: Any, value: str) -> None:
    with (
        pytest.raises((DataError, ProgrammingError)) as caught,
        cluster.connect(scope={"tenant": value}) as con,
    ):
        con.execute("SELECT count(*) FROM notes").fetchall()
    assert value not in str(caught.value) or len(value) < 3


def test_each_member_answers_by_itself(cluster: Any, layout: str, listings: list[str]) -> None:
    con = cluster.connect()
    cursor = con.each("by_file").execute("SELECT count(*), min(body) FROM notes")
    name, code = cursor.description[0][:2]
    assert (name, code) == ("tenant", "VARCHAR" if code == "VARCHAR" else "BIGINT")
    kind = int if code == "BIGINT" else str
    expected = [(kind(7), 7, "note 0 of 7"), (kind(8), 8, "note 0 of 8"), (kind(9), 0, None)]
    assert cursor.fetchall() == expected
    assert listings == ["by_file"]
    table = con.each("by_file").execute("SELECT id FROM notes ORDER BY id DESC LIMIT 2").to_arrow_table()
    assert [str(value) for value in table.column(0).to_pylist()] == ["7", "7", "8", "8"]
    assert table.column(1).to_pylist() == [6, 5, 7, 6]
    rows = con.each("by_file").execute("SELECT tenant, count(*) FROM notes GROUP BY ALL").fetchall()
    assert rows == [(kind(7), kind(7), 7), (kind(8), kind(8), 8)]
    listings.clear()
    named = [8, "5"] if layout == "files" else [8]
    some = con.each("by_file", members=named).execute("SELECT count(*) FROM notes").fetchall()
    assert some == [(kind(8), 8), (kind(5), 0)][: len(named)]
    assert listings == []
    con.execute("SET SCOPE tenant = 7")
    assert con.each("by_file").execute("SELECT count(*) FROM notes").fetchall() == [(kind(7), 7)]
    con.close()


def test_show_lists_no_members(cluster: Any, layout: str, listings: list[str]) -> None:
    for pinned in (False, True):
        with cluster.connect(scope={"tenant": 8}, pinned=pinned) as con:
            tables = {row[0]: row[3] for row in con.execute("SHOW TABLES").fetchall()}
            assert tables["notes"] is None
            shard = "file_8" if layout == "files" else "all_of_them"
            (place,) = con.execute("SHOW ROUTE FOR notes KEY ('8')").fetchall()
            assert place[:3] == (None, shard, shard)
            assert con.execute("SHOW ROUTE FOR notes KEY ('7')").fetchall() == []
    assert listings == []


def test_show_tells_what_a_connection_may_see_of_the_family(cluster: Any, layout: str) -> None:
    if layout == "schemas":
        pytest.skip("the members are schemas of one source")

    def first(con: Any, sql: str) -> list[str]:
        return [row[0] for row in con.execute(sql).fetchall()]

    con = cluster.connect()
    assert first(con, "SHOW SHARDS") == ["file_7", "file_8", "file_9"]
    assert con.execute("SHOW SOURCES").fetchall()[0][:2] == ("file_{tenant}", "duckdb:///{tenant}.duckdb")
    pinned = cluster.connect(scope={"tenant": 7}, pinned=True)
    assert first(pinned, "SHOW SHARDS") == ["file_7"]
    assert first(pinned, "SHOW SOURCES") == []


def test_an_unknown_shard_of_a_family_is_told_how_they_are_called(cluster: Any, layout: str) -> None:
    with pytest.raises(ProgrammingError, match='there is no shard "7"') as caught:
        cluster.connect(scope={"shard": "7"})
    is_told = 'those of "by_file" are file_{tenant}' in str(caught.value.hint)
    assert is_told == (layout == "files")
