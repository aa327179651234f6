"""ANALYZE on live servers, in their own dialect and in DuckDB's, compared with exact counts of all rows."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from shardwise.catalog.language import parse
from shardwise.catalog.model import TableStatistics
from shardwise.errors import Cancelled, DeadlineExceeded, OperationalError
from shardwise.inspection.analyzing import collecting
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from tests.servers import mariadb, postgres
from tests.servers.running import new_name

ROWS = 6_000
SHARDS = 3
MYSQL = """CREATE TABLE `Mixed Case` (id BIGINT UNSIGNED PRIMARY KEY, `Word` VARCHAR(30), price DECIMAL(20,4),
    day DATE, seen DATETIME(3), stamp TIMESTAMP NULL, flag TINYINT(1), kind ENUM('b','a','c'),
    measure DOUBLE, doc JSON, raw BLOB, void INT, friend INT, made YEAR, span TIME,
    KEY words (`Word`), KEY friends (friend))"""
POSTGRES = """CREATE TABLE "Mixed Case" (id BIGINT PRIMARY KEY, "Word" VARCHAR(30), price NUMERIC(20,4),
    day DATE, seen TIMESTAMP(3), stamp TIMESTAMPTZ, flag BOOLEAN, kind mood, measure DOUBLE PRECISION,
    doc JSONB, raw BYTEA, void INT, friend INT, made SMALLINT, span TIME)"""
COLUMNS = [
    "id",
    "Word",
    "price",
    "day",
    "seen",
    "stamp",
    "flag",
    "kind",
    "measure",
    "void",
    "friend",
    "made",
    "span",
]


def mysql_rows(shard: int) -> str:
    return f"""INSERT INTO `Mixed Case` SELECT seq + IF(seq > 5990, 18446744073709545600, 0),
        ELT(1 + seq % 4, 'Ann', 'ann', 'ANN', CONCAT('w', seq % 300)), (seq % 500) / 4,
        IF(seq % 100 = 0, '0000-00-00', DATE '2024-01-01' + INTERVAL (seq % 365) DAY),
        TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq MINUTE,
        TIMESTAMP '2024-01-01 00:00:00' + INTERVAL seq % 50 HOUR,
        seq % 2, 1 + seq % 3, seq / 7, '{{}}', 'x', NULL, IF(seq % 5, seq % 317, NULL), 2000 + seq % 20,
        SEC_TO_TIME(seq % 40) FROM seq_{shard}_to_{ROWS - 1}_step_{SHARDS}"""


def postgres_rows(shard: int) -> str:
    return f"""INSERT INTO "Mixed Case" SELECT i, CASE i % 4 WHEN 3 THEN 'w' || i % 300 ELSE 'Ann' END,
        (i % 500) / 4.0,
        DATE '2024-01-01' + i % 365, TIMESTAMP '2024-01-01 00:00:00' + i * INTERVAL '1 minute',
        TIMESTAMPTZ '2024-01-01 00:00:00Z' + i % 50 * INTERVAL '1 hour', i % 2 = 0,
        (ARRAY['b', 'a', 'c'])[1 + i % 3]::mood, i / 7.0, '{{}}', 'x', NULL,
        CASE WHEN i % 5 > 0 THEN i % 317 END, 2000 + i % 20, TIME '00:00' + i % 40 * INTERVAL '1 second'
        FROM generate_series({shard}, {ROWS - 1}, {SHARDS}) i"""


class World:
    """The table on three databases by its id, and all of it on a fourth."""

    def __init__(self, product: str) -> None:
        self.is_mysql = product == "mysql"
        self.server: Any = mariadb() if self.is_mysql else postgres()
        quoted = "`Mixed Case`" if self.is_mysql else '"Mixed Case"'
        self.databases = []
        for shard in range(SHARDS):
            if self.is_mysql:
                statements = ["SET sql_mode = ''", MYSQL, mysql_rows(shard), f"ANALYZE TABLE {quoted}"]
            else:
                mood = "CREATE TYPE mood AS ENUM ('b', 'a', 'c')"
                statements = [mood, POSTGRES, postgres_rows(shard), f"ANALYZE {quoted}"]
            self.databases.append(self.server.database(*statements))

    def open(self, dialect: str) -> Cluster:
        sources = "".join(
            f"CREATE SOURCE s{n} URL '{self.server.url(name)}';" for n, name in enumerate(self.databases)
        )
        return open_cluster(
            parse(
                f"CREATE CATALOG c DIALECT {dialect}; {sources}"
                f"CREATE SHARDING by_id USING MOD {SHARDS} (s0 = 0, s1 = 1, s2 = 2);"
                'ATTACH TABLE "Mixed Case" SHARD BY by_id (id);'
            ),
            secrets=dict.fromkeys((f"s{n}" for n in range(SHARDS)), self.server.password),
        )

    def exact(self, column: str) -> tuple[int, int, set[str]]:
        """Distinct values and NULLs of the union of rows; the distinct values as text."""
        values: set[str] = set()
        nulls = 0
        for name in self.databases:
            if self.is_mysql:
                fold = f"LOWER(`{column}`)" if column == "Word" else f"`{column}`"
                sql = f"SELECT CAST({fold} AS CHAR), COUNT(*) FROM `Mixed Case` GROUP BY 1"
            else:
                sql = f'SELECT "{column}"::text, count(*) FROM "Mixed Case" GROUP BY 1'
            for text, count in self.server.run(sql, database=name):
                if text is None:
                    nulls += count
                else:
                    values.add(text)
        return len(values), nulls, values


@pytest.fixture(scope="module", params=["mysql", "postgres"])
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def dialects(world: World) -> tuple[str, str]:
    return ("mysql" if world.is_mysql else "postgres"), "duckdb"


def check(world: World, statistics: TableStatistics, within: float, nulls_within: float = 1e-4) -> None:
    assert statistics.rows == ROWS
    for column in COLUMNS:
        distinct, nulls, _ = world.exact(column)
        known = statistics.columns[column]
        assert known.distinct == pytest.approx(distinct, rel=within, abs=1 if within else 0), column
        assert known.nulls == pytest.approx(nulls / ROWS, abs=nulls_within), column
        if column != "void":
            assert (known.width or 0) > 0, column
    word = dict(statistics.columns["Word"].common)
    assert max(word.values()) == pytest.approx(0.75, abs=0.03)
    assert sorted(text for text, _ in statistics.columns["kind"].common) == ["a", "b", "c"]
    for column in ("raw",) if world.is_mysql else ("doc", "raw"):
        assert statistics.columns[column].distinct is None
        assert statistics.columns[column].common == statistics.columns[column].bounds == ()


@pytest.mark.parametrize("number", [0, 1])
def test_read_whole(world: World, number: int) -> None:
    dialect = dialects(world)[number]
    with world.open(dialect) as cluster:
        (done,) = cluster.analyze()
    assert set(done.left_out) == ({"raw"} if world.is_mysql else {"doc", "raw"})  # MariaDB's JSON is a text
    statistics = done.statistics
    if world.is_mysql and dialect == "duckdb":  # whose texts are compared by their bytes
        assert statistics.columns["word"].distinct == world.exact("Word")[0] + 2
    else:
        check(world, statistics, 0)
    ends = {name: (c.bounds[0], c.bounds[-1]) for name, c in statistics.columns.items() if c.bounds}
    assert ends["seen"] == ("2024-01-01 00:00:00", "2024-01-05 03:59:00")
    assert ends["stamp"] == ("2024-01-01 00:00:00", "2024-01-03 01:00:00")
    assert ends["price"] == ("0", "124.75")
    if world.is_mysql:
        assert ends["id"] == ("0", "18446744073709551599")
        assert ends["day"] == ("2024-01-01", "2024-12-30")  # zero dates have no place in it
        assert statistics.columns["flag"].width == 1
    else:
        assert ends["id"] == ("0", "5999")
        assert ends["day"] == ("2024-01-01", "2024-12-30")
        assert sorted(statistics.columns["flag"].common) == [("false", 0.5), ("true", 0.5)]


@pytest.mark.parametrize("number", [0, 1])
def test_by_a_scan_and_a_sample(world: World, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "SAMPLE_ROWS", 3_000)
    dialect = dialects(world)[number]
    with world.open(dialect) as cluster:
        (done,) = cluster.analyze()
    assert done.statistics.source == "scan"
    if not (world.is_mysql and dialect == "duckdb"):
        check(world, done.statistics, 0.25)
    assert done.statistics.columns["id"].distinct == ROWS
    assert done.statistics.columns["seen"].bounds[0] == "2024-01-01 00:00:00"
    assert done.statistics.columns["seen"].bounds[-1] == "2024-01-05 03:59:00"


def test_by_a_sample_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "SAMPLE_ROWS", 3_000)
    monkeypatch.setattr(collecting, "SCANNED_MAX", dict.fromkeys(collecting.SCANNED_MAX, 100))
    with world.open(dialects(world)[0]) as cluster:
        (done,) = cluster.analyze()
    assert done.statistics.source == "sample"
    check(world, done.statistics, 0.25, nulls_within=0.03)


@pytest.mark.parametrize("number", [0, 1])
def test_from_sources(world: World, number: int) -> None:
    with world.open(dialects(world)[number]) as cluster:
        (done,) = cluster.analyze(from_sources=True)
    statistics = done.statistics
    assert statistics.source == "sources"
    assert statistics.rows == pytest.approx(ROWS, rel=0.1)
    assert statistics.columns["id"].distinct == statistics.rows
    if world.is_mysql:
        assert 200 <= (statistics.columns["friend"].distinct or 0) <= 1000  # InnoDB's guess of 317
        assert statistics.columns["price"].distinct is None
        return
    for column in ("Word", "price", "day", "seen", "flag", "kind", "friend", "made"):
        distinct, nulls, _ = world.exact(column)
        known = statistics.columns[column]
        assert known.distinct == pytest.approx(distinct, rel=0.25, abs=1), column
        assert known.nulls == pytest.approx(nulls / ROWS, abs=0.02), column
    assert (statistics.columns["day"].bounds[0], statistics.columns["day"].bounds[-1]) == (
        "2024-01-01",
        "2024-12-30",
    )
    assert statistics.columns["price"].bounds[0] == "0"
    assert dict(statistics.columns["Word"].common)["Ann"] == pytest.approx(0.75, abs=0.02)
    assert statistics.columns["doc"].bounds == ()


def alone(world: World, database: str, table: str) -> Cluster:
    url = world.server.url(database)
    text = f"CREATE CATALOG c DIALECT mysql; CREATE SOURCE s URL '{url}'; ATTACH TABLE {table} ON s;"
    return open_cluster(parse(text), secrets={"s": world.server.password})


def test_mariadbs_own_column_statistics(world: World) -> None:
    if not world.is_mysql:
        pytest.skip("MariaDB's alone")
    name = world.server.database(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT, w VARCHAR(9))",
        "INSERT INTO t SELECT seq, IF(seq % 4, seq % 20, NULL), 'abc' FROM seq_1_to_1000",
        "ANALYZE TABLE t PERSISTENT FOR ALL",
    )
    with alone(world, name, "t") as cluster:
        (done,) = cluster.analyze(from_sources=True)
    known = done.statistics.columns["n"]
    assert known.nulls == pytest.approx(0.25)
    assert known.distinct == pytest.approx(15, abs=1)
    assert known.bounds == ("1", "19")
    assert done.statistics.columns["w"].width == pytest.approx(3, abs=4)
    assert done.statistics.columns["w"].bounds == ()


def test_a_view_whose_rows_no_source_knows(world: World) -> None:
    if not world.is_mysql:
        pytest.skip("PostgreSQL's planner has an estimate of anything")
    name = world.server.database("CREATE VIEW v AS SELECT 1 AS x")
    with alone(world, name, "v") as cluster:
        with pytest.raises(OperationalError, match='does not know how many rows "v" has'):
            cluster.analyze("v", from_sources=True)
        (done,) = cluster.analyze("v")
    assert done.statistics.rows == 1


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_schemas_as_members(dialect: str) -> None:
    statements = []
    for tenant in (1, 2, 30):
        rows = f"SELECT i::bigint AS id, ({tenant} * i)::bigint AS v FROM generate_series(0, {tenant} - 1) i"
        statements += [
            f"CREATE SCHEMA tenant_{tenant}",
            f"CREATE TABLE tenant_{tenant}.orders AS {rows}",
            f"ANALYZE tenant_{tenant}.orders",
        ]
    server = postgres()
    catalog = parse(
        f"CREATE CATALOG shop DIALECT {dialect};"
        f"CREATE SOURCE main URL '{server.url(server.database(*statements))}';"
        "CREATE SHARDING by_schema USING DIRECTORY AS tenant ON main;"
        "ATTACH TABLE erp.orders (id BIGINT, v BIGINT) SHARD BY by_schema (tenant BIGINT VIRTUAL)"
        " NAMED 'tenant_{tenant}.{table}';"
    )
    with open_cluster(catalog, secrets={"main": server.password}) as cluster:
        for from_sources in (False, True):
            (done,) = cluster.analyze("erp.orders", from_sources=from_sources)
            assert done.statistics.rows == 33
            tenant = done.statistics.columns["tenant"]
            assert (tenant.distinct, tenant.width) == (3, 8)
            assert (tenant.bounds[0], tenant.bounds[-1]) == ("1", "30")
            assert dict(tenant.common)["30"] == pytest.approx(30 / 33, abs=1e-4)


ODD = {
    "mysql": {
        "bits": ("BIT(8)", "b'101'"),
        "place": ("POINT", "POINT(1, 2)"),
        "choices": ("SET('a','b')", "'a,b'"),
        "large": ("DECIMAL(65,30)", "12345678901234567890123456789012345.5"),
        "id": ("UUID", "'7f4c7a0a-0b0c-4d0e-8f00-000000000001'"),
        "bin": ("BINARY(4)", "'ab'"),
        "word": ("VARCHAR(20) COLLATE utf8mb4_bin", "'Ä\\\\'"),
        "latin": ("VARCHAR(20) CHARACTER SET latin1", "'é'"),
        "net": ("INET6", "'::1'"),
    },
    "postgres": {
        "span": ("INTERVAL", "'1 month'"),
        "many": ("INTEGER[]", "'{1,2}'"),
        "id": ("UUID", "'7f4c7a0a-0b0c-4d0e-8f00-000000000001'"),
        "net": ("INET", "'::1'"),
        "cash": ("MONEY", "'1.5'"),
        "bits": ("BIT(3)", "b'101'"),
        "ranges": ("INT4RANGE", "'[1,2)'"),
        "doc": ("JSON", "'{}'"),
        "fixed": ("CHAR(5)", "'ab'"),
        "zoned": ("TIME WITH TIME ZONE", "'10:00+02'"),
        "bc": ("DATE", "'0044-03-15 BC'"),
        "never": ("TIMESTAMPTZ", "'infinity'"),
        "num": ("NUMERIC", "'NaN'"),
        "word": ("TEXT", "E'it''s \\\\\\u00e4'"),
    },
}


@pytest.mark.parametrize("mode", ["whole", "scan", "sample", "sources"])
@pytest.mark.parametrize("product", ["mysql", "postgres"])
def test_odd_types(product: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of all kinds, half of their rows NULL, on a database that has them and one that has none."""
    if mode != "whole":
        monkeypatch.setattr(collecting, "SAMPLE_ROWS", 30)
    if mode == "sample":
        monkeypatch.setattr(collecting, "SCANNED_MAX", dict.fromkeys(collecting.SCANNED_MAX, 1))
    server: Any = mariadb() if product == "mysql" else postgres()
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in ODD[product].items())
    values = ", ".join(f"CASE WHEN k % 4 < 2 THEN {value} END" for _, value in ODD[product].values())
    numbers = "seq AS k FROM seq_0_to_199" if product == "mysql" else "k FROM generate_series(0, 199) k"
    if product == "postgres":
        casts = (f"CAST({value} AS {kind})" for kind, value in ODD[product].values())
        values = ", ".join(f"CASE WHEN k % 4 < 2 THEN {value} END" for value in casts)
    name = server.database(
        f"CREATE TABLE t (k INTEGER PRIMARY KEY, {columns})",
        f"INSERT INTO t SELECT k, {values} FROM (SELECT {numbers}) AS q",
        "ANALYZE TABLE t" if product == "mysql" else "ANALYZE t",
    )
    columns = columns.replace(" CHARACTER SET latin1", "")  # of which the catalog says nothing
    lacks = server.database("CREATE TABLE t (k INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (-1)")
    catalog = parse(
        f"CREATE CATALOG c DIALECT {product};"
        f"CREATE SOURCE s0 URL '{server.url(name)}'; CREATE SOURCE s1 URL '{server.url(lacks)}';"
        "CREATE SHARDING f USING RANGE (s1 = LESS THAN 0, s0 = LESS THAN MAXVALUE);"
        f"ATTACH TABLE t (k INTEGER PRIMARY KEY, {columns}) SHARD BY f (k) DRIFT FILL;"
    )
    with open_cluster(catalog, secrets={"s0": server.password, "s1": server.password}) as cluster:
        (done,) = cluster.analyze(from_sources=mode == "sources")
    known = done.statistics.columns
    text = cluster.declared.with_(done.statistics).to_sql()
    assert parse(text).statistics_of(catalog.table("t")) == done.statistics
    if mode == "sources":
        return
    assert done.statistics.rows == 201
    for name in ODD[product]:
        assert known[name].nulls == pytest.approx(101 / 201, abs=0.4 if mode == "sample" else 1e-4), name
        if name not in done.left_out:
            assert known[name].distinct == 1, name
    left_out = {
        "mysql": ["bits", "place", "bin", "net"],
        "postgres": ["many", "net", "bits", "ranges", "doc"],
    }
    assert list(done.left_out) == left_out[product]
    if product == "mysql":
        assert known["large"].bounds[0] == "12345678901234567890123456789012345.5"
        assert known["word"].common[0][0] == "Ä\\"
        assert known["latin"].common[0][0] == "é"
    else:
        assert known["bc"].bounds == known["never"].bounds == known["num"].bounds == ()
        assert known["word"].common[0][0] == "it's \\ä"


def test_databases_as_members() -> None:
    server = mariadb()
    prefix = new_name("tenant")
    for tenant in (1, 2, 30):
        name = server.database(
            "CREATE TABLE orders (id BIGINT PRIMARY KEY, v BIGINT)",
            f"INSERT INTO orders SELECT seq, {tenant} FROM seq_1_to_{tenant}",
            "ANALYZE TABLE orders",
            name=f"{prefix}_{tenant}",
        )
    catalog = parse(
        "CREATE CATALOG shop DIALECT mysql;"
        f"CREATE SOURCE main URL '{server.url(name)}';"
        "CREATE SHARDING by_database USING DIRECTORY AS tenant ON main;"
        "ATTACH TABLE orders (id BIGINT PRIMARY KEY, v BIGINT) SHARD BY by_database (tenant BIGINT VIRTUAL)"
        f" NAMED '{prefix}_{{tenant}}.{{table}}';"
    )
    with open_cluster(catalog, secrets={"main": server.password}) as cluster:
        for from_sources in (False, True):
            (done,) = cluster.analyze("orders", from_sources=from_sources)
            assert done.statistics.rows == 33
            assert done.statistics.columns["tenant"].distinct == 3
            assert dict(done.statistics.columns["tenant"].common)["30"] == pytest.approx(30 / 33, abs=1e-4)
        assert cluster.analyze("orders")[0].statistics.columns["id"].distinct == 30


def test_a_cancel_stops_the_servers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()
    sleep = "SELECT SLEEP(60)" if world.is_mysql else "SELECT pg_sleep(60)"

    def slow(asking: Any, *_: object) -> object:
        started.set()
        return asking.reader.rows(sleep)

    monkeypatch.setattr("shardwise.inspection.analyzing.parts.Asking.sample", slow)
    with world.open(dialects(world)[0]) as cluster, cluster.connect() as con:
        cursor = con.cursor()
        stopper = threading.Thread(target=lambda: (started.wait(20), time.sleep(0.3), cursor.cancel()))
        begun = time.monotonic()
        stopper.start()
        with pytest.raises(Cancelled):
            cursor.execute("ANALYZE")
        stopper.join()
        with pytest.raises(DeadlineExceeded):
            con.execute("ANALYZE", deadline_s=0.5)
        assert time.monotonic() - begun < 30
        monkeypatch.undo()
        assert con.execute("ANALYZE").fetchone()[1] == ROWS  # connections are good for other statements


def test_a_reader_who_may_see_little(world: World) -> None:
    """SELECT alone is needed; what a server does not tell such a user is not known."""
    user = new_name("reader")[:30]
    name = world.databases[0]
    if world.is_mysql:
        world.server.run(
            f"CREATE USER `{user}` IDENTIFIED BY 'pw'", f"GRANT SELECT ON `{name}`.* TO `{user}`"
        )
    else:
        world.server.run(
            f"CREATE USER \"{user}\" PASSWORD 'pw'",
            f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{user}"',
            database=name,
        )
    url = world.server.url(name, user=user)
    catalog = parse(
        f"CREATE CATALOG c DIALECT {dialects(world)[0]}; CREATE SOURCE s URL '{url}';"
        'ATTACH TABLE "Mixed Case" ON s;'
    )
    with open_cluster(catalog, secrets={"s": "pw"}) as cluster:
        for from_sources in (False, True):
            (done,) = cluster.analyze(from_sources=from_sources)
            assert done.statistics.rows == pytest.approx(ROWS / SHARDS, rel=0.1)
            assert done.statistics.columns["id"].distinct == done.statistics.rows
