"""MySQL's SQL comes out as it went in, or is refused; what is selected has the names MySQL gives it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from sqlglot import exp
from sqlglot.errors import ParseError

from shardwise.catalog.shardings import UNKNOWN
from shardwise.catalog.tables import Column
from shardwise.catalog.types import Family
from shardwise.errors import NotSupportedError
from shardwise.plan.sql.own_mysql import castable, mysql_text, string_text
from shardwise.planner.dialects.mysql import collation, family
from shardwise.planner.dialects.mysql_aggregates import combine
from shardwise.planner.dialects.mysql_constants import MySQLConstants, literal_of
from shardwise.planner.dialects.mysql_reading import trees
from shardwise.planner.dialects.mysql_tokens import decoded


def text(sql: str) -> str:
    (tree,) = trees(sql)
    return mysql_text(tree)


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("a || b", "`a` OR `b`"),
        ("a && !b = c", "`a` AND !`b` = `c`"),
        ("BINARY a = 'x'", "BINARY `a` = 'x'"),
        ("a <=> b", "`a` <=> `b`"),
        ("a RLIKE 'x' AND b NOT REGEXP 'y'", "`a` REGEXP 'x' AND `b` NOT REGEXP 'y'"),
        ("a LIKE 'x|%' ESCAPE '|'", "`a` LIKE 'x|%' ESCAPE '|'"),
        ("a DIV 2 MOD 3 % b", "`a` DIV 2 % 3 % `b`"),
        ("length(a), lcase(a)", "length(`a`), lcase(`a`)"),
        ("CAST(a AS CHAR(10) CHARACTER SET utf8mb4)", "CAST(`a` AS CHAR(10) CHARACTER SET UTF8MB4)"),
        ("CONVERT(a USING latin1)", "CONVERT(`a` USING LATIN1)"),
        ("CONVERT(a, UNSIGNED)", "CONVERT(`a`, UNSIGNED)"),
        ("EXTRACT(DAY_HOUR FROM a)", "EXTRACT(DAY_HOUR FROM `a`)"),
        ("SUBSTRING(a FROM 2 FOR 3)", "SUBSTRING(`a` FROM 2 FOR 3)"),
        ("TRIM(LEADING 'x' FROM a)", "TRIM(LEADING 'x' FROM `a`)"),
        ("POSITION('x' IN a)", "POSITION('x' IN `a`)"),
        ("TIMESTAMPDIFF(MONTH, a, b)", "TIMESTAMPDIFF(MONTH, `a`, `b`)"),
        (
            "a + INTERVAL 1 DAY - INTERVAL '1:2' HOUR_MINUTE",
            "`a` + INTERVAL 1 DAY - INTERVAL '1:2' HOUR_MINUTE",
        ),
        ("DATE_ADD(a, INTERVAL b + 1 MONTH)", "DATE_ADD(`a`, INTERVAL `b` + 1 MONTH)"),
        ("INTERVAL(1, 2, 3)", "INTERVAL(1, 2, 3)"),
        ("DATE '2024-01-31', _utf8mb4'x', N'y'", "DATE '2024-01-31', _utf8mb4 'x', N'y'"),
        ("x'41', 0x41, b'01', 0b01", "x'41', 0x41, b'01', 0b01"),
        (r"'a\'b\n', 'c' 'd', '\%', ''''", "'a''b\n', 'cd', '\\\\%', ''''"),
        (".5, 5., 1.50, 1e3", "0.5, 5., 1.50, 1e3"),
        ("a - -1, - -a, +a", "`a` - -1, - -`a`, `a`"),
        (
            "(a, b) IN ((1, 2)), a = ANY (SELECT 1 AS x)",
            "(`a`, `b`) IN ((1, 2)), `a` = ANY (SELECT 1 AS `x`)",
        ),
        ("a IS NOT TRUE, a IS UNKNOWN", "`a` IS NOT TRUE, `a` IS NULL"),
        ("NOT a = b, NOT a BETWEEN 1 AND 2", "NOT `a` = `b`, `a` NOT BETWEEN 1 AND 2"),
        ("a & b << 1 | c ^ d", "`a` & `b` << 1 | `c` ^ `d`"),
        ("a = b < c", "`a` = `b` < `c`"),
        (
            "GROUP_CONCAT(DISTINCT a, b ORDER BY a DESC SEPARATOR '')",
            "GROUP_CONCAT(DISTINCT `a`, `b` ORDER BY `a` DESC SEPARATOR '')",
        ),
        ("COUNT(DISTINCT a, b), COUNT(*), std(a)", "COUNT(DISTINCT `a`, `b`), COUNT(*), STDDEV(`a`)"),
        (
            "SUM(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
            "SUM(`a`) OVER (PARTITION BY `b` ORDER BY `c` ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        ),
        (
            "CASE a WHEN 1 THEN 2 ELSE 3 END, IF(a, b, c)",
            "CASE `a` WHEN 1 THEN 2 ELSE 3 END, IF(`a`, `b`, `c`)",
        ),
        ("EXISTS (SELECT 1 AS x), current_date", "EXISTS (SELECT 1 AS `x`), current_date()"),
    ],
)
def test_expressions_come_back(sql: str, wanted: str) -> None:
    (tree,) = trees(f"SELECT {sql} FROM t")
    items = [item.this if isinstance(item, exp.Alias) else item for item in tree.expressions]
    assert ", ".join(map(mysql_text, items)) == wanted


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT a FROM t LIMIT 2, 3", "SELECT `a` AS `a` FROM `t` LIMIT 3 OFFSET 2"),
        ("SELECT * FROM a, b LEFT JOIN c ON 1", "SELECT * FROM `a`, `b` LEFT JOIN `c` ON 1"),
        ("SELECT * FROM a STRAIGHT_JOIN b USING (c)", "SELECT * FROM `a` STRAIGHT_JOIN `b` USING (`c`)"),
        ("SELECT * FROM (a JOIN b) NATURAL JOIN c", "SELECT * FROM (`a` CROSS JOIN `b`) NATURAL JOIN `c`"),
        ("SELECT * FROM a JOIN b", "SELECT * FROM `a` CROSS JOIN `b`"),
        ("SELECT * FROM a INNER JOIN b JOIN c ON 1", "SELECT * FROM `a` CROSS JOIN `b` JOIN `c` ON 1"),
        ("SELECT a FROM t GROUP BY a WITH ROLLUP", "SELECT `a` AS `a` FROM `t` GROUP BY `a` WITH ROLLUP"),
        (
            "WITH c (n) AS (SELECT 1 AS x) SELECT * FROM c",
            "WITH `c`(`n`) AS (SELECT 1 AS `x`) SELECT * FROM `c`",
        ),
        ("SELECT * FROM t WHERE a = ? AND b = :b", "SELECT * FROM `t` WHERE `a` = :1 AND `b` = :b"),
        (
            "(SELECT 1 AS x LIMIT 1) UNION ALL SELECT 2 AS y",
            "(SELECT 1 AS `x` LIMIT 1) UNION ALL SELECT 2 AS `y`",
        ),
        ("SELECT * FROM s.t AS `x y`", "SELECT * FROM `s`.`t` AS `x y`"),
    ],
)
def test_queries_come_back(sql: str, wanted: str) -> None:
    assert text(sql) == wanted
    assert text(wanted.replace(":1", "?")) == wanted


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("count( * )", "count( * )"),
        ("a +  1", "a +  1"),
        ("'it''s'", "it's"),
        ("' x'", "x"),
        ("'a' 'b'", "ab"),
        ("(a)", "a"),
        ("T.Name", "Name"),
        (".5", ".5"),
        ("(SELECT 1)", "(SELECT 1)"),
        ("a AS b", "b"),
        ("a 'b'", "b"),
        ("d + INTERVAL 1 DAY", "d + INTERVAL 1 DAY"),
        ("a DIV b * c", "a DIV b * c"),
        ("NULL", "NULL"),
    ],
)
def test_selected_expressions_are_named_as_mysql_names_them(item: str, name: str) -> None:
    (tree,) = trees(f"SELECT {item} FROM t")
    assert tree.expressions[0].alias == name


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT /*!40000 a */ 1",
        "SELECT /*M!100000 a */ 1",
        "SELECT @x",
        "SELECT @@sql_mode",
        "SELECT a SOUNDS LIKE b FROM t",
        "SELECT a IS NOT NULL = 1 FROM t",
        "SELECT * FROM a FULL JOIN b ON 1",
        "SELECT a FROM t FOR UPDATE",
        "SELECT a FROM t PARTITION (p0)",
        "SELECT SQL_NO_CACHE a FROM t",
        "SELECT a -> '$.x' FROM t",
        "SELECT a FROM t FORCE INDEX (i)",
        "SELECT a FROM t FETCH FIRST 3 ROWS WITH TIES",
        "SELECT a == b FROM t",
    ],
)
def test_what_would_not_come_back_is_refused(sql: str) -> None:
    with pytest.raises((NotSupportedError, ParseError)):
        text(sql)


def test_a_minus_is_no_comment() -> None:
    assert text("SELECT 5--1") == "SELECT 5 - -1 AS `5--1`"
    assert text("SELECT 5 -- 1") == "SELECT 5 AS `5`"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"'a\tb'", "a\tb"),
        (r"'\q'", "q"),
        (r"'\%\_'", r"\%\_"),
        ('"a""b"', 'a"b'),
        (r"'\0\Z'", "\0\x1a"),
        (r"'\\'", "\\"),
    ],
)
def test_texts_are_read_and_written_as_mysql_does(written: str, value: str) -> None:
    assert decoded(written) == value
    assert decoded(string_text(value)) == value.replace("\\%", "%").replace("\\_", "_") or string_text(value)


@pytest.mark.parametrize(
    ("sql", "of", "value"),
    [
        ("5", Family.INT, 5),
        ("-5", Family.INT, -5),
        ("'5'", Family.INT, 5),
        ("5.0", Family.INT, 5),
        ("TRUE", Family.INT, 1),
        ("5.5", Family.INT, UNKNOWN),
        ("'05'", Family.INT, UNKNOWN),
        ("'5x'", Family.INT, UNKNOWN),
        ("5e0", Family.INT, UNKNOWN),
        ("NULL", Family.INT, None),
        ("'a'", Family.TEXT, "a"),
        ("5", Family.TEXT, UNKNOWN),
        ("1.50", Family.DECIMAL, Decimal("1.5")),
        ("'1.50'", Family.DECIMAL, UNKNOWN),
        ("'2024-01-31'", Family.DATE, date(2024, 1, 31)),
        ("DATE '2024-01-31'", Family.DATE, date(2024, 1, 31)),
        ("'2024-1-31'", Family.DATE, UNKNOWN),
        ("'0000-00-00'", Family.DATE, UNKNOWN),
        ("20240131", Family.DATE, UNKNOWN),
        ("'2024-01-31 10:00:00'", Family.TIMESTAMP, datetime(2024, 1, 31, 10)),
        ("'2024-01-31'", Family.TIMESTAMP, datetime(2024, 1, 31)),
        ("'2024-01-31 10:00:00'", Family.DATE, UNKNOWN),
        ("a + 1", Family.INT, UNKNOWN),
    ],
)
def test_constants_beside_a_key(sql: str, of: Family, value: Any) -> None:
    (tree,) = trees(f"SELECT * FROM t WHERE k = {sql}")
    assert MySQLConstants().constant(tree.args["where"].this.expression, of) == value


def test_members_of_different_kinds_are_unknown() -> None:
    (tree,) = trees("SELECT * FROM t WHERE k IN (1, '2')")
    members = tree.args["where"].this.expressions
    assert MySQLConstants().constants(members, Family.INT) == [UNKNOWN, UNKNOWN]


def test_parameters_as_constants() -> None:
    assert literal_of(True) == exp.Literal.number(1)
    assert literal_of(7.0) is None
    assert literal_of(b"x") is None


@pytest.mark.parametrize(
    ("type_", "declared", "wanted"),
    [
        ("VARCHAR(20)", None, "unknown"),
        ("VARCHAR(20)", "utf8mb4_general_ci", "utf8mb4_general_ci"),
        ("VARCHAR(20)", "utf8mb4_bin", "utf8mb4_bin"),
        ("VARCHAR(20)", "utf8mb4_nopad_bin", None),
        ("ENUM('a')", None, "unknown"),
        ("BIGINT UNSIGNED", None, None),
        ("VARBINARY(5)", None, None),
    ],
)
def test_a_text_is_no_key_unless_equal_is_the_same(
    type_: str, declared: str | None, wanted: str | None
) -> None:
    assert collation(Column(name="c", type=type_, collation=declared)) == wanted


@pytest.mark.parametrize(
    ("type_", "wanted"),
    [
        ("YEAR", Family.OTHER),
        ("TIMESTAMP", Family.OTHER),
        ("DATETIME(3)", Family.TIMESTAMP),
        ("BOOL", Family.INT),
    ],
)
def test_families(type_: str, wanted: Family) -> None:
    assert family(type_) is wanted


@pytest.mark.parametrize(
    ("type_", "wanted"),
    [
        ("BIGINT UNSIGNED", "UNSIGNED"),
        ("DECIMAL(9,2)", "DECIMAL(9,2)"),
        ("VARCHAR(5)", "CHAR"),
        ("TIME(3)", "TIME(3)"),
    ],
)
def test_what_cast_calls_a_type(type_: str, wanted: str) -> None:
    assert castable(type_) == wanted


@pytest.mark.parametrize("name", ["length\ue001", "f\ue001sleep", "length\ue002", "\ue001"])
def test_a_word_with_a_mark_of_ours_is_refused(name: str) -> None:
    """It would come out as another: MySQL has no such function."""
    with pytest.raises(NotSupportedError, match="private use"):
        trees(f"SELECT {name}(a) FROM t")
    assert text("SELECT '\ue001\ue002' AS x") == "SELECT '\ue001\ue002' AS `x`"


@pytest.mark.parametrize(
    ("call", "partials", "final"),
    [
        ("count(a)", ["COUNT(`a`)"], "CAST(COALESCE(SUM(`p0`), 0) AS SIGNED)"),
        ("avg(a)", ["SUM(`a`)", "COUNT(`a`)"], "(SUM(`p0`) / SUM(`p1`))"),
        ("max(DISTINCT a)", ["MAX(`a`)"], "MAX(`p0`)"),
        ("bit_and(a)", ["bit_and(`a`)"], "bit_and(`p0`)"),
        (
            "group_concat(a SEPARATOR '-')",
            ["GROUP_CONCAT(`a` SEPARATOR '-')"],
            "GROUP_CONCAT(`p0` SEPARATOR '-')",
        ),
        ("count(DISTINCT a, b)", [], "COUNT(DISTINCT `k0`, `k1`)"),
        (
            "group_concat(DISTINCT a ORDER BY a DESC)",
            [],
            "GROUP_CONCAT(DISTINCT `k0` ORDER BY `k0` DESC)",
        ),
    ],
)
def test_aggregates_split(call: str, partials: list[str], final: str) -> None:
    (tree,) = trees(f"SELECT {call} AS x FROM t")
    found = combine([tree.expressions[0].this], lambda _: "INT")
    assert found is not None
    assert [mysql_text(e) for _, e in found.partials] == partials
    assert mysql_text(found.finals[0]) == final


@pytest.mark.parametrize(
    ("call", "type_"),
    [
        ("avg(a)", "DATE"),
        ("avg(a)", "YEAR"),
        ("avg(upper(a))", "INT"),
        ("stddev(a)", "INT"),
        ("group_concat(a ORDER BY b)", "INT"),
        ("group_concat(DISTINCT a ORDER BY b)", "INT"),
        ("bit_xor(DISTINCT a)", "INT"),
    ],
)
def test_aggregates_without_parts(call: str, type_: str) -> None:
    (tree,) = trees(f"SELECT {call} AS x FROM t")
    assert combine([tree.expressions[0].this], lambda _: type_) is None


@pytest.mark.parametrize(
    ("operator", "instead"), [("->", "JSON_EXTRACT(…)"), ("->>", "JSON_UNQUOTE(JSON_EXTRACT(…))")]
)
def test_operators_that_mariadb_has_not(operator: str, instead: str) -> None:
    with pytest.raises(NotSupportedError) as caught:
        text(f"SELECT j{operator}'$.a' FROM t")
    assert str(caught.value) == (
        f'"{operator}" is not read here: MariaDB has no such operator. Write {instead}'
    )
