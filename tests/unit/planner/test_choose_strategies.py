"""choose_strategies, step by step; which strategies it takes the golden plans show."""

from __future__ import annotations

import pickle
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.options import Options
from shardwise.plan.nodes import Rows
from shardwise.plan.run import Bound, Plan
from shardwise.plan.sent import rows_sent
from shardwise.plan.tree import walk
from shardwise.planner import Planner
from shardwise.planner.early_values import MYSQL_VALUES
from shardwise.planner.firsts import ROWS_MAX

CATALOG = parse("""
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_item USING MOD 4 ON s{slot};
CREATE SHARDING by_product USING MOD 4 ON s{slot};
CREATE TABLE items (id BIGINT PRIMARY KEY, product_id BIGINT, quantity INTEGER) SHARD BY by_item (id);
CREATE TABLE products (id BIGINT PRIMARY KEY, name VARCHAR, price DECIMAL(9,2)) SHARD BY by_product (id);
""")
SQL = "SELECT i.quantity, p.price FROM items i JOIN products p ON p.id = i.product_id WHERE p.name = 'x'"
TYPES = ("BIGINT", "DECIMAL(9,2)")
KEYS = Options(force=("keys",))
BROADCAST = Options(force=("broadcast",))


def planned(sql: str = SQL, options: Options | None = None) -> Plan:
    return Planner(CATALOG).prepare(sql).plan(options=options)


def known(rows: Any, plan: Plan, types: tuple[str, ...] = TYPES) -> Plan:
    (first,) = plan.first
    assert plan.then is not None
    return plan.then({first.name: Bound(types, rows)})


def of_items(plan: Plan) -> Any:
    return next(f for f in plan.fragments if "items AS i" in f.sql)


def test_a_few_rows_come_ahead_and_their_keys_narrow_the_other_side() -> None:
    plan = planned(options=KEYS)
    assert [first.name for first in plan.first] == ["rows_1"]
    assert plan.first[0].rows_max == ROWS_MAX
    plan = known([(1, Decimal(2)), (None, None), (7, Decimal(3)), (7, Decimal(4))], plan)
    narrowed = of_items(plan)
    assert narrowed.sql.endswith("WHERE i.product_id IN (SELECT UNNEST(CAST($rows_1 AS BIGINT[])))")
    assert narrowed.params["rows_1"] == [1, 7]
    assert not plan.first
    assert not any("FROM products" in f.sql for f in plan.fragments)  # its rows are here


def test_no_key_means_no_row() -> None:
    assert of_items(known([(None, Decimal(1))], planned(options=KEYS))).sql.endswith("WHERE FALSE")


def test_a_few_rows_are_sent_where_groups_then_leave_the_shards() -> None:
    sql = SQL.replace("i.quantity, p.price", "sum(i.quantity), p.price") + " GROUP BY p.price"
    plan = known([(1, Decimal(2)), (7, None)], planned(sql, BROADCAST))
    fragment = of_items(plan)
    assert "GROUP BY" in fragment.sql
    assert fragment.params["rows_1_1"] == [1, 7]
    assert fragment.params["rows_1_2"] == [Decimal(2), None]
    assert [f.name for f in plan.fragments] == ["f1"]


def test_too_many_rows_are_taken_as_they_are_expected_not_to_be() -> None:
    """The side moves whole after all; only keys, if they are few, may still narrow the other."""
    plan = known(None, planned())
    assert not any(isinstance(n, Rows) for n in walk(plan.root))
    assert any("FROM products" in f.sql for f in plan.fragments)


def test_a_side_that_waits_for_a_subquery_is_asked_after_it() -> None:
    plan = planned(f"{SQL} AND p.price > (SELECT avg(price) FROM products)", KEYS)
    assert [first.name for first in plan.first] == ["subquery_1"]
    assert plan.then is not None
    plan = plan.then({"subquery_1": Bound(("DOUBLE",), [(2.5,)])})
    assert [first.name for first in plan.first] == ["rows_2"]
    assert plan.first[0].plan.fragments[0].params == {"subquery_1": 2.5}
    assert plan.then is not None
    plan = plan.then({"rows_2": Bound(TYPES, [(1, Decimal(1))])})
    assert not plan.first
    assert "$rows_2" in of_items(plan).sql


@pytest.mark.parametrize(
    ("join", "side", "is_narrowed"),
    [
        ("items i JOIN products p ON p.id = i.product_id", "p.name = 'x'", True),
        ("products p LEFT JOIN items i ON p.id = i.product_id", "p.name = 'x'", True),
        ("items i RIGHT JOIN products p ON p.id = i.product_id", "p.name = 'x'", True),
        ("products p SEMI JOIN items i ON p.id = i.product_id", "p.name = 'x'", True),
        ("products p ANTI JOIN items i ON p.id = i.product_id", "p.name = 'x'", True),
        ("items i LEFT JOIN (FROM products WHERE name = 'x') p ON p.id = i.product_id", "TRUE", False),
        ("items i ANTI JOIN (FROM products WHERE name = 'x') p ON p.id = i.product_id", "TRUE", False),
        ("(FROM products WHERE name = 'x') p FULL JOIN items i ON p.id = i.product_id", "TRUE", False),
    ],
)
def test_only_a_side_whose_unmatched_rows_vanish_is_narrowed(join: str, side: str, is_narrowed: bool) -> None:
    plan = planned(f"SELECT count(*) FROM {join} WHERE {side}", KEYS)
    if plan.first:
        plan = known([(1,)], plan, ("BIGINT",))
    assert ("i.product_id IN (SELECT UNNEST" in of_items(plan).sql) == is_narrowed


@pytest.mark.parametrize(
    ("join", "is_sent"),
    [
        ("items i LEFT JOIN (FROM products WHERE name = 'x') p ON p.id = i.product_id", True),
        ("items i SEMI JOIN (FROM products WHERE name = 'x') p ON p.id = i.product_id", True),
        ("items i ANTI JOIN (FROM products WHERE name = 'x') p ON p.id = i.product_id", True),
        ("(FROM products WHERE name = 'x') p RIGHT JOIN items i ON p.id = i.product_id", True),
        ("(FROM products WHERE name = 'x') p LEFT JOIN items i ON p.id = i.product_id", False),
        ("(FROM products WHERE name = 'x') p ANTI JOIN items i ON p.id = i.product_id", False),
        ("(FROM products WHERE name = 'x') p FULL JOIN items i ON p.id = i.product_id", False),
    ],
)
def test_the_preserved_side_is_never_sent(join: str, is_sent: bool) -> None:
    """Each shard would give the rows that none of its own meets."""
    plan = planned(f"SELECT count(*) FROM {join}", BROADCAST)
    if plan.first:
        plan = known([(1,)], plan, ("BIGINT",))
    assert ("$rows_1_1" in of_items(plan).sql) == is_sent


def test_a_text_of_a_collation_does_not_come_ahead() -> None:
    catalog = parse("""
    CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
    CREATE SHARDING m USING MOD 2 ON s{slot};
    CREATE TABLE a (id BIGINT PRIMARY KEY, t VARCHAR COLLATE NOCASE) SHARD BY m (id);
    CREATE TABLE b (id BIGINT PRIMARY KEY, a_id BIGINT) SHARD BY m (id);
    """)
    sql = "SELECT a.t, b.id FROM a JOIN b ON a.id = b.a_id WHERE a.t = 'x'"
    plan = Planner(catalog).prepare(sql).plan(options=KEYS)
    assert [first.name for first in plan.first] == ["keys_1"]


def test_too_many_keys_are_a_range() -> None:
    """Of rows there are too many, and then of keys."""
    plan = known(None, planned(options=KEYS))
    assert [first.name for first in plan.first] == ["keys_2"]
    assert plan.then is not None
    plan = plan.then({"keys_2": Bound(("BIGINT",), None)})
    assert [first.name for first in plan.first] == ["range_3"]
    assert plan.first[0].rows_max is None
    assert plan.then is not None
    plan = plan.then({"range_3": Bound(("BIGINT", "BIGINT"), [(3, 90_000)])})
    narrowed = of_items(plan)
    assert narrowed.sql.endswith(
        "BETWEEN CAST($range_3_least AS BIGINT) AND CAST($range_3_largest AS BIGINT)"
    )
    assert (narrowed.params["range_3_least"], narrowed.params["range_3_largest"]) == (3, 90_000)


def test_no_row_has_no_range() -> None:
    plan = known(None, planned(options=Options(force=("keys", "range"))))
    assert [first.name for first in plan.first] == ["range_2"]
    assert plan.then is not None
    plan = plan.then({"range_2": Bound(("BIGINT", "BIGINT"), [(None, None)])})
    assert of_items(plan).sql.endswith("WHERE FALSE")


def test_columns_that_are_joined_together_are_asked_for_together() -> None:
    catalog = parse("""
    CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
    CREATE SHARDING m USING MOD 2 ON s{slot};
    CREATE TABLE a (id BIGINT PRIMARY KEY, p BIGINT, q BIGINT, x BIGINT) SHARD BY m (id);
    CREATE TABLE b (id BIGINT PRIMARY KEY, p BIGINT, q BIGINT, y BIGINT) SHARD BY m (id);
    """)
    sql = "SELECT b.y FROM a JOIN b ON a.p = b.p AND a.q = b.q WHERE a.x = 3"
    plan = Planner(catalog).prepare(sql).plan(options=KEYS)
    plan = known([(1, 2), (1, 2), (3, None), (3, 4)], plan, ("BIGINT", "BIGINT"))
    fragment = next(f for f in plan.fragments if "b AS b" in f.sql or "FROM b" in f.sql)
    assert "(b.p, b.q) IN (SELECT UNNEST(" in fragment.sql
    assert (fragment.params["rows_1_of_1"], fragment.params["rows_1_of_2"]) == ([1, 3], [2, 4])


SHARDED = """
CREATE CATALOG sent DIALECT {0};
CREATE SOURCE s{{n}} FOR n IN 0-1 URL '{1}://h{{n}}/d';
CREATE SHARDING m USING MOD 2 AS n ON s{{n}};
ATTACH TABLE a (id BIGINT PRIMARY KEY, p INT, q DATE, x INT) SHARD BY m (id);
ATTACH TABLE b (id BIGINT PRIMARY KEY, p INT, q DATE, y DECIMAL(9,2)) SHARD BY m (id);
"""
OF_SERVERS = (
    "SELECT a.q, sum(b.y) FROM a JOIN b ON a.p = b.p AND a.q = b.q WHERE a.x = 3 GROUP BY a.q",
    [(1, date(2024, 1, 31)), (None, None), (7, date(2024, 2, 29))],
)


def of_servers(dialect: str, types: tuple[str, ...], options: Options) -> Any:
    sql, rows = OF_SERVERS
    catalog = parse(SHARDED.format(dialect, "postgresql" if dialect == "postgres" else dialect))
    plan = known(rows, Planner(catalog).prepare(sql).plan(options=options), types)
    return next(f for f in plan.fragments if "b" in f.sql)


def test_mariadb_reads_rows_that_are_sent_with_json_table() -> None:
    fragment = of_servers("mysql", ("INT", "DATE"), BROADCAST)
    assert (
        "FROM `b` JOIN (SELECT `c1` AS `p`, `c2` AS `q` FROM JSON_TABLE(:rows_1_json, '$[*]' COLUMNS "
        "(c1 INT PATH '$[0]' ERROR ON ERROR, c2 DATE PATH '$[1]' ERROR ON ERROR)) AS `j` "
        "LIMIT 18446744073709551615) AS `rows_1` ON" in fragment.sql
    )
    sent = fragment.params["rows_1_json"]
    assert sent == '[[1,"2024-01-31"],[null,null],[7,"2024-02-29"]]'
    assert rows_sent(fragment.params, fragment.sent_as) == 3
    assert pickle.loads(pickle.dumps(sent)).rows == 3


def test_postgresql_reads_rows_that_are_sent_with_unnest() -> None:
    fragment = of_servers("postgres", ("integer", "date"), BROADCAST)
    assert "SELECT UNNEST(CAST(%(rows_1_1)s AS INT[])) AS" in fragment.sql
    assert fragment.params["rows_1_2"] == [date(2024, 1, 31), None, date(2024, 2, 29)]
    assert rows_sent(fragment.params, fragment.sent_as) == 3


def test_keys_of_several_columns_are_rows_to_mariadb() -> None:
    fragment = of_servers("mysql", ("INT", "DATE"), KEYS)
    assert "(`b`.`p`, `b`.`q`) IN (:rows_1_of_together)" in fragment.sql
    assert fragment.params["rows_1_of_together"] == [(1, date(2024, 1, 31)), (7, date(2024, 2, 29))]


def test_more_rows_than_a_packet_takes_are_not_sent() -> None:
    types = tuple(f"DECIMAL(65,{n})" for n in range(20))
    assert not MYSQL_VALUES.rows_travel(Bound(types, [(Decimal(1),) * 20] * 10_000), [None] * 20)
    assert MYSQL_VALUES.rows_travel(Bound(types, [(Decimal(1),) * 20] * 1_000), [None] * 20)


def test_keys_that_are_sent_as_a_text_are_counted() -> None:
    catalog = parse("""
    CREATE SOURCE s{n} FOR n IN 0-1 URL 'sqlite:////srv/s{n}.db';
    CREATE SHARDING m USING MOD 2 ON s{slot};
    CREATE TABLE a (id BIGINT PRIMARY KEY, p BIGINT, x BIGINT) SHARD BY m (id);
    CREATE TABLE b (id BIGINT PRIMARY KEY, p BIGINT, y BIGINT) SHARD BY m (id);
    """)
    sql = "SELECT b.y FROM a JOIN b ON a.p = b.p WHERE a.x = 3"
    plan = known([(1,), (5,)], Planner(catalog).prepare(sql).plan(options=KEYS), ("BIGINT",))
    run = plan.start()
    assert all("[1,5]" in request.params.values() for request in run.ready("f1"))
    assert (run.rows_sent, run.bytes_sent) == (4, 10)


def test_texts_are_sent_with_their_collation() -> None:
    catalog = parse("""
    CREATE CATALOG sent DIALECT mysql;
    CREATE SOURCE s{n} FOR n IN 0-1 URL 'mysql://h{n}/d';
    CREATE SHARDING m USING MOD 2 AS n ON s{n};
    ATTACH TABLE a (id BIGINT PRIMARY KEY, p INT, x INT, name VARCHAR(9) COLLATE utf8mb4_general_ci,
        t VARCHAR(9)) SHARD BY m (id);
    ATTACH TABLE b (id BIGINT PRIMARY KEY, p INT) SHARD BY m (id);
    """)

    def plan(a: str, shown: str) -> Plan:
        sql = f"SELECT a.{shown}, count(*) FROM {a} a JOIN b ON a.p = b.p WHERE a.x = 3 GROUP BY a.{shown}"
        return Planner(catalog).prepare(sql).plan(options=BROADCAST)

    after = known([(1, "Ann"), (2, None)], plan("a", "name"), ("INT", "VARCHAR(9)"))
    (fragment,) = after.fragments
    assert "c2 VARCHAR(3) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PATH '$[1]'" in fragment.sql
    assert not any(first.name.startswith("rows") for first in plan("a", "t").first)
    computed = plan("(SELECT p, x, max(name) AS most FROM a GROUP BY p, x)", "most")
    if computed.first:  # its type is not known before
        after = known([(1, "Ann")], computed, ("INT", "VARCHAR(9)"))
        assert not any("JSON_TABLE" in f.sql for f in after.fragments)
