"""A file per tenant: what is listed, what is opened, and what a tenant that is not there owes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shardwise.catalog import parse
from shardwise.errors import DataError, Error, NotSupportedError, Reason, ShardUnavailable
from shardwise.executor.backends import backend_of
from shardwise.executor.backends.base import Location, OpenSource, SourceOptions
from shardwise.inspection import Extent, check, import_tables
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from shardwise.session.listing import Lister
from tests.integration.session.tenants import answer, cluster, oracle, write

PRODUCTS = ("duckdb", "sqlite", "parquet")
TENANTS = {
    "acme": [(1, "a", 1.5), (2, "b", None), (3, None, 2.0)],
    "globex": [(1, "x", 0.5), (7, "a", 9.0)],
    "Zed é": [],
    "o'neill": [(1, "a", 1.5)],
}


@pytest.fixture(params=PRODUCTS)
def product(request: Any) -> str:
    return str(request.param)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The listings that are taken."""
    found: list[str] = []
    members = Lister.members
    monkeypatch.setattr(Lister, "members", lambda self, name: (found.append(name), members(self, name))[1])
    return found


def fill(folder: Path, product: str) -> None:
    for tenant, rows in TENANTS.items():
        write(folder, tenant, rows, product=product)


QUERIES = (
    "SELECT * FROM notes ORDER BY ALL",
    "SELECT count(*), sum(size), min(body) FROM notes",
    "SELECT tenant, count(*), sum(id) FROM notes GROUP BY tenant ORDER BY tenant",
    "SELECT DISTINCT tenant FROM notes ORDER BY 1",
    "SELECT count(DISTINCT tenant), max(tenant), min(tenant) FROM notes",
    "SELECT tenant, id FROM notes ORDER BY tenant DESC, id LIMIT 3",
    "SELECT * FROM notes WHERE tenant = 'acme' ORDER BY id",
    "SELECT count(*), max(id) FROM notes WHERE tenant = 'nobody'",
    "SELECT * FROM notes WHERE tenant = 'nobody'",
    "SELECT count(*) FROM notes WHERE tenant = 'ACME'",
    "SELECT tenant, id FROM notes WHERE tenant IN ('acme', 'nobody', 'o''neill') ORDER BY ALL",
    "SELECT tenant, count(*) FROM notes WHERE tenant <> 'acme' GROUP BY ALL ORDER BY ALL",
    "SELECT tenant, count(*) FROM notes WHERE tenant > 'b' GROUP BY ALL ORDER BY ALL",
    "SELECT tenant, count(*) FROM notes WHERE tenant BETWEEN 'a' AND 'globex' GROUP BY ALL ORDER BY ALL",
    "SELECT tenant, count(*) FROM notes WHERE tenant LIKE 'a%' GROUP BY ALL ORDER BY ALL",
    "SELECT DISTINCT tenant FROM notes WHERE lower(tenant) = 'zed é' OR tenant = 'acme' ORDER BY 1",
    "SELECT count(*) FROM notes WHERE tenant IS NULL",
    "SELECT count(*) FROM notes WHERE tenant IS NOT NULL AND id = 1",
    "SELECT count(*) FROM notes WHERE tenant = 'acme' AND tenant = 'globex'",
    "SELECT count(*) FROM notes WHERE NOT tenant IN ('acme', 'globex')",
    "SELECT tenant || '!', upper(tenant) FROM notes ORDER BY ALL",
    "SELECT a.*, b.id FROM notes a JOIN notes b ON a.tenant = b.tenant AND a.id < b.id ORDER BY ALL",
    "SELECT a.*, b.tenant FROM notes a LEFT JOIN notes b ON a.id = b.id AND a.tenant < b.tenant ORDER BY ALL",
    "SELECT a.id, b.id FROM notes a JOIN notes b USING (tenant) WHERE a.tenant = 'acme' ORDER BY ALL",
    "SELECT t, n.id FROM (VALUES ('acme'), ('nobody')) v(t) LEFT JOIN notes n ON n.tenant = v.t ORDER BY ALL",
    "SELECT * FROM (VALUES ('x')) v(t) LEFT JOIN (SELECT * FROM notes WHERE tenant = 'nobody') n ON true",
    "SELECT tenant, id, row_number() OVER (PARTITION BY tenant ORDER BY id) FROM notes ORDER BY ALL",
    "SELECT * FROM notes n WHERE id = (SELECT max(id) FROM notes m WHERE m.tenant = n.tenant) ORDER BY ALL",
    "SELECT id FROM notes WHERE tenant = (SELECT min(tenant) FROM notes WHERE size > 1) ORDER BY 1",
    "SELECT tenant FROM notes GROUP BY tenant HAVING count(*) > 1 ORDER BY 1",
    "SELECT tenant FROM notes UNION SELECT tenant FROM notes WHERE tenant = 'acme' ORDER BY 1",
    "SELECT tenant FROM notes EXCEPT SELECT tenant FROM notes WHERE tenant = 'acme' ORDER BY 1",
    "SELECT tenant, body, count(*) FROM notes GROUP BY ROLLUP (tenant, body) ORDER BY ALL",
    "WITH t AS (SELECT tenant, max(size) s FROM notes GROUP BY 1) SELECT a.*, b.s FROM t a, t b ORDER BY ALL",
    "SELECT EXISTS (SELECT 1 FROM notes WHERE tenant = 'nobody')",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_answers_are_those_of_one_database(sql: str, families: dict[str, Any], product: str) -> None:
    expected = families["oracle"].execute(sql).fetchall()
    assert answer(families[product], sql) == expected


@pytest.mark.parametrize("sql", QUERIES)
def test_without_members_tables_are_empty(sql: str, no_members: tuple[Any, Any]) -> None:
    empty, one = no_members
    expected = one.execute(sql)
    with empty.connect() as con:
        found = con.cursor().execute(sql)
        assert [c[0] for c in found.description] == [c[0] for c in expected.description]
        assert found.fetchall() == expected.fetchall()


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Any:
    found: dict[str, Any] = {"oracle": oracle(TENANTS)}
    for product in PRODUCTS:
        folder = tmp_path_factory.mktemp(product)
        fill(folder, product)
        found[product] = cluster(folder, product=product)
    yield found
    for each in found.values():
        each.close()


@pytest.fixture(scope="module")
def no_members(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with cluster(tmp_path_factory.mktemp("none")) as empty, oracle({}) as one:
        yield empty, one


@pytest.mark.parametrize(
    "where",
    [
        "tenant = 'acme'",
        "tenant IN ('acme', 'nobody')",
        "tenant = ? AND id > 0",
        "_shard = 'file_acme'",
        "_source = 'file_acme'",
        "(tenant = 'acme' AND id = 1) OR (tenant = 'globex' AND id = 2)",
    ],
)
def test_a_statement_that_names_its_tenants_lists_nothing(
    where: str, tmp_path: Path, listed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "sqlite")
    params = ["acme"] if "?" in where else []
    with cluster(tmp_path, product="sqlite") as con:
        scanned: list[object] = []
        scandir = os.scandir
        monkeypatch.setattr(os, "scandir", lambda path: (scanned.append(path), scandir(path))[1])
        for sql in (
            f"SELECT count(*) FROM notes WHERE {where}",
            f"EXPLAIN SELECT * FROM notes WHERE {where}",
        ):
            assert answer(con, sql, params)
        assert listed == []
        assert scanned == []
        assert con.pool.open_count() <= 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM notes",
        "SELECT count(*) FROM notes a, notes b WHERE a.tenant = 'acme'",
        "SELECT count(*) FROM notes WHERE tenant = (SELECT max(tenant) FROM notes)",
        "SELECT count(*) FROM notes WHERE tenant = 'acme' OR id = 1",
        "SELECT a.id FROM notes a JOIN notes b ON a.id = b.id WHERE b.size > (SELECT avg(size) FROM notes)",
        "EXPLAIN SELECT count(*) FROM notes",
        "EXPLAIN ANALYZE SELECT count(*) FROM notes",
    ],
)
def test_others_take_one_listing(sql: str, tmp_path: Path, listed: list[str]) -> None:
    fill(tmp_path, "sqlite")
    with cluster(tmp_path, product="sqlite") as con:
        answer(con, sql)
    assert listed == ["by_file"]


def test_a_name_that_leads_elsewhere_is_refused(
    product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path, "acme", [(1, "secret", 1.0)], product=product)
    with cluster(tmp_path / "in", product=product) as con:
        opened: list[str] = []
        monkeypatch.setattr(con.pool, "lease", opened.append)
        for name in (
            *(
                "../acme",
                "..",
                ".",
                "",
                "/etc/passwd",
                "a/b",
                "a\\b",
                "a\0b",
                "a\nb",
                "{tenant}",
                "a}",
                "*",
                "a?b",
            ),
            *("[a]", "x" * 300, "\u202eacme", ".hidden", "../acme\0"),
        ):
            for where in ("tenant = ?", "tenant IN ('acme', ?)", "tenant = ? AND id = 1"):
                with pytest.raises(DataError, match="cannot be a member") as caught:
                    answer(con, f"SELECT count(*) FROM notes WHERE {where}", [name])
                assert caught.value.reason == Reason.MEMBER_NAME
                assert len(name) < 5 or name not in str(caught.value)
        assert not opened


def test_other_names_are_names(product: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path, "acme", [(1, "secret", 1.0)], product=product)
    names = ["%2e%2e%2facme", "．．／acme", "a b", "100%", "#1", "a:b", "-x", "~", "e\u0301", "x'; --"]
    sql = "SELECT tenant, id FROM notes WHERE tenant = ?"
    with cluster(tmp_path / "in", product=product) as con:
        for number, name in enumerate(names):
            assert answer(con, sql, [name]) == []
            write(tmp_path / "in", name, [(number, "x", 1.0)], product=product)
            assert answer(con, sql, [name]) == [(name, number)]
            assert answer(con, "SELECT id FROM notes WHERE _shard = ?", [f"file_{name}"]) == [(number,)]
        assert con.members("by_file") == tuple(sorted(names))
        assert answer(con, "SELECT sum(id) FROM notes") == [(sum(range(len(names))),)]


@pytest.mark.parametrize("bad", [".x", "a{b", "a\nb", "[a]", "Acme", "ACME"])
def test_a_listing_refuses_names_that_cannot_be_named(bad: str, tmp_path: Path) -> None:
    fill(tmp_path, "sqlite")
    write(tmp_path, bad, [], product="sqlite")
    with cluster(tmp_path, product="sqlite") as con:
        with pytest.raises(DataError, match="member") as caught:
            answer(con, "SELECT count(*) FROM notes")
        assert caught.value.reason == Reason.MEMBER_NAME
        assert answer(con, "SELECT count(*) FROM notes WHERE tenant = 'acme'") == [(3,)]


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.db"
    Path(os.fsdecode(path)).touch()
    with cluster(tmp_path, product="sqlite") as con, pytest.raises(DataError, match="cannot be printed"):
        con.members("by_file")


def test_what_does_not_match_the_template_is_not_a_member(tmp_path: Path) -> None:
    write(tmp_path, "acme", [(1, "a", 1.0)], product="sqlite")
    (tmp_path / "acme.db-wal").touch()
    (tmp_path / "notes.txt").touch()
    (tmp_path / ".lock").touch()
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "gone.db").symlink_to(tmp_path / "nowhere")
    with cluster(tmp_path, product="sqlite") as con:
        assert con.members("by_file") == ("acme",)
        assert answer(con, "SELECT count(*) FROM notes") == [(1,)]
        assert answer(con, "SELECT count(*) FROM notes WHERE tenant = 'gone'") == [(0,)]


def test_opening_makes_no_file(product: str, tmp_path: Path) -> None:
    with cluster(tmp_path, product=product) as con:
        assert answer(con, "SELECT count(*) FROM notes WHERE tenant = 'nobody'") == [(0,)]
        assert answer(con, "SELECT count(*) FROM notes") == [(0,)]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_is_no_empty_folder(product: str, tmp_path: Path) -> None:
    with cluster(tmp_path / "unmounted", product=product) as con:
        for sql in ("SELECT count(*) FROM notes", "SELECT count(*) FROM notes WHERE tenant = 'acme'"):
            with pytest.raises(ShardUnavailable, match=r"unmounted.* does not exist"):
                answer(con, sql)


def test_files_come_and_go_between_statements(product: str, tmp_path: Path) -> None:
    named, every = "SELECT count(*) FROM notes WHERE tenant = 'acme'", "SELECT count(*) FROM notes"
    with cluster(tmp_path, product=product) as con:
        assert answer(con, named) == [(0,)]
        path = write(tmp_path, "acme", [(1, "a", 1.0)], product=product)
        assert answer(con, named) == answer(con, every) == [(1,)]
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert answer(con, named) == answer(con, every) == [(0,)]
        write(tmp_path, "acme", [(1, "a", 1.0), (2, "a", 1.0)], product=product)
        assert answer(con, named) == answer(con, every) == [(2,)]


def test_a_file_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    with cluster(tmp_path, product="sqlite") as con:
        write(tmp_path, "acme", [(1, "a", 1.0)], product="sqlite")
        assert answer(con, "SELECT count(*) FROM notes WHERE tenant = 'acme'") == [(1,)]
        write(tmp_path / "new", "acme", [], product="sqlite").rename(tmp_path / "acme.db")
        assert answer(con, "SELECT count(*) FROM notes WHERE tenant = 'acme'") == [(0,)]


@pytest.mark.parametrize(
    "sql", ["SELECT count(*), sum(id) FROM notes", "SELECT id FROM notes", "SELECT max(id) FROM notes"]
)
def test_a_file_that_vanishes_after_the_listing_reads_as_empty(
    sql: str, product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "acme", [(1, "a", 1.0)], product=product)
    members = Lister.members
    monkeypatch.setattr(Lister, "members", lambda self, name: (*members(self, name), "gone", "gone2"))
    with cluster(tmp_path, product=product) as con, oracle({"acme": [(1, "a", 1.0)]}) as one:
        assert answer(con, sql) == one.execute(sql).fetchall()


def test_a_reference_table_on_a_missing_member_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "acme", [(1, "a", 1.0)])
    tables = ("notes (id BIGINT) REFERENCE ON by_file",)
    with cluster(tmp_path, tables=tables) as con:
        assert answer(con, "SELECT count(*) FROM notes") == [(1,)]
        monkeypatch.setattr(Lister, "members", lambda self, name: ("aaa", "acme"))
        with pytest.raises(ShardUnavailable, match="does not exist"):
            answer(con, "SELECT count(*) FROM notes")


def test_few_files_are_open_at_a_time(product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        write(tmp_path, f"t{number}", [(number, "a", 1.0)], product=product)
    backend = backend_of(product, "")
    now, most, lock = 0, 0, threading.Lock()

    def opened(location: Location, options: SourceOptions) -> OpenSource:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        source = type(backend).open(backend, location, options)
        close = source.close

        def closed() -> None:
            nonlocal now
            close()
            with lock:
                now -= 1

        source.close = closed  # type: ignore[method-assign]
        return source

    monkeypatch.setattr(backend, "open", opened)
    with cluster(tmp_path, product=product, options="WITH (open_max = 3)") as con:
        for _ in range(2):
            assert answer(con, "SELECT sum(id) FROM notes") == [(66,)]
        assert len(con._resources.workers._threads._threads) <= 32
    assert 1 <= most <= 3
    assert now == 0


@pytest.mark.parametrize(
    ("product", "table"),
    [("duckdb", "notes"), ("parquet", "crm.notes"), ("sqlite", "crm.notes"), ("sqlite", "notes")],
)
def test_columns_are_learned_from_a_few_members(
    product: str, table: str, tmp_path: Path, listed: list[str]
) -> None:
    for number in range(20):
        write(tmp_path, f"t{number:02}", [(number, "a", 1.0)], product=product)
    every = f"{table.removesuffix('notes')}*"
    with cluster(
        tmp_path, product=product, tables=(f"{every} SHARD BY by_file (tenant TEXT VIRTUAL)",)
    ) as con:
        assert answer(con, f"SELECT tenant, id FROM {table} WHERE tenant = 't03'") == [("t03", 3)]
        assert listed == ["by_file"]
        assert con.pool.open_count() == 2


def test_the_first_members_may_lack_the_table(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    write(tmp_path, "b", [(4, "a", 1.0)])
    with cluster(tmp_path, tables=("notes SHARD BY by_file (tenant TEXT VIRTUAL)",)) as con:
        assert answer(con, "SELECT id FROM notes WHERE tenant = 'b'") == [(4,)]


def test_members_in_folders_of_their_own(tmp_path: Path) -> None:
    for tenant in ("acme", "globex"):
        (tmp_path / tenant).mkdir()
        write(tmp_path / tenant, "app", [(len(tenant), "a", 1.0)], product="sqlite")
    (tmp_path / "empty").mkdir()
    with cluster(tmp_path, product="sqlite") as con:
        catalog = con.declared.to_sql().replace("{tenant}.db", "{tenant}/app.db")
    with open_cluster(parse(catalog)) as con:
        assert con.members("by_file") == ("acme", "globex")
        assert answer(con, "SELECT tenant, id FROM notes ORDER BY 1") == [("acme", 4), ("globex", 6)]
        assert answer(con, "SELECT count(*) FROM notes WHERE tenant = 'empty'") == [(0,)]


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A schema per tenant in one file: tenant 1 has one order, 2 has two, 30 has thirty."""
    path = tmp_path / "lake.duckdb"
    with duckdb.connect(str(path)) as db:
        for tenant in (1, 2, 30):
            db.execute(f"CREATE SCHEMA tenant_{tenant}")
            db.execute(
                f"CREATE TABLE tenant_{tenant}.orders AS SELECT i AS id, {tenant} * i AS v FROM range({tenant}) t(i)"  # noqa: E501
            )
        db.execute("CREATE SCHEMA other")
        db.execute("CREATE TABLE other.orders (id BIGINT)")
    return path


def schemas(path: Path, table: str) -> Cluster:
    return open_cluster(
        parse(
            f"CREATE SOURCE lake URL 'duckdb:///{path}';"
            "CREATE SHARDING by_schema USING DIRECTORY AS tenant ON lake;"
            f"ATTACH TABLE {table} SHARD BY by_schema (tenant BIGINT VIRTUAL) NAMED 'tenant_{{tenant}}.{{table}}';"  # noqa: E501
        )
    )


@pytest.mark.parametrize("table", ["erp.orders (id BIGINT, v BIGINT)", "erp.orders", "erp.*"])
def test_schemas_are_members(table: str, lake: Path, listed: list[str]) -> None:
    sql = "SELECT tenant, count(*), sum(v) FROM erp.orders GROUP BY tenant ORDER BY tenant"
    with schemas(lake, table) as con:
        assert answer(con, sql) == [(1, 1, 0), (2, 2, 2), (30, 30, 13050)]
        listed.clear()
        assert answer(con, "SELECT count(*) FROM erp.orders WHERE tenant = 2") == [(2,)]
        assert answer(con, "SELECT * FROM erp.orders WHERE tenant IN (2, 99) ORDER BY id") == [
            (0, 0, 2),
            (1, 2, 2),
        ]
        assert answer(con, "SELECT count(*), max(id) FROM erp.orders WHERE tenant = 99") == [(0, None)]
        assert listed == []
        assert answer(con, "SELECT tenant, max(v) FROM erp.orders WHERE tenant > 5 GROUP BY 1") == [(30, 870)]
        assert con.members("by_schema") == ("1", "2", "30")


def test_a_schema_without_its_table_is_an_error(lake: Path) -> None:
    with duckdb.connect(str(lake)) as db:
        db.execute("CREATE SCHEMA tenant_4")
    with schemas(lake, "erp.orders (id BIGINT, v BIGINT)") as con, pytest.raises(Error, match="tenant_4"):
        answer(con, "SELECT count(*) FROM erp.orders")


def test_members_by_a_query(tmp_path: Path) -> None:
    for tenant in ("acme", "globex", "old"):
        write(tmp_path, tenant, [(len(tenant), "a", 1.0)], product="sqlite")
    with duckdb.connect(str(tmp_path / "main.duckdb")) as db:
        db.execute("CREATE TABLE accounts (slug TEXT, active BOOLEAN)")
        db.execute(
            "INSERT INTO accounts VALUES ('acme', true), ('globex', true), ('old', false), ('new', true)"
        )
    text = f"""
        CREATE SOURCE main URL 'duckdb:///{tmp_path}/main.duckdb';
        CREATE SOURCE file_{{t}} FOR EACH t FROM (SELECT slug FROM accounts WHERE active) URL 'sqlite:///{tmp_path}/{{t}}.db';
        CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{{tenant}};
        ATTACH TABLE accounts ON main;
        ATTACH TABLE notes SHARD BY by_file (tenant TEXT VIRTUAL);
    """
    with open_cluster(parse(text)) as con:
        assert answer(con, "SELECT tenant, id FROM notes ORDER BY 1") == [("acme", 4), ("globex", 6)]
        assert con.members("by_file") == ("acme", "globex", "new")
        assert answer(con, "SELECT id FROM notes WHERE tenant = 'old'") == [(3,)]
        joined = "SELECT slug, count(id) FROM accounts LEFT JOIN notes ON tenant = slug GROUP BY 1 ORDER BY 1"
        assert answer(con, joined) == [("acme", 1), ("globex", 1), ("new", 0), ("old", 0)]
        imported = import_tables(con.listed(), con.open_source)
        assert {table.name: table.rows for table in imported.tables} == {"accounts": 4, "notes": 2}
        assert not imported.findings
    without = parse(text.replace("SELECT slug", "SELECT nullif(slug, 'new')"))
    with open_cluster(without) as con, pytest.raises(DataError, match="gives NULL"):
        con.members("by_file")


def test_show_and_check_know_the_members(tmp_path: Path) -> None:
    for tenant in ("acme", "globex"):
        write(tmp_path, tenant, [(1, "a", 1.0)], product="sqlite")
    with sqlite3.connect(tmp_path / "globex.db") as db:
        db.execute("ALTER TABLE notes DROP COLUMN body")
    db.close()
    with cluster(tmp_path, product="sqlite") as con:
        shards = answer(con, "SHOW SHARDS")
        assert [row[:2] for row in shards] == [("file_acme", "file_acme"), ("file_globex", "file_globex")]
        assert [row[3] for row in answer(con, "SHOW TABLES")] == [None]
        assert answer(con, "SHOW ROUTE FOR notes KEY ('nobody')") == [
            (None, "file_nobody", "file_nobody", "notes")
        ]
        assert answer(con, "SHOW COLUMNS FROM notes")[-1][:3] == ("tenant", "TEXT", "NO")
        (finding,) = [each for each in check(con.listed(), con.open_source, Extent()) if each.is_error]
        assert (finding.shard, finding.column) == ("file_globex", "body")
        assert con.pool.open_count() <= 64


@pytest.mark.slow
def test_five_thousand_files(tmp_path: Path) -> None:
    for number in range(5000):
        write(tmp_path, f"t{number:04}", [(number, "a", 1.0)], product="sqlite")
    before = len(list(Path("/proc/self/fd").iterdir()))  # other tests have left theirs
    with cluster(tmp_path, product="sqlite", options="WITH (open_max = 100)") as con:
        for _ in range(2):
            answered = answer(con, "SELECT count(*), sum(id), count(DISTINCT tenant) FROM notes")
            assert answered == [(5000, sum(range(5000)), 5000)]
            assert len(list(Path("/proc/self/fd").iterdir())) - before < 400
            assert con.pool.open_count() <= 100
        named = answer(con, "SELECT id FROM notes WHERE tenant = 't4321'")
        assert named == [(4321,)]


def test_a_source_without_schemas_has_no_schemas_as_members(tmp_path: Path) -> None:
    """Once there were none, and every answer was empty."""
    with sqlite3.connect(tmp_path / "lake.db") as db:
        db.execute("CREATE TABLE orders (id BIGINT, v BIGINT)")
    catalog = parse(
        f"CREATE SOURCE lake URL 'sqlite:///{tmp_path}/lake.db';"
        "CREATE SHARDING by_schema USING DIRECTORY AS tenant ON lake;"
        "ATTACH TABLE orders (id BIGINT, v BIGINT) SHARD BY by_schema (tenant BIGINT VIRTUAL)"
        " NAMED 'tenant_{tenant}.{table}';"
    )
    with open_cluster(catalog) as con, pytest.raises(NotSupportedError, match='"lake" has none'):
        answer(con, "SELECT count(*) FROM orders")
