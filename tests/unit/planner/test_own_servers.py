"""What the merges of the mysql and postgres dialects are written as, where rows have no ENUM and no key."""

from __future__ import annotations

import pytest

from shardwise.catalog import parse
from shardwise.errors import Unplannable
from shardwise.planner import Planner

_CATALOG = """
    CREATE CATALOG c DIALECT {dialect};
    CREATE SOURCE s{{n}} FOR n IN 0-1 URL '{scheme}://u@h/d{{n}}';
    CREATE SHARDING k USING MOD 2 AS m ON s{{m}};
    ATTACH TABLE t (id BIGINT PRIMARY KEY, {columns}) SHARD BY k (id);
    ATTACH TABLE u (k BIGINT, id BIGINT PRIMARY KEY, name TEXT) SHARD BY k (k);
"""
_MYSQL = parse(_CATALOG.format(dialect="mysql", scheme="mysql", columns="e ENUM('b', 'it''s'), n INT"))
_POSTGRES = parse(_CATALOG.format(dialect="postgres", scheme="postgresql", columns="name TEXT, n INT"))


def _merge(sql: str) -> str:
    merge = Planner(_MYSQL).prepare(sql).plan().merge
    assert merge is not None
    return merge.sql.replace("`", "")


@pytest.mark.parametrize(
    ("sql", "order"),
    [
        ("SELECT e, count(*) FROM t GROUP BY e ORDER BY e", "FIELD(f1.e, 'b', 'it''s') END"),
        ("SELECT e AS x, count(*) FROM t GROUP BY e ORDER BY x DESC", "FIELD(f1.e, 'b', 'it''s') END DESC"),
        ("SELECT count(*), e FROM t GROUP BY e ORDER BY 2", "FIELD(f1.e, 'b', 'it''s') END"),
        ("SELECT group_concat(e ORDER BY e) FROM t", "FIELD(f1.e, 'b', 'it''s') END"),
        ("SELECT n, count(*) FROM t GROUP BY n ORDER BY n", "ORDER BY f1.n"),
    ],
)
def test_members_sort_by_their_places(sql: str, order: str) -> None:
    merged = _merge(sql)
    assert order in merged or order.replace("f1.", "") in merged


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM t AS a JOIN t AS b ON a.e < b.e",
        "SELECT 1 FROM t AS a JOIN t AS b ON a.e = b.n",
        "SELECT a.e + b.n FROM t AS a JOIN t AS b ON a.n = b.n",
    ],
)
def test_members_are_no_numbers_in_a_merge(sql: str) -> None:
    with pytest.raises(Unplannable, match="text"):
        _merge(sql)


def _fragment(sql: str) -> str:
    plan = Planner(_POSTGRES).prepare(sql).plan()
    return "; ".join([f.sql for f in plan.fragments] + ([plan.merge.sql] if plan.merge is not None else []))


def test_a_primary_key_determines_the_rest() -> None:
    assert "GROUP BY t.id, t.name" in _fragment("SELECT id, name, count(*) FROM t GROUP BY id")


def test_a_key_that_two_shards_may_have_does_not() -> None:
    """One server with both shards' rows would have no such primary key."""
    assert "name" not in _fragment("SELECT id, name, count(*) FROM u GROUP BY id").rpartition("GROUP BY")[2]


@pytest.mark.parametrize("dialect", ["mysql", "postgres", "sqlite"])
@pytest.mark.parametrize("type_", ["INT", "JSON", "INET", "INTEGER[]"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT m.id FROM t AS m WHERE EXISTS (SELECT 1 FROM u WHERE u.m = m.m)",
        "SELECT m.id, (SELECT max(u.k) FROM u WHERE u.m = m.m) FROM t AS m",
        "SELECT 1 FROM t m WHERE EXISTS (SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM u v WHERE v.m = m.m))",
        "SELECT 1 FROM t AS m WHERE EXISTS (SELECT 1 FROM (SELECT k + 1 AS m FROM u) AS u WHERE u.m = m.m)",
    ],
)
def test_a_table_is_no_column_of_its_name(dialect: str, type_: str, sql: str) -> None:
    """`m.m` is a column of the outer table `m`, whatever the inner table's column `m` is."""
    schemes = {
        "mysql": "mysql://u@h/d{n}",
        "postgres": "postgresql://u@h/d{n}",
        "sqlite": "sqlite:///d{n}.sqlite",
    }
    catalog = parse(f"""
        CREATE CATALOG c DIALECT {dialect};
        CREATE SOURCE s{{n}} FOR n IN 0-1 URL '{schemes[dialect]}';
        CREATE SHARDING k USING MOD 2 AS m ON s{{m}};
        ATTACH TABLE t (id BIGINT PRIMARY KEY, m {type_}) SHARD BY k (id);
        ATTACH TABLE u (k BIGINT, m {type_}) SHARD BY k (k);
    """)
    outer = Planner(catalog).prepare(sql).plan().fragments[0].sql.replace("`", "")
    assert outer.endswith((".m FROM t", ".m FROM t AS m"))
