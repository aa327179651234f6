"""What kind of statement a text is."""

from __future__ import annotations

import pytest

from shardwise.dbapi.statements import Describe, Explain, Query, Show, parse
from shardwise.dbapi.statements.explain import of as explain
from shardwise.errors import NotSupportedError, Position, SQLSyntaxError


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "  -- said\n /* and */ select 1",
        "FROM t",
        "(SELECT 1)",
        "WITH a AS (SELECT 1) FROM a",
        "VALUES (1)",
        "PIVOT t ON a USING sum(b)",
        "SUMMARIZE t",
        "",
    ],
)
def test_queries_are_left_alone(sql: str) -> None:
    assert parse(sql) == Query(sql)


@pytest.mark.parametrize("sql", ["SELECT '\ud800'", "SHOW TABLES LIKE '\udfff'", "EXPLAIN SELECT '\ud83d'"])
def test_half_a_surrogate_pair_is_no_text(sql: str) -> None:
    with pytest.raises(SQLSyntaxError, match="no valid Unicode"):
        parse(sql)


def test_describe_of_a_query_keeps_its_place() -> None:
    assert parse("DESCRIBE\nSELECT 1") == Describe("        \nSELECT 1")
    with pytest.raises(SQLSyntaxError, match="DESCRIBE needs a table or a query"):
        parse("DESCRIBE ;")


def test_explain_keeps_the_place_of_the_query() -> None:
    found = parse("EXPLAIN (ROUTE)\n  SELECT 1")
    assert found == Explain(sql=" " * 15 + "\n  SELECT 1", modes=frozenset({"route"}))


@pytest.mark.parametrize(
    ("sql", "modes", "form"),
    [
        ("EXPLAIN SELECT 1", set(), "text"),
        ("explain analyze select 1", {"analyze"}, "text"),
        ("EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1", {"analyze"}, "json"),
        ("EXPLAIN (steps) SELECT 1", {"steps"}, "text"),
        ("EXPLAIN (shards true) SELECT 1", {"shards"}, "text"),
        ("EXPLAIN (SELECT 1)", set(), "text"),
        ("EXPLAIN /* x */ FROM t", set(), "text"),
    ],
)
def test_explain_options(sql: str, modes: set[str], form: str) -> None:
    found = parse(sql)
    assert isinstance(found, Explain)
    assert (found.modes, found.format) == (modes, form)


@pytest.mark.parametrize(
    ("options", "both"),
    [
        ("ANALYZE, ROUTE", "ANALYZE and ROUTE"),
        ("route, steps, shards", "ROUTE and SHARDS and STEPS"),
        ("ROUTE, FORMAT json", "ROUTE and FORMAT json"),
        ("STEPS, ANALYZE, FORMAT json", "ANALYZE and STEPS and FORMAT json"),
    ],
)
def test_explain_gives_one_answer(options: str, both: str) -> None:
    with pytest.raises(SQLSyntaxError, match=f"{both} at once"):
        parse(f"EXPLAIN ({options}) SELECT 1")
    with pytest.raises(SQLSyntaxError, match="at once") as caught:
        explain("SELECT 1", options)
    assert caught.value.position is None


def test_explain_of_a_text_and_modes() -> None:
    for modes in ("json", "analyze, JSON", "analyze, format  json", "FORMAT JSON"):
        assert explain("SELECT 1", modes).format == "json"
    assert explain(" SELECT 1", "analyze, format json") == Explain(
        sql=" SELECT 1", modes=frozenset({"analyze"}), format="json"
    )
    assert explain("SELECT 1", "") == Explain(sql="SELECT 1")


@pytest.mark.parametrize(
    ("sql", "message", "position"),
    [
        ("EXPLAIN (COLOUR) SELECT 1", 'EXPLAIN has no option "COLOUR"', Position(1, 10, 6)),
        ("EXPLAIN (ROUTE, FORMAT xml) SELECT 1", 'EXPLAIN has no option "FORMAT XML"', Position(1, 17, 10)),
        ("EXPLAIN (ROUTE SELECT 1", "the options of EXPLAIN are not closed", Position(1, 9)),
        ("EXPLAIN  ;", "EXPLAIN needs a query", Position(1, 10)),
        ("SHOW FOO", "SHOW does not read so", Position(1, 6, 3)),
        ("SHOW ROUTE FOR t", "SHOW does not read so", Position(1, 6, 5)),
        ("SHOW COLUMNS FROM", "a table name is missing", Position(1, 17)),
        ("SHOW ROUTE FOR t KEY 1", "a key is written KEY (value, …)", Position(1, 22)),
    ],
)
def test_syntax_errors(sql: str, message: str, position: Position) -> None:
    with pytest.raises(SQLSyntaxError) as raised:
        parse(sql)
    assert raised.value.message == message
    assert raised.value.position == position


@pytest.mark.parametrize(
    "word",
    [
        *("INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE", "DROP", "ALTER", "ATTACH", "COPY"),
        *(
            "BEGIN",
            "COMMIT",
            "SET",
            "PRAGMA",
            "INSTALL",
            "LOAD",
            "CALL",
            "EXPORT",
            "PREPARE",
            "VACUUM",
        ),
    ],
)
def test_what_is_no_query_is_not_supported(word: str) -> None:
    for sql in (f"\n {word.lower()} x", f"EXPLAIN\n {word} x"):
        with pytest.raises(NotSupportedError, match=f"^{word} is not supported: ") as raised:
            parse(sql)
        assert raised.value.position == Position(2, 2, len(word))
        assert raised.value.hint


def test_explain_does_not_nest() -> None:
    with pytest.raises(NotSupportedError, match="EXPLAIN SHOW"):
        parse("EXPLAIN SHOW TABLES")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SHOW TABLES;", Show(kind="tables")),
        ("show all tables", Show(kind="tables")),
        ("SHOW SOURCES", Show(kind="sources")),
        ("SHOW SHARDS", Show(kind="shards")),
        ("SHOW SHARDINGS -- all", Show(kind="shardings")),
        ('SHOW COLUMNS FROM "My T"', Show(kind="columns", table=(None, "My T"))),
        ("SHOW COLUMNS IN crm.contacts", Show(kind="columns", table=("crm", "contacts"))),
        ("DESCRIBE crm.contacts", Show(kind="columns", table=("crm", "contacts"))),
        ("DESC TABLE t", Show(kind="columns", table=(None, "t"))),
        ("SHOW ROUTE FOR a.t KEY (1)", Show(kind="route", table=("a", "t"), key=("1",))),
        (
            "SHOW ROUTE FOR t KEY (f(1, 2), 'a,b', DATE '2026-01-01', ?)",
            Show(kind="route", table=(None, "t"), key=("f(1, 2)", "'a,b'", "DATE '2026-01-01'", "?")),
        ),
    ],
)
def test_show(sql: str, expected: Show) -> None:
    assert parse(sql) == expected
