"""What fragments for MariaDB and PostgreSQL look like; what they answer is asked in tests/servers."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.plan.run import Request
from shardwise.planner import Planner

COLUMNS = """(k BIGINT PRIMARY KEY, n INTEGER NOT NULL, x INTEGER, s VARCHAR, c CHAR(5), d DECIMAL(9,2),
    day DATE, seen TIMESTAMP, r DOUBLE, b BOOLEAN)"""
MOMENT = "2025-01-05 10:00:00.000000"
URLS = {"mysql": "mysql://app@h/d", "postgres": "postgresql://app@h/d"}
CATALOGS = {
    dialect: parse(
        f"CREATE CATALOG c DIALECT duckdb; CREATE SOURCE s URL '{url}'; ATTACH TABLE t {COLUMNS} ON s;"
        f'ATTACH TABLE "odd `""name" (k BIGINT, "a `""b" INTEGER) ON s;'
    )
    for dialect, url in URLS.items()
}


def sent(dialect: str, sql: str, *params: Any) -> Request:
    return next(Planner(CATALOGS[dialect]).prepare(sql).plan(list(params)).start().ready())


@pytest.mark.parametrize(
    ("dialect", "condition", "params", "text", "bound"),
    [
        ("mysql", "k = ?", [5], "`t`.`k` = :p1", {"p1": 5}),
        ("postgres", "k = ?", [5], '"t"."k" = CAST(%(p1)s AS bigint)', {"p1": 5}),
        ("mysql", "d > ?", [Decimal("1.005")], "`t`.`d` > :", {"p1_": Decimal("1.00")}),
        ("postgres", "d > ?", [Decimal("1.005")], "AS numeric)", {"p1_": Decimal("1.00")}),
        ("mysql", "d = 2.005", [], "`t`.`d` = 0.005", {}),
        ("mysql", "n < 99999999999999999999", [], f"`t`.`n` < 1{'0' * 40}", {}),
        ("mysql", "day >= ?", [date(2025, 1, 5)], " AS DATE)", {"p1_": "2025-01-05"}),
        ("postgres", "day >= ?", [date(2025, 1, 5)], " AS date)", {"p1_": "2025-01-05"}),
        ("mysql", "seen < ?", [datetime(2025, 1, 5, 10)], " AS DATETIME(6))", {"p1_": MOMENT}),
        ("mysql", "s = 'a\\b'", [], "`t`.`s` = 'a\\\\b'", {}),
        ("postgres", "s = 'a\\b'", [], "\"t\".\"s\" = CAST('a\\b' AS text)", {}),
        ("mysql", "s = 'é'", [], "WHERE ((CONVERT(`t`.`s` USING utf8mb4) COLLATE", {}),
        ("mysql", "s LIKE 'a|_b%'", [], "LIKE 'a|_b%' ESCAPE '!'", {}),
        ("postgres", "r < 'infinity'::DOUBLE", [], "", {}),
        ("postgres", "c = 'ab'", [], '(CAST("t"."c" AS text) COLLATE "C") = ', {}),
        ("mysql", "b", [], "CASE WHEN (NOT (`t`.`b` IN (0, 1))) THEN CAST(EXP(", {}),
        ("postgres", "b", [], 'WHERE "t"."b"', {}),
        ("mysql", "x IS NOT DISTINCT FROM 3", [], "(`t`.`x` <=> 3)", {}),
        ("mysql", "day IS NULL", [], "(`t`.`day` <=> NULL)", {}),
        ("postgres", "day IS NULL", [], '("t"."day" IS NULL)', {}),
    ],
)  # fmt: skip
def test_conditions(
    dialect: str, condition: str, params: list[Any], text: str, bound: dict[str, Any]
) -> None:
    request = sent(dialect, f"SELECT k FROM t WHERE {condition}", *params)
    assert text in request.sql
    for name, value in bound.items():
        assert [v for n, v in request.params.items() if n.startswith(name)] == [value]


def test_a_text_goes_beside_a_column_as_it_is_only_if_every_character_set_has_it() -> None:
    plain, odd = (sent("mysql", "SELECT k FROM t WHERE s = ?", text) for text in ("ann", "änn"))
    assert sorted(map(repr, plain.params.values())) == ["'ann'", "'ann'"]
    assert sorted(map(repr, odd.params.values())) == ["'änn'", "None"]
    assert plain.sql == odd.sql


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ("k", "ORDER BY `t`.`k` ASC"),
        ("n DESC", "ORDER BY `t`.`n` DESC"),
        ("x", "ORDER BY (`t`.`x` IS NULL) ASC, `t`.`x` ASC"),
        ("x NULLS FIRST", "ORDER BY `t`.`x` ASC"),
        ("x DESC NULLS LAST", "ORDER BY `t`.`x` DESC"),
        ("x DESC NULLS FIRST", "ORDER BY (`t`.`x` IS NULL) DESC, `t`.`x` DESC"),
    ],
)
def test_nulls_have_their_place(order: str, text: str) -> None:
    assert f"{text} LIMIT 3" in sent("mysql", f"SELECT k FROM t ORDER BY {order} LIMIT 3").sql


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", 'SELECT `odd ``"name`.`a ``"b` FROM `odd ``"name` WHERE (`odd ``"name`.`k` = 1)'),
        ("postgres", 'SELECT "odd `""name"."a `""b" FROM "odd `""name" WHERE ("odd `""name"."k" = 1)'),
    ],
)
def test_names_are_quoted(dialect: str, text: str) -> None:
    assert sent(dialect, 'SELECT "a `""b" FROM "odd `""name" WHERE k = 1').sql == text


@pytest.mark.parametrize("dialect", URLS)
def test_padded_text_leaves_without_its_blanks(dialect: str) -> None:
    """As MariaDB gives it, and as a comparison takes it."""
    sql = sent(dialect, "SELECT c, s FROM t").sql
    assert ('CAST("t"."c" AS text)' in sql) is (dialect == "postgres")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(n + 1) FROM t",
        "SELECT n / 2 FROM t WHERE lower(s) = 'a'",
        "SELECT count(*) FROM t WHERE s || 'x' = 'ax'",
        "SELECT coalesce(day, TIMESTAMP '2025-01-01 00:00:00') FROM t",
        "SELECT CAST(r AS INTEGER) FROM t",
    ],
)
@pytest.mark.parametrize("dialect", URLS)
def test_what_is_not_known_to_agree_is_not_asked(dialect: str, sql: str) -> None:
    text = sent(dialect, sql).sql
    assert "WHERE" not in text
    assert not any(word in text for word in ("SUM", "GROUP", "COALESCE", "coalesce", "CASE", "CAST"))


def test_text_is_put_in_order_by_postgresql_alone() -> None:
    assert "LIMIT" not in sent("mysql", "SELECT s FROM t ORDER BY s LIMIT 2").sql
    assert 'ORDER BY ("t"."s" COLLATE "C") ASC' in sent("postgres", "SELECT s FROM t ORDER BY s LIMIT 2").sql


def test_sums_of_doubles_that_mariadb_would_lose_are_an_error() -> None:
    text = sent("mysql", "SELECT sum(r) FROM t").sql
    assert "CASE WHEN (MAX(ABS(`t`.`r`)) > 1e+290)" in text
    assert sent("postgres", "SELECT sum(r) FROM t").sql.startswith('SELECT SUM("t"."r")')
