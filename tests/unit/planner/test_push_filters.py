"""Where each predicate ends up: as low as it may go, and no lower."""

from __future__ import annotations

import pytest
from sqlglot import exp

from shardwise.plan.nodes import Filter, Join, Node, Scan, SetOp
from shardwise.plan.tree import plan_of
from shardwise.planner.push_filters import push_filters
from tests.unit.planner.trees import bound, first, nodes


def _text(expr: exp.Expr) -> str:
    def shown(part: exp.Expr) -> exp.Expr:
        if plan_of(part) is not None:
            return exp.Var(this="(…)")
        if type(part) is exp.Column:
            return exp.column(part.name, part.table)
        return part

    return expr.copy().transform(shown).sql("duckdb")


def _over(node: Node) -> str:
    return node.rel if isinstance(node, Scan) else type(node).__name__


def filters(sql: str) -> set[str]:
    """Every predicate and what it filters, after the pass: `a.v > 3 on a`."""
    plan, _ = bound(sql, (push_filters,))
    return {f"{_text(c)} on {_over(f.input)}" for f in nodes(plan, Filter) for c in f.conjuncts}


def kinds(sql: str) -> list[str]:
    plan, _ = bound(sql, (push_filters,))
    return [join.kind for join in nodes(plan, Join)]


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        # Project, Sort, nesting.
        ("SELECT * FROM (SELECT v AS w FROM a) WHERE w > 3", {"a.v > 3 on a"}),
        ("SELECT * FROM (SELECT lower(s) AS w FROM a) WHERE w IS NULL", {"LOWER(a.s) IS NULL on a"}),
        ("SELECT * FROM (SELECT * FROM a ORDER BY v) WHERE k = 5", {"a.k = 5 on a"}),
        ("SELECT * FROM (SELECT * FROM a WHERE v > 1) WHERE k = 5", {"a.v > 1 on a", "a.k = 5 on a"}),
        # Groups, by columns of every set.
        ("SELECT * FROM (SELECT k, sum(v) s FROM a GROUP BY k) WHERE k = 5", {"a.k = 5 on a"}),
        ("SELECT k FROM a GROUP BY k HAVING k = 5", {"a.k = 5 on a"}),
        (
            "SELECT * FROM (SELECT k, v FROM a GROUP BY GROUPING SETS ((k), (k, v))) WHERE k = 5",
            {"a.k = 5 on a"},
        ),
        ("SELECT * FROM (SELECT DISTINCT k, v FROM a) WHERE v = 5", {"a.v = 5 on a"}),
        ("SELECT * FROM (SELECT DISTINCT ON (k) k, v FROM a ORDER BY v) WHERE k = 5", {"a.k = 5 on a"}),
        ("SELECT * FROM (SELECT k, sum(v) OVER (PARTITION BY k) s FROM a) WHERE k = 5", {"a.k = 5 on a"}),
        # Every arm of a set operation.
        (
            "SELECT * FROM (SELECT k FROM a UNION SELECT k FROM b) WHERE k = 5",
            {"a.k = 5 on a", "b.k = 5 on b"},
        ),
        (
            "SELECT * FROM (SELECT k FROM a UNION ALL SELECT x FROM b) WHERE k = 5",
            {"a.k = 5 on a", "b.x = 5 on b"},
        ),
        (
            "SELECT * FROM (SELECT k FROM a EXCEPT SELECT k FROM b) WHERE k = 5",
            {"a.k = 5 on a", "b.k = 5 on b"},
        ),
        # Inner joins: to the side that is read, and to what equals it.
        (
            "SELECT * FROM a JOIN b ON a.v = b.x WHERE a.s = 'n' AND b.s = 'm'",
            {"a.s = 'n' on a", "b.s = 'm' on b"},
        ),
        ("SELECT * FROM a JOIN b ON a.k = b.k AND a.v > 1", {"a.v > 1 on a"}),
        ("SELECT * FROM a JOIN b ON a.k = b.k WHERE a.k = 5", {"a.k = 5 on a", "b.k = 5 on b"}),
        (
            "SELECT * FROM a JOIN b ON a.k = b.k WHERE b.k IN (5, 7)",
            {"a.k IN (5, 7) on a", "b.k IN (5, 7) on b"},
        ),
        (
            "SELECT * FROM a JOIN b ON a.k = b.k JOIN c ON b.k = c.k WHERE c.k BETWEEN 2 AND 4",
            {"a.k BETWEEN 2 AND 4 on a", "b.k BETWEEN 2 AND 4 on b", "c.k BETWEEN 2 AND 4 on c"},
        ),
        ("SELECT * FROM a, b WHERE a.k = b.k AND a.v = 1", {"a.v = 1 on a"}),
        # Outer joins: WHERE to the preserved side, ON to the other; told from preserved to the other.
        ("SELECT * FROM a LEFT JOIN b ON a.v = b.v WHERE a.x = 5", {"a.x = 5 on a"}),
        ("SELECT * FROM a LEFT JOIN b ON a.v = b.v AND b.x = 5", {"b.x = 5 on b"}),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k WHERE a.k = 5", {"a.k = 5 on a", "b.k = 5 on b"}),
        ("SELECT * FROM a RIGHT JOIN b ON a.k = b.k WHERE b.k = 5", {"a.k = 5 on a", "b.k = 5 on b"}),
        # Semi and anti joins.
        (
            "SELECT * FROM a SEMI JOIN b ON a.k = b.k AND a.v = 1 AND b.v = 2",
            {"a.v = 1 on a", "b.v = 2 on b"},
        ),
        (
            "SELECT * FROM a ANTI JOIN b ON a.k = b.k AND b.v = 2 WHERE a.v = 1",
            {"a.v = 1 on a", "b.v = 2 on b"},
        ),
        ("SELECT * FROM a ANTI JOIN b ON a.k = b.k WHERE a.k = 5", {"a.k = 5 on a", "b.k = 5 on b"}),
        # Subqueries in predicates go along; predicates in subqueries move there.
        (
            "SELECT * FROM a JOIN b USING (k) WHERE EXISTS (SELECT 1 FROM c WHERE c.k = a.k)",
            {"EXISTS((…)) on a", "c.k = a.k on c"},
        ),
        ("SELECT (SELECT max(v) FROM (SELECT k, v FROM b) WHERE k = 5) FROM a", {"b.k = 5 on b"}),
        # LATERAL: to the left side.
        ("SELECT * FROM a, range(a.k) t(i) WHERE a.v = 1", {"a.v = 1 on a"}),
        # What an OR over both sides says of each alone.
        (
            "SELECT * FROM a JOIN b ON a.k = b.k WHERE (a.v = 1 AND b.v = 2) OR (a.v = 3 AND b.v = 4)",
            {"(a.v = 1) OR (a.v = 3) on a", "(b.v = 2) OR (b.v = 4) on b"},
        ),
    ],
)
def test_it_moves(sql: str, wanted: set[str]) -> None:
    assert filters(sql) == wanted


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        # LIMIT, samples of first rows.
        ("SELECT * FROM (SELECT * FROM a ORDER BY v LIMIT 10) WHERE k = 5", {"q.k = 5 on Limit"}),
        ("SELECT * FROM (SELECT * FROM a LIMIT 10 OFFSET 2) WHERE k = 5", {"q.k = 5 on Limit"}),
        (
            "SELECT * FROM (SELECT DISTINCT ON (k) k, v FROM a ORDER BY v) WHERE v = 5",
            {"q.v = 5 on Distinct"},
        ),
        # Windows, by other than their partitions; groups, by aggregates or by columns of some sets only.
        ("SELECT * FROM (SELECT k, sum(v) OVER () s FROM a) WHERE k = 5", {"a.k = 5 on Window"}),
        (
            "SELECT * FROM (SELECT k, v, rank() OVER (PARTITION BY k ORDER BY v) n FROM a) WHERE v = 5",
            {"a.v = 5 on Window"},
        ),
        (
            "SELECT * FROM (SELECT k, rank() OVER (PARTITION BY k), max(v) OVER () FROM a) WHERE k = 5",
            {"a.k = 5 on Window"},
        ),
        ("SELECT k FROM a QUALIFY row_number() OVER (PARTITION BY k) = 1", {"win.w0 = 1 on Window"}),
        ("SELECT k FROM a GROUP BY k HAVING sum(v) > 1", {"agg.a > 1 on Aggregate"}),
        ("SELECT * FROM (SELECT k, v FROM a GROUP BY ROLLUP (k, v)) WHERE k = 5", {"agg.k = 5 on Aggregate"}),
        ("SELECT * FROM (SELECT count(*) n FROM a) WHERE 1 = 0", {"1 = 0 on Aggregate"}),
        # Outer joins: not WHERE to the null side, not ON to the preserved one, not back.
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k WHERE b.v IS NULL", {"b.v IS NULL on Join"}),
        (
            "SELECT * FROM a LEFT JOIN b ON a.k = b.k WHERE coalesce(b.v, 0) = 0",
            {"COALESCE(b.v, 0) = 0 on Join"},
        ),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k AND a.v = 5", set()),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k AND b.k = 5", {"b.k = 5 on b"}),
        ("SELECT * FROM a RIGHT JOIN b ON a.k = b.k AND b.v = 5", set()),
        ("SELECT * FROM a FULL JOIN b ON a.k = b.k AND a.v = 5 AND b.v = 6", set()),
        ("SELECT * FROM a FULL JOIN b ON a.k = b.k WHERE a.v IS NULL", {"a.v IS NULL on Join"}),
        ("SELECT * FROM a ANTI JOIN b ON a.k = b.k AND a.v = 1", set()),
        # What may fail waits above whatever may keep it from failing.
        ("SELECT * FROM a JOIN b USING (k) WHERE CAST(a.s AS INT) > 1", {"CAST(a.s AS INT) > 1 on Join"}),
        (
            "SELECT * FROM (SELECT s, count(*) n FROM a GROUP BY s) WHERE CAST(s AS INT) > 1",
            {"CAST(q.s AS INT) > 1 on Project"},
        ),
        (
            "SELECT * FROM (SELECT * FROM a WHERE v > 1) WHERE CAST(s AS INT) > 1",
            {"CAST(q.s AS INT) > 1 on Project", "a.v > 1 on a"},
        ),
        # Volatile.
        ("SELECT * FROM a JOIN b USING (k) WHERE a.v > random()", {"a.v > RANDOM() on Join"}),
        ("SELECT * FROM (SELECT k, random() z FROM a) WHERE z > 0.5", {"q.z > 0.5 on Project"}),
        ("SELECT * FROM (SELECT DISTINCT k FROM a) WHERE random() < 0.5", {"RANDOM() < 0.5 on Distinct"}),
        # A subquery's value is not computed twice, nor in two arms.
        ("SELECT * FROM (SELECT (SELECT max(v) FROM b) AS m FROM a) WHERE m > 5", {"q_2.m > 5 on Project"}),
        (
            "SELECT * FROM (SELECT k FROM a UNION ALL SELECT k FROM b) WHERE k = (SELECT max(k) FROM c)",
            {'"union".k = (…) on SetOp'},
        ),
        # Arms that do not declare the column alike compare it each in its own way.
        (
            "SELECT * FROM (SELECT k FROM a UNION ALL SELECT k FROM texts) WHERE k = 5",
            {'"union".k = 5 on SetOp'},
        ),
        # A recursion's rows lead to others; a shared WITH item is made once.
        (
            (
                "WITH RECURSIVE t AS (SELECT k, v FROM a UNION ALL SELECT a.k, a.v FROM t JOIN a ON a.k = t.v"
                ") SELECT * FROM t WHERE k = 5"
            ),
            {"t_4.k = 5 on Recursive"},
        ),
        (
            "WITH t AS (SELECT k, random() z FROM a) SELECT * FROM t JOIN t u USING (k) WHERE t.k = 5",
            {"t_2.k = 5 on CteRef", "t_3.k = 5 on CteRef"},
        ),
        # Equal by text and number is not equal.
        ("SELECT * FROM a JOIN texts t ON a.k = t.k WHERE a.k = 5", {"a.k = 5 on a"}),
        # The other side of LATERAL.
        ("SELECT * FROM a, range(a.k) t(i) WHERE i = 1", {"t.i = 1 on Join"}),
        # An OR of which one arm says nothing of a side.
        ("SELECT * FROM a JOIN b ON a.k = b.k WHERE a.v = 1 OR b.v = 2", set()),
    ],
)
def test_it_stays(sql: str, wanted: set[str]) -> None:
    assert filters(sql) == wanted


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k WHERE b.v > 1", "inner"),
        ("SELECT * FROM a RIGHT JOIN b ON a.k = b.k WHERE a.v > 1", "inner"),
        ("SELECT * FROM a FULL JOIN b ON a.k = b.k WHERE a.v > 1", "left"),
        ("SELECT * FROM a FULL JOIN b ON a.k = b.k WHERE b.v > 1", "right"),
        ("SELECT * FROM a FULL JOIN b ON a.k = b.k WHERE a.v > b.v", "inner"),
        ("SELECT * FROM a, b WHERE a.v < b.v", "inner"),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k WHERE b.v IS NULL", "left"),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k WHERE b.v > 1 OR a.v > 1", "left"),
        ("SELECT * FROM a LEFT JOIN b ON a.k = b.k WHERE a.v > 1", "left"),
        ("SELECT * FROM a FULL JOIN b ON a.k = b.k WHERE a.v IS NULL", "full"),
        ("SELECT * FROM a FULL JOIN b ON a.k = b.k WHERE coalesce(a.v, b.v) > 1", "full"),
        ("SELECT * FROM a, b WHERE a.v > 1", "cross"),
    ],
)
def test_what_rejects_the_null_extended_row_makes_the_join_inner(sql: str, wanted: str) -> None:
    assert kinds(sql) == [wanted]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM a",
        "SELECT k FROM a WHERE v > 1",
        "SELECT k FROM a LIMIT 3",
        "SELECT * FROM a JOIN b ON a.k = b.k",
        "SELECT k FROM a UNION SELECT k FROM b",
        "SELECT k FROM a WHERE k IN (SELECT k FROM b WHERE v > 1)",
    ],
)
def test_a_tree_that_needs_nothing_is_returned_as_it_is(sql: str) -> None:
    plan, ctx = bound(sql)
    assert push_filters(plan, ctx) is plan


def test_twice_is_once() -> None:
    plan, ctx = bound("SELECT * FROM (SELECT k, v FROM a UNION SELECT k, v FROM b) q WHERE k = 5 AND v > 1")
    once = push_filters(plan, ctx)
    assert once is not plan
    assert push_filters(once, ctx) is once


def test_the_expressions_of_the_tree_before_are_as_they_were() -> None:
    plan, ctx = bound("SELECT * FROM (SELECT k + 1 AS j FROM a UNION ALL SELECT k FROM b) q WHERE j = 5")
    (before,) = first(plan, Filter).conjuncts
    text = before.sql()
    push_filters(plan, ctx)
    assert first(plan, Filter).conjuncts == (before,)
    assert before.sql() == text
    assert isinstance(first(plan, Filter).input, Node)
    assert first(plan, SetOp)
