"""The commands, over a small cluster."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shardwise
from shardwise.catalog import load
from tests.integration.cli.runner import run


def interrupt_the_statement() -> None:
    """Ctrl-C, once a statement has run for a moment."""
    while not any(thread.name == "shardwise-statement" for thread in threading.enumerate()):
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("imported")
class TestQuery:
    def test_table(self) -> None:
        ran = run("query", "SELECT city, count(*) AS n FROM customers GROUP BY city ORDER BY city")
        assert (ran.code, ran.err) == (0, "")
        assert ran.text == "city      n\n------  ---\nCity 0  100\nCity 1  100\nCity 2  100\n(3 rows)\n"

    def test_formats(self) -> None:
        sql = "SELECT id, name FROM customers WHERE id < 2 ORDER BY id"
        assert run("query", sql, "-f", "csv").text == "id,name\n0,c0\n1,c1\n"
        assert json.loads(run("query", sql, "--format", "json").text) == [
            {"id": 0, "name": "c0"},
            {"id": 1, "name": "c1"},
        ]
        assert run("query", sql, "-f", "jsonl").text.splitlines()[1] == '{"id": 1, "name": "c1"}'
        assert pq.read_table(io.BytesIO(run("query", sql, "-f", "parquet").out)).num_rows == 2
        assert pa.ipc.open_stream(run("query", sql, "-f", "arrow").out).read_all().num_rows == 2

    def test_output_names_the_format(self, imported: Path) -> None:
        ran = run("query", "SELECT * FROM customers", "-o", "out.parquet", "--stats")
        assert (ran.code, ran.out) == (0, b"")
        assert "300 rows" in ran.err
        assert pq.read_table(imported / "out.parquet").num_rows == 300
        ran = run("query", "SELECT 1", "-o", "out.txt")
        assert ran.code == 2
        assert "what format is out.txt?" in ran.err

    def test_standard_input_and_parameters(self) -> None:
        ran = run("query", "-", "-f", "csv", "-p", "7", stdin="SELECT name FROM customers WHERE id = ?")
        assert ran.text == "name\nc7\n"
        ran = run(
            "query", "-f", "csv", "SELECT count(*) AS n FROM customers WHERE city = :c", "--param", "c=City 1"
        )
        assert ran.text == "n\n100\n"
        assert run("query", "-", stdin=" ").code == 2

    def test_several_statements(self, imported: Path) -> None:
        ran = run(
            "query",
            "-",
            "-f",
            "csv",
            stdin="SELECT 1 AS a; -- ;\nSET SCOPE id = 7;\nSELECT id FROM customers\n",
        )
        assert (ran.code, ran.text) == (0, "a\n1\nid\n7\n")
        ran = run("query", "SELECT 1 AS a;\nSELECT\n oops; SELECT 3")
        assert (ran.code, ran.text) == (1, "a\n-\n1\n(1 row)\n")
        assert "   2 |  oops\n     |  ^^^^\n" in ran.err
        ran = run("query", "-", stdin="SELECT 1;\n.tables\nSELECT 2;")
        assert (ran.code, ran.text) == (1, "")
        for more in (["-o", "x.csv"], ["-f", "parquet"], ["-p", "1"]):
            ran = run("query", "SELECT 1; SELECT 2", *more)
            assert ran.code == 2
            assert "is for one statement, the text has 2" in " ".join(ran.err.split())
        assert not (imported / "x.csv").exists()

    def test_rows(self) -> None:
        ran = run("query", "SELECT id FROM customers", "--rows", "2")
        assert ran.text.splitlines()[-1] == "(the first 2 rows; --rows 0 shows all, --format csv writes all)"
        assert run("query", "SELECT id FROM customers", "--rows", "0").text.endswith("(300 rows)\n")

    def test_show_and_explain_statements(self) -> None:
        assert "by_id" in run("query", "SHOW SHARDINGS").text
        assert run("query", "-f", "csv", "SHOW ROUTE FOR customers KEY (7)").text == (
            "slot,shard,source,table\n1,s1,s1,customers\n"
        )
        assert (
            "Fragment f1 on 1 of 2 shards: s1"
            in run("query", "EXPLAIN SELECT * FROM customers WHERE id = 7").text
        )

    def test_options(self) -> None:
        ran = run("query", "SELECT count(*) FROM customers", "--refuse-scatter")
        assert ran.code == 1
        assert run("query", "SELECT * FROM customers WHERE id = 7", "--refuse-scatter").code == 0
        ran = run("query", "SELECT * FROM customers", "--rows-moved-max", "10")
        assert ran.code == 1
        assert "error: " in ran.err
        assert "hint: Raise --rows-moved-max" in ran.err
        ran = run("query", "SELECT * FROM customers", "--deadline", "0")
        assert (ran.code, ran.err[:36]) == (1, "error: the option --deadline cannot ")

    def test_hints_are_the_command_lines(self) -> None:
        assert "drop --refuse-scatter" in run("query", "SELECT * FROM customers", "--refuse-scatter").err
        assert "Give one --param for each ?" in run("query", "SELECT ?").err
        assert "Give --param x=VALUE" in run("query", "SELECT :x").err
        assert "Give options to the command, as --deadline 10" in run("query", "SET threads = 1").err

    def test_parameters_that_are_cast(self) -> None:
        assert run("query", "-f", "csv", "SELECT ?::DATE AS d", "-p", "2025-01-02").text == "d\n2025-01-02\n"
        assert run("query", "-f", "csv", "SELECT $1 + 1 AS n", "-p", "2").text == "n\n3\n"

    def test_what_cannot_be_written(self, imported: Path) -> None:
        ran = run("query", "SELECT 1", "-o", "nope/x.csv")
        assert (ran.code, ran.err) == (1, "error: cannot write nope/x.csv: No such file or directory\n")
        (imported / "cluster.lock.sql.partial").mkdir()
        ran = run("catalog", "import")
        assert (ran.code, ran.err) == (1, "error: cannot write cluster.lock.sql: Is a directory\n")
        ran = run("demo", "--dir", "cluster.sql/x")
        assert (ran.code, ran.err) == (1, "error: cannot write cluster.sql/x: Not a directory\n")

    def test_errors_are_underlined_in_the_users_text(self) -> None:
        ran = run("query", "SELECT id,\n       citty FROM customers")
        assert ran.code == 1
        assert "   2 |        citty FROM customers\n     |        ^^^^^\n" in ran.err
        assert 'hint: Did you mean "city"?' in ran.err
        ran = run("explain", "SELECT citty FROM customers")
        assert "     |        ^^^^^\n" in ran.err

    @pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need it")
    def test_an_interrupt_stops_the_statement(self) -> None:
        timer = threading.Thread(target=interrupt_the_statement)
        timer.start()
        ran = run("query", "SELECT count(*) FROM range(10000000) a(x), range(10000000) b(y) WHERE x < y")
        timer.join()
        assert ran.code == 130
        assert ran.err.startswith("error: the statement was cancelled")

    def test_writes_are_refused(self) -> None:
        ran = run("query", "  DELETE FROM customers")
        assert ran.code == 1
        assert "     |   ^^^^^^\n" in ran.err

    def test_a_missing_shard_is_named(self, imported: Path) -> None:
        (imported / "s1.duckdb").unlink()
        ran = run("query", "SELECT count(*) FROM customers")
        assert ran.code == 3
        assert "s1" in ran.err
        assert run("query", "SELECT count(*) FROM customers WHERE id = 2").code == 0

    def test_a_failure_leaves_no_file(self, imported: Path) -> None:
        (imported / "s1.duckdb").unlink()
        assert run("query", "SELECT * FROM customers", "-o", "out.csv").code == 3
        assert not list(imported.glob("*out.csv*"))


@pytest.mark.usefixtures("imported")
class TestExplain:
    def test_text_and_json(self) -> None:
        ran = run("explain", "SELECT count(*) FROM customers")
        assert ran.code == 0
        assert "Fragment f1 on 2 of 2 shards: s0, s1" in ran.text
        assert json.loads(run("explain", "--json", "SELECT count(*) FROM customers").text)["fragments"]

    def test_modes(self) -> None:
        assert "moved off the shards" in run("explain", "--analyze", "SELECT count(*) FROM customers").text
        route = run("explain", "--route", "SELECT id FROM customers WHERE id IN (1, 2)").text
        assert [line.split()[:2] for line in route.splitlines()[2:4]] == [["s0", "s0"], ["s1", "s1"]]
        assert "-- " in run("explain", "--steps", "SELECT count(*) FROM customers").text
        assert "customers" in run("explain", "--shards", "SELECT count(*) FROM customers").text


class TestCatalog:
    def test_import_makes_the_lock_file(self, folder: Path) -> None:
        ran = run("catalog", "import")
        assert (ran.code, ran.err) == (0, "read 2 tables, 302 rows into cluster.lock.sql\n")
        table = load(folder / "cluster.sql").table("customers")
        assert isinstance(table, shardwise.catalog.model.Table)
        assert table.primary_key == ("id",)
        assert run("query", "-f", "csv", "SELECT count(*) AS n FROM customers").text == "n\n300\n"

    def test_import_to_standard_output(self, folder: Path) -> None:
        ran = run("catalog", "import", "--stdout", "cities")
        assert "LOCK TABLE cities" in ran.text
        assert "customers" not in ran.text
        assert not (folder / "cluster.lock.sql").exists()

    def test_check(self, folder: Path) -> None:
        assert (
            run("catalog", "check").text
            == "2 tables checked, a sample of the rows: all as the catalog says\n"
        )
        with duckdb.connect(str(folder / "s1.duckdb")) as db:
            db.execute("INSERT INTO customers VALUES (1000, 'x', 'y')")
            db.execute("ALTER TABLE cities ADD COLUMN z INTEGER")
        ran = run("catalog", "check", "--rows")
        assert ran.code == 4
        assert ran.text.splitlines() == [
            (
                "wrong-shard: customers.id on shard s1: expected slots 1 of by_id, "
                "found 1 of 151 rows elsewhere, such as id = 1000"
            ),
            "extra-column: cities.z on shard s1: found INTEGER",
            "2 tables checked, all rows: 1 difference",
        ]

    def test_format(self, folder: Path) -> None:
        ran = run("catalog", "format")
        assert ran.code == 0
        assert "CREATE SHARDING by_id USING MOD 2" in ran.text
        assert run("catalog", "format", "--write").code == 0
        assert (folder / "cluster.sql").read_text(encoding="utf-8") == ran.text

    def test_format_does_not_lose_comments(self, folder: Path) -> None:
        path = folder / "cluster.sql"
        path.write_text("-- mine\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
        ran = run("catalog", "format", "--write")
        assert ran.code == 1
        assert "comments" in ran.err
        assert path.read_text(encoding="utf-8").startswith("-- mine\n")

    def test_a_wrong_catalog_is_shown(self, folder: Path) -> None:
        (folder / "cluster.sql").write_text("CREATE SOURCE a\nURRL 'x'", encoding="utf-8")
        ran = run("query", "SELECT 1")
        assert ran.code == 1
        assert ran.err.startswith("cluster.sql:2:1\nerror: ")
        assert "   2 | URRL 'x'\n     | ^^^^\n" in ran.err


class TestAnalyze:
    def test_statistics_go_into_the_lock_file(self, imported: Path) -> None:
        run("catalog", "import")
        ran = run("catalog", "analyze")
        assert ran.code == 0
        assert ran.text == "customers: 300 rows, 3 columns (all rows)\ncities: 2 rows, 1 column (all rows)\n"
        assert ran.err.strip().endswith("cluster.lock.sql")
        lock = (imported / "cluster.lock.sql").read_text()
        assert "LOCK TABLE customers" in lock
        assert "STATISTICS customers ROWS 300 FROM SCAN" in lock
        assert "'City 1'" in lock
        run("catalog", "import")
        assert "STATISTICS customers ROWS 300 FROM SCAN" in (imported / "cluster.lock.sql").read_text()
        assert "300" in run("query", "-f", "csv", "SHOW STATISTICS FOR customers LIKE 'id'").text

    def test_one_table_from_sources_without_values(self, imported: Path) -> None:
        ran = run("catalog", "analyze", "customers", "--from-sources", "--without-values")
        assert (ran.code, ran.text) == (0, "customers: 300 rows, 1 column (no rows: 2 partitions asked)\n")
        assert run("catalog", "analyze", "customers", "--without-values").code == 0
        lock = (imported / "cluster.lock.sql").read_text()
        assert "DISTINCT 300" in lock
        assert "BOUNDS" not in lock
        assert "COMMON" not in lock

    def test_what_is_wrong(self, imported: Path) -> None:
        ran = run("catalog", "analyze", "customer")
        assert ran.code == 1
        assert 'Did you mean "customers"?' in ran.err
        (imported / "s1.duckdb").unlink()
        assert run("catalog", "analyze").code == 3
        assert not (imported / "cluster.lock.sql").exists()

    @pytest.mark.usefixtures("imported")
    def test_where_nothing_can_be_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shardwise.session.known.may_save_lock", lambda _: False)
        ran = run("catalog", "analyze", "cities")
        assert (ran.code, ran.text) == (1, "cities: 2 rows, 1 column (all rows)\n")
        assert "cannot be written: not kept" in ran.err


@pytest.mark.usefixtures("folder")
class TestUsage:
    def test_version(self) -> None:
        assert run("--version").text == f"shardwise {shardwise.__version__}\n"

    @pytest.mark.parametrize(
        "arguments",
        [
            ("nonsense",),
            ("query",),
            ("query", "SELECT 1", "--format", "xml"),
            ("query", "SELECT 1", "-c", "no"),
        ],
    )
    def test_wrong_usage(self, arguments: tuple[str, ...]) -> None:
        ran = run(*arguments)
        assert ran.code == 2
        assert ran.err

    def test_the_catalog_by_environment(self, imported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir("/")
        monkeypatch.setenv("SHARDWISE_CATALOG", str(imported / "cluster.sql"))
        assert run("query", "SELECT max(id) AS m FROM customers", "-f", "csv").text == "m\n299\n"

    @pytest.mark.slow
    @pytest.mark.parametrize("module", ["shardwise", "shardwise.cli"])
    def test_as_a_module(self, module: str) -> None:
        root = Path(shardwise.__file__).parents[1]
        done = subprocess.run(
            [sys.executable, "-m", module, "--version"],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        assert done.stdout.startswith(b"shardwise ")
