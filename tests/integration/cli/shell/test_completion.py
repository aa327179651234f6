"""What is offered where. `|` is the cursor."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import shardwise
from shardwise.cli.shell.completion import SqlCompleter, complete_command
from shardwise.cli.shell.names import Names, functions, names_of
from shardwise.cli.shell.scope import columns_of
from shardwise.cli.shell.suggesting import complete

CATALOG = """\
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_customer USING MOD 2 AS n ON s{n};
ATTACH TABLE customers (id INTEGER, name VARCHAR, city VARCHAR) SHARD BY by_customer (id);
ATTACH TABLE orders (id INTEGER, customer_id INTEGER, placed DATE, "order" VARCHAR)
  SHARD BY by_customer (customer_id);
ATTACH TABLE items (order_id INTEGER, customer_id INTEGER, "Unit Price" DECIMAL(9,2))
  SHARD WITH orders ON customer_id = orders.customer_id;
ATTACH TABLE "Odd Name" (a INTEGER) REFERENCE ON by_customer;
ATTACH TABLE crm.leads (lead_id INTEGER, source VARCHAR) ON s0;
CREATE VIEW recent AS SELECT o.id AS order_id, placed, count(*) AS n FROM orders o;
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Names:
    path = tmp_path_factory.mktemp("catalog") / "cluster.sql"
    path.write_text(CATALOG, encoding="utf-8")
    with shardwise.connect(path) as connection:
        connection.register("mine", pa.table({"key": [1], "value": [2]}))
        connection.execute("CREATE TEMP TABLE kept AS SELECT 1 AS one, 2 AS two")
        connection.execute("CREATE TEMP VIEW seen AS SELECT one AS eins FROM kept")
        return names_of(connection)


def offered(text: str, names: Names, *, is_asked: bool = True) -> list[str]:
    cursor = text.index("|")
    found = complete(text[:cursor] + text[cursor + 1 :], cursor, names, is_asked=is_asked)
    return [candidate.text for candidate, _ in found]


def with_meta(text: str, meta: str, names: Names) -> list[str]:
    cursor = text.index("|")
    return [c.text for c, _ in complete(text[:cursor] + text[cursor + 1 :], cursor, names) if c.meta == meta]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # tables
        (
            "SELECT * FROM |",
            ["customers", "orders", "items", '"Odd Name"', "crm.leads", "recent", "mine", "kept"],
        ),
        ("SELECT * FROM or|", ["orders"]),
        ("SELECT * FROM customers c, |", ["customers"]),
        ("SELECT * FROM customers JOIN it|", ["items"]),
        ("SELECT * FROM odd|", ['"Odd Name"']),
        ('SELECT * FROM "Od|', ['"Odd Name"']),
        ("SELECT * FROM crm.|", ["leads"]),
        ("SELECT * FROM lea|", ["crm.leads"]),
        ("DESCRIBE or|", ["orders"]),
        ("WITH mine2 AS (SELECT 1) SELECT * FROM min|", ["mine2", "mine"]),
        # columns of an alias, also where the FROM comes later
        ("SELECT o.| FROM orders o", ["id", "customer_id", "placed", '"order"']),
        ("SELECT o.pl| FROM orders AS o WHERE 1", ["placed"]),
        ("SELECT orders.pl| FROM orders", ["placed"]),
        ("SELECT i.unit| FROM items i", ['"Unit Price"']),
        ('SELECT i."Unit| FROM items i', ['"Unit Price"']),
        ("SELECT * FROM customers c WHERE c.ci|", ["city"]),
        ("SELECT l.| FROM crm.leads l", ["lead_id", "source"]),
        ("SELECT mine.| FROM mine", ["key", "value"]),
        ("SELECT k.| FROM kept k", ["one", "two"]),
        ("SELECT seen.| FROM seen", ["eins"]),
        ("SELECT 1; SELECT c.n| FROM customers c; SELECT 2 FROM orders c", ["name"]),
        # of queries within
        ("SELECT q.| FROM (SELECT id, city AS town, 1 + 2 three FROM customers) q", ["id", "town", "three"]),
        ("SELECT q.| FROM (SELECT * FROM customers) AS q", ["id", "name", "city"]),
        ("SELECT q.| FROM (FROM customers) AS q", ["id", "name", "city"]),
        ("SELECT q.| FROM (SELECT c.* FROM customers c, orders o) q(a)", ["a", "name", "city"]),
        ("WITH big AS (SELECT id, count(*) AS n FROM orders) SELECT b.| FROM big b", ["id", "n"]),
        (
            "WITH a(x, y) AS (SELECT 1, 2), b AS (SELECT x + 1 AS z, a.* FROM a) SELECT b.| FROM b",
            ["z", "x", "y"],
        ),
        ("SELECT recent.| FROM recent", ["order_id", "placed", "n"]),
        ("SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.|)", ["id"]),
        ("SELECT * FROM (SELECT o.| FROM orders o) x", ["id", "customer_id", "placed", '"order"']),
        ("SELECT c.| FROM orders c UNION ALL SELECT 1 FROM customers", ["id"]),
        ("SELECT 1 FROM orders c UNION ALL SELECT c.| FROM customers c", ["id", "name", "city"]),
        # names that several tables have are written with their alias
        ("SELECT i| FROM customers c JOIN orders o ON true", ["c.id", "o.id"]),
        ("SELECT pla| FROM customers c JOIN orders o ON true", ["placed"]),
        # joins
        ("SELECT * FROM customers c JOIN orders o ON |", ["o.customer_id = c.id"]),
        ("SELECT * FROM orders JOIN items ON |", ["items.customer_id = orders.customer_id"]),
        ("SELECT * FROM orders JOIN items USING (|", ["customer_id"]),
        # our own statements
        ("SHOW |", ["TABLES", "VIEWS", "SCHEMAS", "COLUMNS FROM", "CREATE TABLE", "SHARDS"]),
        ("show route for or|", ["orders"]),
        ("SHOW ROUTE FOR orders |", ["KEY"]),
        ("SHOW CREATE TABLE ord|", ["orders"]),
        ("SHOW TABLES |", ["LIKE", "WHERE"]),
        ("SET |", ["SCOPE"]),
        ("SET SCOPE |", ["id", "customer_id", "by_customer", "shard"]),
        ("SET SCOPE shard IN (|", ["s0", "s1"]),
        ("SET SCOPE shard IN (s0, |", ["s0", "s1"]),
        ("USE |", ["crm"]),
        ("DROP TABLE |", ["mine", "kept"]),
        ("EXPLAIN (|", ["ANALYZE", "ROUTE", "STEPS", "SHARDS"]),
        ("EXPLAIN SEL|", ["SELECT"]),
        ("CREATE TEMP TABLE x AS |", ["SELECT", "WITH", "FROM"]),
        # keywords, in the user's case
        ("SEL|", ["SELECT"]),
        ("sel|", ["select"]),
        ("SELECT 1 FROM orders WH|", ["WHERE"]),
        ("SELECT 1 FROM orders o lef|", ["left join"]),
        # functions
        ("SELECT date_tr|", ["date_trunc"]),
    ],
)
def test_offered(text: str, expected: list[str], names: Names) -> None:
    assert offered(text, names)[: len(expected)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'or| FROM orders",
        "SELECT 1 -- or|",
        "SELECT /* or| */ 1 FROM orders",
        "SELECT $$ or|",
        "SELECT 12|",
        "SELECT 1 AS na|",
        "SELECT x.| FROM orders o",
        "SHOW TABLES LIKE |",
        "SELECT * FROM orders LIMIT |",
    ],
)
def test_nothing_is_offered(text: str, names: Names) -> None:
    assert offered(text, names) == []


def test_while_one_types_the_menu_is_there_only_where_a_name_must_follow(names: Names) -> None:
    assert offered("SELECT * FROM |", names, is_asked=False)
    assert offered("SELECT o.| FROM orders o", names, is_asked=False)
    assert offered("SELECT |", names, is_asked=False) == []
    assert offered("|", names, is_asked=False) == []
    assert offered("SELECT plac| FROM orders", names, is_asked=False) == ["placed"]
    assert offered("SELECT placed| FROM orders", names, is_asked=False) == []  # it is there already


def test_scalar_words_do_not_come_after_an_operand(names: Names) -> None:
    assert with_meta("SELECT id | FROM orders", "function", names) == []
    assert "FROM" in with_meta("SELECT id |", "keyword", names)


def test_names_in_quotes_where_they_need_some() -> None:
    assert [Names().quoted(n) for n in ("plain", "Plain", "a b", 'a"b', "select", "1a", "ünder_1")] == [
        *("plain", "Plain", '"a b"', '"a""b"', '"select"', '"1a"', "ünder_1"),
    ]


def test_functions_are_the_engines() -> None:
    assert {"date_trunc", "median", "list_transform"} <= set(functions("duckdb"))
    assert {"strftime", "json_extract", "total"} <= set(functions("sqlite"))
    assert "date_trunc" not in functions("sqlite")


def test_a_query_that_names_itself_ends() -> None:
    names = Names()
    assert columns_of(
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r", names
    ) == ("n",)
    assert columns_of("SELECT * FROM " + "(SELECT * FROM " * 50, names) == ()


@pytest.mark.slow
def test_a_large_catalog_is_completed_while_one_types(tmp_path: Path) -> None:
    """Ten thousand sources, a thousand tables."""
    columns = ", ".join(f"column_{i} INTEGER" for i in range(30))
    tables = "".join(
        f"ATTACH TABLE table_{i} ({columns}) SHARD BY by_key (column_0);\n" for i in range(1_000)
    )
    path = tmp_path / "cluster.sql"
    path.write_text(
        "CREATE CATALOG large DIALECT duckdb;\n"
        "CREATE SOURCE s{n} FOR n IN 0-9999 URL 'duckdb:///s{n}.duckdb';\n"
        "CREATE SHARDING by_key USING MOD 10000 AS n ON s{n};\n" + tables,
        encoding="utf-8",
    )
    with shardwise.connect(path) as connection:
        names = names_of(connection)
    assert names.shards == ()
    started = time.thread_time()
    for _ in range(10):
        assert offered(
            "SELECT t.column_2| FROM table_500 t JOIN table_700 u ON t.column_0 = u.column_0", names
        )
        assert len(offered("SELECT * FROM table_9|", names)) > 100
    assert (time.thread_time() - started) / 20 < 0.1


def test_commands(names: Names) -> None:
    def texts(line: str) -> list[str]:
        found = complete_command(line, names)
        assert found is not None
        return [candidate.text for candidate, _ in found]

    assert texts(".ta") == [".tables"]
    assert texts("\\ti") == ["\\timing"]
    assert texts(".schema or") == ["orders"]
    assert texts("\\d odd") == ['"Odd Name"']
    assert texts(".mode j") == ["json", "jsonl"]
    assert texts(".timer o") == ["on", "off"]
    assert texts(".option dead") == ["deadline_s"]
    assert texts(".explain a") == ["analyze"]
    assert texts(".nonsense x") == []
    assert complete_command(".read ", names) is None


def test_the_menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.sql").touch()
    path = tmp_path / "cluster.sql"
    path.write_text(CATALOG, encoding="utf-8")
    with shardwise.connect(path) as connection:
        completer = SqlCompleter(lambda: connection)

        def texts(text: str) -> list[str]:
            return [c.text for c in completer.get_completions(Document(text), CompleteEvent())]

        completer.refresh()
        completer.wait()
        assert texts("SELECT * FROM or") == ["orders"]
        assert texts("SELECT * FROM mi") == []
        connection.register("mine", pa.table({"key": [1]}))
        completer.refresh()
        completer.wait()
        assert texts("SELECT * FROM mi") == ["mine"]
        assert texts("SELECT mine.ke") == ["key"]
        assert texts(".read scr") == ["ipt.sql"]
        assert texts(".mode cs") == ["csv"]
