"""Rows that ran first, as sources of other products are sent them: statements, and what is bound."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.options import Options
from shardwise.plan.run import Bound, Request
from shardwise.planner import Planner

COLUMNS = (
    "k BIGINT, id BIGINT, n INTEGER, d DECIMAL(9,2), x DOUBLE, b BOOLEAN, s VARCHAR, day DATE, "
    "seen TIMESTAMP, u UBIGINT"
)
URLS = {"sqlite": "sqlite:///{}.db", "mysql": "mysql://u@h/{}", "postgres": "postgresql://u@h/{}"}
TYPES = {
    "n": "INTEGER",
    "d": "DECIMAL(9,2)",
    "x": "DOUBLE",
    "b": "BOOLEAN",
    "s": "VARCHAR",
    "day": "DATE",
    "seen": "TIMESTAMP",
    "u": "UBIGINT",
}
ROW = (
    *(7, Decimal("1.50"), 0.1, True, 'a"\\\U0001f600'),
    *(date(1, 2, 3), datetime(2024, 1, 31, 10)),
)


def request(
    product: str, columns: str, *rows: tuple[Any, ...], on: str = "m.id = f.id", force: str = "broadcast"
) -> Request | None:
    """What the first shard is sent of a join with rows that came, or None if they are not sent."""
    catalog = parse(
        "".join(f"CREATE SOURCE {name} URL '{URLS[product].format(name)}';" for name in "ab")
        + "CREATE SHARDING halves USING MOD 2 (a = 0, b = 1);"
        f"CREATE TABLE many ({COLUMNS}) SHARD BY halves (k);"
        f"CREATE TABLE few ({COLUMNS}) SHARD BY halves (k);"
    )
    shown = ", ".join(f"f.{name} AS f_{name}" for name in columns.split())
    sql = f"SELECT m.id, f.id, {shown} FROM many m JOIN few f ON {on} WHERE f.day = DATE '2024-01-31'"
    plan = Planner(catalog).prepare(sql).plan(options=Options(force=(force,)))
    if plan.then is None:
        return None
    types = ("BIGINT", *(TYPES[name] for name in columns.split()))
    found = [(n, *row) for n, row in enumerate(rows)]
    plan = plan.then({plan.first[0].name: Bound(types, found)})
    requests = list(plan.start().ready())
    is_sent = force == "keys" or "AS rows_1" in re.sub(r"[`\"]", "", requests[0].sql)
    return requests[0] if is_sent else None


def test_sqlite_takes_them_apart_by_json_each() -> None:
    sent = request("sqlite", "n d x b s day seen", ROW, (None,) * 7)
    assert sent is not None
    ((name, rows),) = sent.params.items()
    assert rows == (
        '[[0,7,150,"0.1",1,"a\\"\\\\\U0001f600","0001-02-03","2024-01-31 10:00:00.000000"],'
        "[1,null,null,null,null,null,null,null]]"
    )
    items = (
        *("CAST(json_extract(r.value, '$[0]') AS INTEGER) AS id", "'$[1]') AS INTEGER) AS n"),
        *("'$[2]') AS INTEGER) AS d", "CAST(shardwise_real(json_extract(r.value, '$[3]')) AS REAL) AS x"),
        *("'$[4]') AS INTEGER) AS b", "'$[5]') AS TEXT) AS s", "'$[6]') AS TEXT) AS", "'$[7]') AS TEXT) AS"),
        f"FROM json_each(:{name}) AS r JOIN json_each('[0]') AS one LIMIT (-1))",
    )
    for item in items:
        assert item in sent.sql, sent.sql


def test_mariadb_reads_them_by_json_table() -> None:
    sent = request("mysql", "n d x b s day seen", ROW, (None,) * 7)
    assert sent is not None
    ((name, rows),) = sent.params.items()
    assert rows == (
        '[[0,7,"1.50","0.1",1,"a\\"\\\\\U0001f600","0001-02-03","2024-01-31 10:00:00.000000"],'
        "[1,null,null,null,null,null,null,null]]"
    )
    types = (
        *("c1 BIGINT", "c2 BIGINT", "c3 DECIMAL(9,2)", "c4 DOUBLE", "c5 TINYINT"),
        "c6 VARCHAR(4) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
        *("c7 DATE", "c8 DATETIME(6)"),
    )
    columns = ", ".join(f"{each} PATH '$[{at}]' ERROR ON ERROR" for at, each in enumerate(types))
    assert (
        f"FROM JSON_TABLE(:{name}, '$[*]' COLUMNS ({columns})) AS `j` LIMIT 18446744073709551615)" in sent.sql
    )


def test_postgresql_is_given_lists() -> None:
    sent = request("postgres", "n s", (7, "a"), (None, None))
    assert sent is not None
    lists = "CAST(%(rows_1_1)s AS bigint[]), CAST(%(rows_1_2)s AS bigint[]), CAST(%(rows_1_3)s AS text[])"
    items = 'c1 AS "id", c2 AS "n", (c3 COLLATE "C") AS "s"'
    assert f'(SELECT {items} FROM unnest({lists}) AS "r"("c1", "c2", "c3")) AS "rows_1"' in sent.sql
    assert sent.params == {"rows_1_1": [0, 1], "rows_1_2": [7, None], "rows_1_3": ["a", None]}


@pytest.mark.parametrize("product", URLS)
@pytest.mark.parametrize(
    ("column", "value", "takers"),
    [
        ("x", math.nan, ()),
        ("x", math.inf, ("sqlite", "postgres")),
        ("x", -0.0, ("postgres",)),
        ("x", 0.0, ("sqlite", "mysql", "postgres")),
        ("s", "a\0b", ()),
        ("s", "x" * 15_000, ("sqlite", "mysql", "postgres")),
        ("s", "x" * 15_001, ("sqlite", "postgres")),
        ("day", "0044-03-15 (BC)", ()),
        ("u", 2**63, ()),
    ],
)
def test_a_value_that_would_be_another_is_not_sent(
    product: str, column: str, value: object, takers: tuple[str, ...]
) -> None:
    assert (request(product, column, (value,)) is not None) == (product in takers)


@pytest.mark.parametrize("product", URLS)
def test_rows_are_not_sent_where_the_join_is_not_computed_alike(product: str) -> None:
    assert request(product, "n s", (7, "a"), on="m.id = f.id AND upper(m.s) = f.s") is None
    assert request(product, "n s", (7, "a"), on="m.id = f.id AND m.s < f.s") is not None


def test_text_alone_joins_rows_that_were_sent() -> None:
    """MariaDB has no index for tables' texts by their code points; the rows have one."""
    assert request("mysql", "s", ("a",), on="m.s = f.s") is not None


@pytest.mark.parametrize(
    ("product", "condition"),
    [
        (
            "sqlite",
            "((m.n, m.s COLLATE BINARY) IN (SELECT CAST(json_extract(r.value, '$[0]') AS INTEGER), CAST",
        ),
        (
            "mysql",
            "((m.n, (CONVERT(m.s USING utf8mb4) COLLATE utf8mb4_nopad_bin)) IN (SELECT c1, c2 FROM ",
        ),
        (
            "postgres",
            "((m.n, (m.s COLLATE C)) IN (SELECT c1, (c2 COLLATE C) FROM unnest(CAST(%(rows_1_of_1)s AS",
        ),
    ],
)
def test_columns_are_asked_for_together(product: str, condition: str) -> None:
    sent = request(product, "n s", (7, "a"), (8, None), (7, "A"), on="m.n = f.n AND m.s = f.s", force="keys")
    assert sent is not None
    text = re.sub(r"[`\"]", "", sent.sql).replace("(m.s COLLATE BINARY)", "m.s COLLATE BINARY")
    assert condition in text
    of_rows = [value for name, value in sent.params.items() if name.startswith("rows_1_of_1")]
    assert of_rows == ([[7, 7]] if product == "postgres" else ['[[7,"a"],[7,"A"]]'])


@pytest.mark.parametrize("product", URLS)
@pytest.mark.parametrize(
    ("column", "value", "bound"),
    [
        ("n", 7, "[7]"),
        ("d", Decimal("1.50"), {"sqlite": "[150]", "mysql": '["1.50"]'}),
        ("x", 0.1, '["0.1"]'),
        ("s", "a", '["a"]'),
        ("day", date(2024, 1, 31), '["2024-01-31"]'),
        ("seen", datetime(2024, 1, 31, 10), '["2024-01-31 10:00:00.000000"]'),
    ],
)
def test_keys_of_any_type_that_is_computed_with(product: str, column: str, value: object, bound: Any) -> None:
    sent = request(product, column, (value,), (None,), on=f"m.{column} = f.{column}", force="keys")
    assert sent is not None
    wanted = [value] if product == "postgres" else bound if isinstance(bound, str) else bound[product]
    assert list(sent.params.values()) == [wanted]
