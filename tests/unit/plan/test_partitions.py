"""plan/partitions: the text for one shard, for tables of each shape."""

from __future__ import annotations

import sqlite3

import duckdb
import pytest
from sqlglot import exp

from shardwise.catalog.language import parse
from shardwise.catalog.model import Catalog, SlotSet, Table
from shardwise.errors import InternalError
from shardwise.plan import nodes as n
from shardwise.plan.partitions import SQLITE, ShardTexts, shard_text, slots_of
from shardwise.plan.sql import to_query
from shardwise.plan.sql.sources import RAW
from shardwise.plan.tree import subplan
from tests.unit.plan.sql_trees import ROUTE, e, join, no_leaf, project, sort, where

CATALOG = parse("""
CREATE SOURCE db_{n} FOR n IN 0-1 DIALECT duckdb;
CREATE SHARDING by_user USING MOD 4 AS n ON db_{n // 2};
ATTACH TABLE orders (id BIGINT, user_id BIGINT, "Total" DECIMAL(12,2))
  SHARD BY by_user (user_id) NAMED 'orders_{n:02}';
ATTACH TABLE halves (id BIGINT, user_id BIGINT) SHARD BY by_user (user_id) NAMED 'halves_{n % 2}';
ATTACH TABLE events (id BIGINT, user_id BIGINT) SHARD BY by_user (user_id) NAMED '{shard}.events';
ATTACH TABLE users (id BIGINT, name VARCHAR) SHARD BY by_user (id);
ATTACH TABLE crm.contacts (id BIGINT, user_id BIGINT) SHARD BY by_user (user_id);
""")


def scan(
    name: str, rel: str, columns: str, *, catalog: Catalog = CATALOG, schema: str | None = None
) -> n.Scan:
    table = catalog.table(name, schema)
    assert isinstance(table, Table)
    outputs = tuple(n.Output(n.ColumnId(rel, column)) for column in columns.split())
    return n.Scan(table=table, rel=rel, columns=outputs, route=ROUTE)


def text(node: n.Node, shard: str, **slots: SlotSet | None) -> str:
    return shard_text(to_query(node, no_leaf), CATALOG, shard, slots)


ORDERS = where(scan("orders", "o", "id user_id"), "o.id > 1")


def test_one_partition_takes_the_tables_place() -> None:
    assert text(ORDERS, "db_1", o=0b1000) == "SELECT o.id, o.user_id FROM orders_03 AS o WHERE o.id > 1"
    bare = scan("orders", "orders", "id")
    assert text(bare, "db_0", orders=0b1) == "SELECT orders.id FROM orders_00 AS orders"


def test_several_are_put_together_with_the_columns_read() -> None:
    assert text(ORDERS, "db_0") == (
        "SELECT o.id, o.user_id FROM (SELECT id, user_id FROM orders_00 "
        "UNION ALL SELECT id, user_id FROM orders_01) AS o WHERE o.id > 1"
    )
    assert text(scan("orders", "o", "Total"), "db_0") == (
        'SELECT o."Total" FROM (SELECT "Total" FROM orders_00 UNION ALL SELECT "Total" FROM orders_01) AS o'
    )
    assert text(scan("halves", "h", "id"), "db_1", h=0b0100) == "SELECT h.id FROM halves_0 AS h"


def test_rows_where_columns_stand_in_another_order() -> None:
    with duckdb.connect() as con:
        con.execute('CREATE TABLE orders_00 AS SELECT 1 AS id, 10 AS user_id, 0.5 AS "Total"')
        con.execute('CREATE TABLE orders_01 AS SELECT 20 AS user_id, 1.5 AS "Total", 2 AS id')
        tree = sort(scan("orders", "o", "id user_id"), "o.id")
        assert con.execute(text(tree, "db_0")).fetchall() == [(1, 10), (2, 20)]


def test_a_shard_without_a_partition_reads_no_rows_of_the_right_types() -> None:
    found = text(scan("orders", "o", "id Total"), "db_0", o=0b1000)
    assert found == (
        'SELECT o.id, o."Total" FROM (SELECT CAST(NULL AS BIGINT) AS id, '
        'CAST(NULL AS DECIMAL(12,2)) AS "Total" WHERE FALSE) AS o'
    )
    with duckdb.connect() as con:
        assert con.execute(f"DESCRIBE {found}").fetchall()[1][1] == "DECIMAL(12,2)"
        assert con.execute(found).fetchall() == []


def test_hidden_columns_are_constants() -> None:
    tree = project(
        scan("orders", "o", "id _shard _source _table"), "p", id="o.id", s="o._shard", t="o._table"
    )
    assert text(tree, "db_1") == (
        "SELECT o.id, o._shard AS s, o._table AS t FROM "
        "(SELECT id, 'db_1' AS _shard, 'orders_02' AS _table FROM orders_02 "
        "UNION ALL SELECT id, 'db_1' AS _shard, 'orders_03' AS _table FROM orders_03) AS o"
    )
    users = where(scan("users", "u", "id _source"), "u._source = 'db_0'")
    assert "FROM (SELECT id, 'db_0' AS _source FROM users) AS u" in text(users, "db_0")


def test_tables_that_are_called_the_same_everywhere_share_one_text() -> None:
    tree = join(
        "inner", scan("users", "u", "id"), scan("contacts", "c", "user_id", schema="crm"), "u.id = c.user_id"
    )
    texts = ShardTexts(to_query(tree, no_leaf), CATALOG, {})
    assert texts.text("db_0") is texts.text("db_1")
    assert texts.text("db_0").endswith("FROM users AS u JOIN crm.contacts AS c ON u.id = c.user_id")
    own = scan("contacts", "contacts", "id", schema="crm")
    assert text(own, "db_0") == "SELECT contacts.id FROM crm.contacts"


def test_a_name_with_the_shard_in_it_has_a_schema() -> None:
    assert text(scan("events", "e", "id"), "db_1") == "SELECT e.id FROM db_1.events AS e"


def test_two_references_have_their_own_slots() -> None:
    tree = join("inner", scan("orders", "a", "id"), scan("orders", "b", "id"), "a.id = b.id")
    wanted = n.Filter(input=tree.but(left=tree.left.but(slots=0b01)), conjuncts=())
    assert slots_of(wanted) == {"a": 0b01, "b": None}
    assert text(tree, "db_0", a=0b01, b=0b10).endswith(
        "FROM orders_00 AS a JOIN orders_01 AS b ON a.id = b.id"
    )


def test_a_reference_in_a_subquery() -> None:
    inner = project(scan("orders", "o", "user_id"), "z", k="o.user_id")
    tree = n.Filter(input=scan("users", "u", "id"), conjuncts=(_in("u.id", inner),))
    assert text(tree, "db_0", o=0b10) == (
        "SELECT u.id FROM users AS u WHERE u.id IN (SELECT o.user_id AS k FROM orders_01 AS o)"
    )


def _in(left: str, plan: n.Node) -> exp.Expression:
    return exp.In(this=e(left), query=subplan(plan))


def test_raw_statements_list_all_columns_of_the_table() -> None:
    statement = e("SELECT COLUMNS('i.*') FROM o")
    next(statement.find_all(exp.Table)).meta[RAW] = 0
    raw = n.Raw(
        rel="r",
        sql=statement,
        tables=(scan("orders", "o", "id"),),
        columns=(n.Output(n.ColumnId("r", "id")),),
        reason="a test",
    )
    assert text(raw, "db_0") == (
        "SELECT COLUMNS('i.*') FROM (SELECT id, user_id, \"Total\" FROM orders_00 "
        'UNION ALL SELECT id, user_id, "Total" FROM orders_01) AS o'
    )


def test_a_cte_hides_no_physical_table() -> None:
    ref = n.CteRef(name="orders_00", rel="w", columns=(n.Output(n.ColumnId("w", "id")),))
    tree = n.Cte(name="orders_00", definition=scan("orders", "o", "id"), body=ref)
    assert text(tree, "db_0", o=0b1) == (
        "WITH orders_00_1 AS MATERIALIZED (SELECT o.id FROM orders_00 AS o) SELECT w.id FROM orders_00_1 AS w"
    )
    assert text(tree, "db_0", o=0b10).startswith(
        "WITH orders_00 AS MATERIALIZED (SELECT o.id FROM orders_01 AS o)"
    )


def test_text_that_looks_like_a_hole() -> None:
    tree = where(scan("orders", "o", "id"), "'\ue0000\ue000' = 'x'")
    assert text(tree, "db_0", o=0b1) == "SELECT o.id FROM orders_00 AS o WHERE '\ue0000\ue000' = 'x'"


def test_the_query_may_be_copied_and_is_not_changed() -> None:
    query = to_query(ORDERS, no_leaf)
    before = query.sql(dialect="duckdb")
    texts = ShardTexts(query.copy(), CATALOG, {"o": 0b1})
    assert "orders_00" in texts.text("db_0")
    assert query.sql(dialect="duckdb") == before == "SELECT o.id, o.user_id FROM orders AS o WHERE o.id > 1"


def test_a_table_that_the_catalog_lacks_is_our_bug() -> None:
    with pytest.raises(InternalError, match="no table of the catalog"):
        shard_text(to_query(ORDERS, no_leaf), Catalog(), "db_0", {})


LITE = parse("""
CREATE SOURCE s{n} FOR n IN 0-1 URL 'sqlite:///s{n}.db';
CREATE SHARDING by_k USING MOD 4 AS n ON s{n // 2};
CREATE SHARDING spare USING MOD 1 ON s0;
ATTACH TABLE t (k BIGINT, "Group" VARCHAR, "order" VARCHAR) SHARD BY by_k (k) NAMED 't_{n}';
ATTACH TABLE u (k BIGINT, "it's" VARCHAR) SHARD BY by_k (k);
""")


@pytest.mark.parametrize(
    ("table", "columns", "slots", "expected"),
    [
        ("u", "k", None, "SELECT u.k FROM u"),
        (
            "t",
            "k Group order",
            None,
            (
                'SELECT t.k, t."Group", t."order" FROM (SELECT k, t_0."Group", t_0."order" FROM t_0 '
                'UNION ALL SELECT k, t_1."Group", t_1."order" FROM t_1) AS t'
            ),
        ),
        ("t", "k _table", 1, "SELECT t.k, t._table FROM (SELECT k, 't_0' AS _table FROM t_0) AS t"),
        ("t", "k Group", 0, 'SELECT t.k, t."Group" FROM (SELECT NULL AS k, NULL AS "Group" WHERE 0) AS t'),
    ],
)
def test_sqlite_is_written_its_own_way(
    table: str, columns: str, slots: SlotSet | None, expected: str
) -> None:
    """A quoted name that SQLite does not know is a text to it: it is never written alone."""
    query = to_query(scan(table, table, columns, catalog=LITE), no_leaf)
    text = ShardTexts(query, LITE, {table: slots}, SQLITE).text("s0")
    assert text == expected
    with sqlite3.connect(":memory:") as con:
        for name in ("u", "t_0", "t_1"):
            con.execute(f'CREATE TABLE {name} (k, "Group", "order", "it\'s")')
        assert con.execute(text).fetchall() == []
