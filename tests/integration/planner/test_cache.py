"""The plan cache gives the plans that planning anew would give, or none."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.errors import ProgrammingError, SQLSyntaxError, Unplannable
from shardwise.options import Options
from shardwise.planner import OPTIONAL, Context, PlanCache, Planner, scope_of
from shardwise.planner.caching.cache import masked
from shardwise.planner.caching.lift import cut
from tests.golden.cases import HERE, files
from tests.integration.planner.cached import Twins, essence, with_other_literals
from tests.unit.planner.trees import LETTERS

CATALOG = parse("""
CREATE CATALOG c DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_user USING MOD 16 ON s{slot // 4};
CREATE SHARDING by_name USING HASH(crc32) SLOTS 16 ON s{slot // 4};
CREATE TABLE users (id BIGINT, name VARCHAR, age INTEGER, born DATE, score DECIMAL(10,2), ok BOOLEAN)
  SHARD BY by_user (id);
CREATE TABLE orders (id BIGINT, user_id BIGINT, total DECIMAL(12,2), at TIMESTAMP, tags VARCHAR[])
  SHARD BY by_user (user_id) NAMED 'orders_{slot:02}';
CREATE TABLE names (name VARCHAR, n INTEGER) SHARD BY by_name (name);
CREATE TABLE settings (k VARCHAR, v VARCHAR) ON s0;
CREATE TABLE kinds (k INTEGER, v VARCHAR) REFERENCE ON by_user;
""")


@pytest.fixture
def twins() -> Twins:
    return Twins(CATALOG)


# -- the golden and the oracle's statements, with other values ----------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("file", files(), ids=lambda file: file.path.stem)
def test_statements_with_other_literals(file: Any) -> None:
    catalogs = {case.catalog for case in file.cases}
    twins = {
        name: Twins(parse((HERE / "catalogs" / f"{name}.sql").read_text(encoding="utf-8")))
        for name in catalogs
    }
    for number, case in enumerate(file.cases):
        one = twins[case.catalog]
        one.check(case.sql, case.params)
        if not case.sql.isspace() and "now()" not in case.sql:
            one.check(case.sql, case.params)
        for sql in with_other_literals(case.sql, seed=number, count=4):
            one.check(sql, case.params)


STATEMENTS = [
    ("SELECT * FROM users WHERE id = ?", [[5], [6], [21], [5], [2**40], [-3], [2**70], ["5"], [True],
     [None]]),
    ("SELECT * FROM users WHERE id = ?", [[Decimal("5.0")], [Decimal("5.5")], [5.0], [date(2026, 1, 1)]]),
    ("SELECT * FROM users WHERE id = :id AND age > :age", [{"id": 1, "age": 2}, {"id": 2, "age": 2, "x": 1}]),
    ("SELECT name FROM users WHERE name = ?", [["a"], ["b"], [1], [None]]),
    ("SELECT n FROM names WHERE name = ?", [["a"], ["it's"], ["é"], [5], [None], [b"a"]]),
    ("SELECT * FROM users WHERE id IN (?)", [[[1, 2]], [[1, 2, 3]], [[]], [[5]], [(5, 6)], [[1, None]]]),
    ("SELECT * FROM users WHERE id IN (?, ?)", [[1, 2], [1, 5], [1, 1], [16, 0], [None, 1], ["1", 2]]),
    ("SELECT * FROM users WHERE id BETWEEN ? AND ?", [[1, 2], [5, 1], [None, 2]]),
    ("SELECT * FROM users ORDER BY age LIMIT ? OFFSET ?", [[1, 2], [1, 3], [1, 2], [None, 1], [-1, 0]]),
    ("SELECT * FROM users LIMIT ?%", [[10], [20], [10]]),
    ("SELECT * FROM users WHERE ?", [[True], [False], [None], [1]]),
    ("SELECT ? AS a, ? AS b", [[1, "x"], [2, "y"], [1.5, None]]),
    ("SELECT id + ? FROM users WHERE id = $1", [[4], [5], [1.5]]),
    ("SELECT * FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = ?", [[1], [2], [17], [8]]),
    ("SELECT * FROM users u JOIN settings s ON s.k = u.name WHERE u.id = ?", [[1], [5], [2], [9]]),
    ("SELECT * FROM users u, kinds k WHERE u.id = ? AND k.k = u.age", [[1], [5], [2]]),
    ("SELECT * FROM orders WHERE user_id = ? AND total > ?", [[1, 2], [2, 2], [4, Decimal("1.50")]]),
    ("SELECT count(*) FROM orders WHERE user_id = ? OR total = ?", [[1, 2], [5, 2]]),
    ("SELECT * FROM users WHERE id = (SELECT max(user_id) FROM orders WHERE total > ?)", [[1], [2]]),
    ("SELECT * FROM users WHERE id = ? AND id = ?", [[1, 1], [1, 2], [1, 17], [5, 5]]),
    ("SELECT * FROM users WHERE NOT id = ?", [[1], [2]]),
    ("SELECT _shard, id FROM users WHERE _shard = ?", [["s0"], ["s1"], ["nowhere"], ["s0"]]),
    ("SELECT * FROM users WHERE (id, age) IN ((?, 1), (?, 2))", [[1, 2], [1, 17], [1, 5]]),
    ("SELECT * FROM (SELECT id FROM users WHERE id = ?) LEFT JOIN kinds ON k = id", [[1], [7]]),
    ("WITH a AS (SELECT * FROM users WHERE id = ?) SELECT * FROM a, a b WHERE a.age < b.age", [[1], [2],
     [5]]),
    ("SELECT * FROM users WHERE id = ? UNION ALL SELECT * FROM users WHERE id = ?", [[1, 1], [1, 2], [1, 5],
     [6, 6]]),
    ("SELECT * FROM users WHERE list_contains(?, id)", [[[1, 2]], [[1]], [["a"]]]),
    ("SELECT * FROM users TABLESAMPLE 10% WHERE id = ?", [[1], [2], [5]]),
]  # fmt: skip


OFF = [
    pytest.param(sql, sets, off, id=f"{number}-{off}")
    for number, (sql, sets) in enumerate(STATEMENTS)
    for off in ("", *OPTIONAL[number % 3 :: 3])
]


@pytest.mark.parametrize(("sql", "sets", "off"), OFF)
def test_parameters(sql: str, sets: list[Any], off: str) -> None:
    """With all passes, and with every third off, by turns."""
    twins = Twins(CATALOG, Options(disable_passes=(off,) if off else ()))
    for params in [*sets, *reversed(sets), *sets]:
        twins.check(sql, params)


# -- what must not be taken for one another -------------------------------------------------------

APART = [
    ("SELECT * FROM users WHERE id = {}", "1", "1.0", "'1'", "-1", "1e0", "NULL", "TRUE", "3000000000",
     "$$1$$"),
    ("SELECT * FROM users WHERE id = 1 LIMIT {}", "1", "2", "NULL", "1 OFFSET 1", "1 OFFSET 2"),
    ("SELECT id, age FROM users ORDER BY {} LIMIT 3", "1", "2", "age", "1 DESC", "'x'"),
    ("SELECT age, count(*) FROM users GROUP BY {}", "1", "age", "ALL"),
    ("SELECT * FROM users WHERE born = {}", "'2026-01-01'", "DATE '2026-01-01'", "'2026-01-02'",
     "DATE '2026-01-02'"),
    ("SELECT * FROM users WHERE born > DATE '2026-01-01' - INTERVAL {}", "1 DAY", "2 DAY", "'1 day'",
     "'2 day'"),
    ("SELECT CAST(score AS DECIMAL({})) FROM users WHERE id = 1", "10,2", "10,3", "9,2"),
    ("SELECT * FROM users WHERE score = {}", "1.10", "2.10", "1.1", "11.10", "1.100"),
    ("SELECT * FROM users WHERE id IN ({})", "1", "1,2", "2,3", "1,2,3", "1,17", "'1'", "1.0", "1,NULL",
     "1,2.5"),
    ("SELECT name FROM users WHERE name = {}", "'a' || 'b'", "'a' || 'c'", "'a'", "'it''s'", "''", "E'a'",
     "E'\\'a'"),
    ("SELECT {} FROM users WHERE id = 1", "1", "2", "'a'", "'b'", "id + 1", "id + 2", "1.0",
     "round(score, 1)"),
    ("SELECT {} FROM users WHERE id = 1", "round(score, 2)", "substr(name, 1)", "substr(name, 2)"),
    ("SELECT {} FROM orders WHERE user_id = 1", "strftime(at, '%Y')", "strftime(at, '%m')", "tags[1]",
     "tags[2]"),
    ("SELECT (SELECT max(id) FROM users WHERE id = {})", "1", "2", "5"),
    ("SELECT * FROM (SELECT 5 AS a, {} AS b FROM users WHERE id = 1)", "1", "2"),
    ("SELECT * FROM (VALUES ({})) v(x) JOIN users ON id = x", "1", "2", "'1'"),
    ("SELECT * FROM users WHERE {} = {}", "1", "0", "id", "2"),
    ("SELECT * FROM users WHERE id + 1 = {}", "1", "2", "3"),
    ("SELECT * FROM users WHERE name LIKE {}", "'a%'", "'b%'", "'a'", "'%a'"),
    ("SELECT * FROM names WHERE name LIKE {}", "'a%'", "'b%'", "'a'", "'%a'"),
    ("SELECT * FROM users WHERE \"{}\" = 1", "id", "age", "ID", "x'y"),
    ("SELECT \"{}\" FROM users WHERE id = 1", "id", "age", "a \"\" 'b"),
    ("SELECT * FROM users WHERE id = 1 {}", "-- a", "/* 'x' */", "/* 2 */ AND age = 3", "AND age = 4", ";"),
    ("SELECT * FROM users WHERE id = 1 AND name = {}", "'/* '", "'--'", "'$$'", "'\ue100'",
     "'-- ' OR 'x' = 'x'"),
    ("SELECT count(*) FILTER (WHERE age > {}) FROM users WHERE id = 1", "1", "2"),
    ("SELECT age FROM users GROUP BY age HAVING age > {}", "1", "2"),
    ("SELECT sum(age) OVER (ROWS {} PRECEDING) FROM users", "1", "2"),
    ("SELECT * FROM users JOIN orders ON user_id = users.id AND orders.id = {} WHERE users.id = 3", "1",
     "2", "'1'"),
    ("SELECT * FROM users WHERE id = 1 AND ok = {}", "TRUE", "FALSE", "'true'", "1", "0"),
    ("SELECT * FROM orders WHERE user_id = 1 AND at >= TIMESTAMP '{}'", "2026-01-01", "2026-01-02 10:00:00",
     "x"),
    ("SELECT * FROM users WHERE id = {}::BIGINT", "1", "2", "'1'"),
    ("SELECT x FROM (SELECT id AS x, {} AS y FROM users) WHERE y = 2", "1", "2"),
    ("SELECT * FROM users WHERE CASE WHEN id = {} THEN age = 3 END", "1", "2"),
    ("SELECT id AS {} FROM users WHERE id = 1", "a", "b", "\"A\"", "'c'"),
    ("SELECT * FROM range({}) r JOIN users ON id = range", "1", "2"),
    ("SELECT id FROM users WHERE id = 1 QUALIFY row_number() OVER () = {}", "1", "2"),
]  # fmt: skip


@pytest.mark.parametrize("case", APART, ids=lambda case: case[0])
def test_statements_that_are_nearly_alike(case: tuple[str, ...], twins: Twins) -> None:
    form, *values = case
    texts = [form.format(*(value,) * form.count("{}")) for value in values]
    texts += [form.format(a, b) for a in values for b in values] if form.count("{}") > 1 else []
    for sql in (*texts, *reversed(texts)):
        twins.check(sql)


def test_a_union_of_shapes_is_not_kept_apart_by_letter_case_of_values(twins: Twins) -> None:
    assert not twins.check("SELECT n FROM names WHERE name = 'a'")
    assert twins.check("SELECT n FROM names WHERE name = 'A'")
    assert not twins.check("SELECT N FROM names WHERE name = 'a'")


# -- what is found again ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT * FROM users WHERE id = 1", "SELECT * FROM users WHERE id = 123456"),
        ("SELECT * FROM users WHERE id = -1", "SELECT * FROM users WHERE id = -12"),
        ("SELECT * FROM users WHERE name = 'a' AND id = 7",
         "SELECT * FROM users WHERE name = 'it''s' AND id = 12"),
        ("SELECT * FROM users WHERE age BETWEEN 1 AND 2", "SELECT * FROM users WHERE age BETWEEN 10 AND 20"),
        ("SELECT * FROM users WHERE age IN (1, 2)", "SELECT * FROM users WHERE age IN (3, 4)"),
        ("SELECT * FROM users WHERE born > DATE '2026-01-01'",
         "SELECT * FROM users WHERE born > DATE '2027-02-28'"),
        ('SELECT "id" FROM users WHERE "id" = 1', 'SELECT "id" FROM users WHERE "id" = 6'),
        ("SELECT count(*) FROM users WHERE id IN (SELECT user_id FROM orders WHERE total > 1)",
         "SELECT count(*) FROM users WHERE id IN (SELECT user_id FROM orders WHERE total > 9)"),
        ("SELECT * FROM users u JOIN orders o ON o.user_id = u.id AND u.id = 3",
         "SELECT * FROM users u JOIN orders o ON o.user_id = u.id AND u.id = 13"),
    ],
)  # fmt: skip
def test_other_literals_hit(one: str, other: str, twins: Twins) -> None:
    assert not twins.check(one)
    assert twins.check(other)
    assert twins.check(one)


def test_other_parameters_hit_on_any_shard(twins: Twins) -> None:
    sql = "SELECT * FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = ?"
    assert not twins.check(sql, [0])
    assert all(twins.check(sql, [key]) for key in range(32))
    assert twins.cache.figures().plans == 1


def test_a_table_on_one_shard_only_is_not_taken_along(twins: Twins) -> None:
    sql = "SELECT * FROM users u JOIN settings s ON s.k = u.name WHERE u.id = ?"
    assert [twins.check(sql, [key]) for key in (0, 1, 4, 5, 8, 2)] == [False, True, False, False, False, True]


def test_a_plan_that_depends_on_the_moment_is_not_kept() -> None:
    twins = Twins(CATALOG)
    sql = "SELECT * FROM users WHERE born = current_date AND id = 1"
    for year in (2025, 2026):
        assert not twins.check(sql, context=Context(now=datetime(year, 1, 1, tzinfo=UTC)))
    assert not twins.check("SELECT current_user", context=Context(user="a"))
    assert not twins.check("SELECT current_user", context=Context(user="b"))


def test_scopes_have_plans_of_their_own() -> None:
    twins = Twins(CATALOG)
    sql = "SELECT users.name FROM users JOIN orders o ON o.user_id = users.id WHERE o.total > ?"
    scopes = ({"by_user": 1}, {"by_user": 2}, {"by_user": [1, 2]}, {"shard": "s1"}, {})
    for given in scopes:
        context = Context(scope=scope_of(CATALOG, given))
        assert [twins.check(sql, [total], context) for total in (1, 2)] == [False, True]
    assert all(twins.check(sql, [3], Context(scope=scope_of(CATALOG, given))) for given in scopes)


def test_options_that_change_plans_have_plans_of_their_own() -> None:
    cache = PlanCache()
    planner = Planner(CATALOG, cache)
    sql = "SELECT age FROM users ORDER BY age LIMIT 2"
    usual = essence(planner.prepare(sql).plan())
    off = essence(planner.prepare(sql).plan(options=Options(disable_passes=("push_limit",))))
    assert usual != off
    assert essence(planner.prepare(sql).plan()) == usual
    with pytest.raises(Unplannable):
        planner.prepare(sql).plan(options=Options(scatter="refuse"))


def test_another_catalog_begins_anew() -> None:
    cache = PlanCache()
    other = parse(CATALOG.to_sql().replace("slot // 4", "3 - slot // 4"))
    sql = "SELECT * FROM users WHERE id = 1"
    for catalog, shard in ((CATALOG, "s0"), (other, "s3"), (CATALOG, "s0")):
        assert Planner(catalog, cache).prepare(sql).plan().shards == (shard,)
    assert cache.figures().statements == 1


def test_a_text_is_not_taken_for_another_catalogs() -> None:
    """One thread may still plan by a catalog that another one has replaced: an index was dropped."""
    cache = PlanCache()
    other = parse(CATALOG.to_sql().replace("slot // 4", "3 - slot // 4"))
    sql = "SELECT * FROM users WHERE id = {}"
    Planner(other, cache).prepare(sql.format(1)).plan()
    late = cache.text(CATALOG, sql.format(2))
    assert late.shape is not cache.text(other, sql.format(2)).shape


def test_locals_are_planned_anew() -> None:
    planner = Planner(CATALOG, PlanCache())
    with pytest.raises(ProgrammingError):
        planner.prepare("SELECT * FROM mine").plan()
    assert planner.prepare("SELECT * FROM mine", locals={"mine": ()}).cached is None


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT * FROM users WHERE id = ?", []),
        ("SELECT * FROM users WHERE id = ?", [1, 2]),
        ("SELECT * FROM users WHERE id = :a", {"b": 1}),
        ("SELECT * FROM users WHERE id = :a", [1]),
        ("SELECT * FROM users WHERE nothing = 1", None),
        ("SELECT * FROM nowhere WHERE id = 1", None),
        ("SELECT FROM WHERE", None),
        ("SELECT 'a", None),
    ],
)
def test_errors_are_the_same(sql: str, params: Any, twins: Twins) -> None:
    twins.check("SELECT * FROM users WHERE id = ?", [1])
    twins.check("SELECT * FROM users WHERE id = :a", {"a": 1})
    for _ in range(2):
        assert not twins.check(sql, params)


# -- bounds and figures ---------------------------------------------------------------------------------


def test_the_least_used_statement_goes_first() -> None:
    cache = PlanCache(statements_max=2)
    planner = Planner(CATALOG, cache)
    for name in ("id", "age", "id", "name"):
        planner.prepare(f"SELECT {name} FROM users").plan()
    assert [s.text for s in cache.statements()] == ["SELECT name FROM users", "SELECT id FROM users"]
    assert cache.figures().evicted == 1
    planner.prepare("SELECT age FROM users").plan()
    assert cache.figures().planned == 4


def test_bytes_are_bounded() -> None:
    cache = PlanCache(bytes_max=200_000)
    planner = Planner(CATALOG, cache)
    for number in range(40):
        planner.prepare(f"SELECT id AS c{number} FROM users").plan()
        assert cache.figures().bytes <= 200_000
    assert 0 < cache.figures().statements < 10
    cache.clear()
    assert cache.figures()[:3] == (0, 0, 0)


def test_plans_of_one_statement_are_bounded() -> None:
    cache = PlanCache()
    statement = Planner(CATALOG, cache).prepare("SELECT id FROM users ORDER BY id LIMIT ?")
    for _ in range(2):
        for count in range(50):
            plan = statement.plan([count])
            assert plan.merge is not None and f"LIMIT {count}" in plan.fragments[0].sql  # noqa: PT018
    assert cache.figures().plans == 8


def test_figures() -> None:
    cache = PlanCache()
    planner = Planner(CATALOG, cache)
    for number in (1, 2, 2):
        planner.prepare(f"SELECT id FROM users WHERE id = {number}").plan()
    planner.prepare("SELECT id FROM users WHERE id = 1").plan()
    figures = cache.figures()
    assert (figures.text_hits, figures.literal_hits, figures.parsed) == (1, 2, 1)
    assert (figures.plan_hits, figures.planned, figures.plans) == (3, 1, 1)
    (only,) = cache.statements()
    assert only[:4] == ("SELECT id FROM users WHERE id = ?", 3, 1, 1)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT 'secret', 42, 1.5e-7 FROM t1", "SELECT ?, ?, ? FROM t1"),
        ("SELECT 'it''s',\n  E'a\\'b', $$x$$, $t$y$t$", "SELECT ?, ?, ?, ?"),
        ("SELECT a -- 'secret'\nFROM t /* 5 */", "SELECT a FROM t"),
        ('SELECT "a\'5", :p1, $2, ? FROM t', 'SELECT "a\'5", :p1, $2, ? FROM t'),
        ("SELECT 1_000, 0x1F, 5days", "SELECT ?, ?, ?"),
        ("SELECT 'open", "SELECT ?"),
    ],
)
def test_no_value_is_shown(sql: str, shown: str) -> None:
    assert masked(sql) == shown


def test_cut() -> None:
    assert cut("a = 1 AND b2 = 'x''y' AND \"c3\" = 1.50").literals == ("1", "'x''y'", "1.50")
    for odd in ("a = 1 -- 2", "a = E'x\\'' OR b = 'y'", "a = $$1$$ OR b = 2", "/* ' */ a = '1'"):
        assert cut(odd).literals == ()
    assert cut("l[1:2] + 1e5 + .5 + $1 + :1 + t.1 + 1_0 + #1").literals == ("1",)


def test_a_statement_keeps_its_own_text() -> None:
    planner = Planner(CATALOG, PlanCache())
    planner.prepare("SELECT id FROM users WHERE id = 1 AND name = 'a'").plan()
    plan = planner.prepare("SELECT id FROM users WHERE id = 2 AND name = 'b'").plan()
    fresh = Planner(CATALOG).prepare(plan.sql).plan()
    assert plan.sql == "SELECT id FROM users WHERE id = 2 AND name = 'b'"
    assert plan.to_json() == fresh.to_json()
    assert planner.prepare("SELECT id FROM users WHERE id = 2 AND age > $1").parameters == ("1",)


def test_syntax_errors_are_not_kept() -> None:
    cache = PlanCache()
    for _ in range(2):
        with pytest.raises(SQLSyntaxError):
            Planner(CATALOG, cache).prepare("SELEC 1")
    assert cache.figures().statements == 0


def test_threads_share_a_cache() -> None:
    cache = PlanCache(statements_max=6)
    planner, fresh = Planner(LETTERS, cache), Planner(LETTERS)
    forms = [
        "SELECT v FROM a WHERE k = {}",
        "SELECT v FROM a WHERE v = {} AND k = 1",
        "SELECT k FROM a LIMIT {}",
    ]
    texts = [form.format(n) for form in forms for n in range(12)] + [
        f"SELECT v + {n} FROM a" for n in range(6)
    ]
    wanted = {sql: essence(fresh.prepare(sql).plan()) for sql in texts}
    barrier = threading.Barrier(8)

    def work(start: int) -> None:
        barrier.wait()
        for turn in range(60):
            sql = texts[(start + turn * 7) % len(texts)]
            assert essence(planner.prepare(sql).plan()) == wanted[sql]

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, start * 5) for start in range(8)]:
            done.result()
    figures = cache.figures()
    assert figures.plan_hits + figures.planned == 8 * 60
    assert figures.plan_hits > 0
    assert figures.statements <= 6
