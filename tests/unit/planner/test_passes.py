"""The runner: order, switching off, verifying, steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from sqlglot import exp

import shardwise.planner
from shardwise.errors import InternalError
from shardwise.options import Options
from shardwise.plan.nodes import (
    ColumnId,
    Filter,
    Gather,
    Item,
    Join,
    Keep,
    Limit,
    Local,
    Node,
    Output,
    Project,
    Scan,
    SetOp,
    Sort,
)
from shardwise.plan.run import Bound
from shardwise.plan.tree import column, rewrite, walk
from shardwise.plan.verify import verify
from shardwise.planner import OPTIONAL, PASSES, Context, Planner, scope_of
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.passes import Pass, run
from tests.unit.planner import test_look_up_keys, test_probe_groups_early
from tests.unit.planner.trees import LETTERS, bound, first, with_valid_indexes

NAMES = [one.__name__ for one in PASSES]

# Between them these let every pass fire.
STATEMENTS = """
SELECT k, v FROM a WHERE v > 1 ORDER BY v LIMIT 3
SELECT k FROM a WHERE k IN (1, 2) AND v = 4
SELECT * FROM a WHERE k = 2
SELECT s, count(*), sum(v) FROM a GROUP BY s HAVING count(*) > 1
SELECT DISTINCT s FROM a
SELECT a.v FROM a JOIN d ON a.v = d.v JOIN b ON a.k = b.k
SELECT a.v FROM d JOIN a ON a.v = d.v JOIN b ON a.k = b.k WHERE b.s = 'n'
SELECT * FROM a WHERE v > (SELECT avg(v) FROM b)
SELECT * FROM a WHERE v IN (SELECT x FROM b)
SELECT v FROM a UNION SELECT x FROM d
SELECT v, row_number() OVER (ORDER BY v) FROM a
SELECT * FROM r LEFT JOIN a ON a.v = r.c
WITH t AS (SELECT k, random() z FROM a) SELECT count(*) FROM t JOIN t u USING (k)
SELECT k, median(v) FROM d GROUP BY k
SELECT k FROM a WHERE v < (SELECT max(d.v) FROM d WHERE d.k = a.k)
SELECT a.k FROM a JOIN (SELECT k, count(*) AS n FROM d GROUP BY k) g ON g.k = a.v WHERE a.s = 'n'
SELECT d.x, count(*) FROM a JOIN d ON a.v = d.v GROUP BY d.x
SELECT k FROM a WHERE EXISTS (SELECT 1 FROM d WHERE d.v = a.v)
SELECT k FROM notes ORDER BY k LIMIT 3 OFFSET 5000
SELECT k FROM notes ORDER BY id
"""
CASES = STATEMENTS.strip().splitlines()
INDEXED = with_valid_indexes(
    LETTERS.apply("CREATE LOOKUP INDEX a_s ON a (s); CREATE JOIN INDEX a_d ON a.v = d.v SHARD BY by_k (a.k)")
)


def test_a_pass_is_a_function_in_a_file_of_its_name() -> None:
    folder = Path(shardwise.planner.__file__).parent
    for one in PASSES:
        assert one.__module__ == f"shardwise.planner.{one.__name__}"
        opening = (folder / f"{one.__name__}.py").read_text(encoding="utf-8").partition("\n")[0]
        assert opening.startswith(f'"""{one.__name__}: ')


def test_the_names_of_optional_passes_are_those_of_passes() -> None:
    assert set(OPTIONAL) < set(NAMES)
    assert list(OPTIONAL) == [name for name in NAMES if name in OPTIONAL]
    assert "place_gathers" not in OPTIONAL


def steps_after_keys() -> set[str]:
    """What fires once keys of a side are known that are the other's shard key."""
    plan = (
        Planner(LETTERS)
        .prepare("SELECT b.v FROM a JOIN b ON b.k = a.v WHERE a.s = 'n'")
        .plan(options=Options(force=("keys",)))
    )
    assert plan.then is not None
    (keys,) = plan.first
    row = tuple(1 for _ in keys.plan.columns)
    return {name for name, _ in plan.then({keys.name: Bound(("BIGINT",) * len(row), [row])}).steps}


def test_every_pass_fires_somewhere() -> None:
    fired = {name for sql in CASES for name, _ in Planner(LETTERS).prepare(sql).plan().steps}
    scope = Context(scope=scope_of(LETTERS, {"k": 1}))
    fired |= {name for name, _ in Planner(LETTERS).prepare("SELECT v FROM a").plan(context=scope).steps}
    for sql in (
        "SELECT v FROM a WHERE s = 'n'",
        "SELECT a.v FROM a JOIN d ON a.v = d.v",
        "SELECT a.s FROM a JOIN d ON a.v = d.v",
        "SELECT a.s FROM a WHERE EXISTS (SELECT 1 FROM d WHERE d.v = a.v)",
    ):
        trusting = Planner(INDEXED).prepare(sql).plan(options=Options(trust_indexes=True))
        fired |= {name for name, _ in trusting.steps}
    fired |= steps_after_keys()
    whole = Planner(LETTERS).prepare("SELECT a.k, sum(a.v) FROM a JOIN d ON a.v = d.v GROUP BY a.k")
    fired |= {name for name, _ in whole.plan(options=Options(force=("group_on_shards",))).steps}
    placed = test_look_up_keys.looked_up(test_look_up_keys.BY_NO, [7], [(7, 4)])
    fired |= {name for name, _ in placed.steps}
    fired |= {name for name, _ in test_probe_groups_early.planned().steps}
    assert fired == set(NAMES)


@cache
def usual_names(sql: str) -> list[str]:
    return [name for name, _ in Planner(LETTERS).prepare(sql).plan().columns]


@pytest.mark.parametrize("off", [*OPTIONAL, "all"])
def test_switching_one_off_leaves_a_valid_plan(off: str) -> None:
    disabled = OPTIONAL if off == "all" else (off,)
    for sql in CASES:
        plan = Planner(LETTERS).prepare(sql).plan(options=Options(disable_passes=disabled))
        assert not {name for name, _ in plan.steps} & set(disabled)
        assert verify(plan.root) is None
        assert [n for n, _ in plan.columns] == usual_names(sql)
        assert all(fragment.text(fragment.route.shards[0]) for fragment in plan.fragments)
        assert _scans_are_gathered(plan.root)


def _scans_are_gathered(node: Node) -> bool:
    if isinstance(node, Gather):
        return True
    return not isinstance(node, Scan) and all(_scans_are_gathered(n) for n in (*node.inputs, *node.subplans))


def test_steps_are_the_passes_that_changed_something_in_their_order() -> None:
    plan = Planner(LETTERS).prepare("SELECT k FROM a WHERE k IN (1, 2) ORDER BY v LIMIT 3").plan()
    names = [name for name, _ in plan.steps]
    assert names == [name for name in NAMES if name in names]
    assert plan.steps[-1][1] is plan.root
    trees = [tree for _, tree in plan.steps]
    assert all(a is not b for a, b in pairwise(trees))


def test_passes_stop_where_one_shard_answers_whole() -> None:
    sql = "SELECT s, count(*) FROM a WHERE k = 2 GROUP BY s ORDER BY s LIMIT 1"
    plan = Planner(LETTERS).prepare(sql).plan()
    assert {name for name, _ in plan.steps} <= {
        "push_filters",
        "prune_slots",
        "place_gathers",
        "narrow_columns",
    }


@pytest.mark.parametrize("sql", CASES)
def test_no_pass_edits_in_place(sql: str) -> None:
    plan, ctx = bound(sql)
    for one in PASSES:
        before = _texts(plan)
        after = one(plan, ctx)
        assert _texts(plan) == before, one.__name__
        ctx.learn(after)
        plan = after


def _texts(plan: Node) -> list[str]:
    return [f"{type(node).__name__} {[e.sql('duckdb') for e in node.expressions]}" for node in walk(plan)]


@pytest.mark.parametrize("sql", CASES)
def test_a_pass_that_has_nothing_left_to_do_returns_the_tree(sql: str) -> None:
    """place_gathers and split_aggregates read trees that they have not seen yet."""
    plan, ctx = bound(sql)
    for one in PASSES:
        plan = one(plan, ctx)
        ctx.learn(plan)
        if one.__name__ not in ("place_gathers", "split_aggregates"):
            assert one(plan, ctx) is plan, one.__name__


# Broken passes


def _renames(plan: Node, ctx: PlanContext) -> Node:
    items = tuple(Item(f"{o.id.name}_", column(o.id)) for o in plan.outputs)
    return Project(input=plan, rel="broken", items=items)


def _drops_a_column(plan: Node, ctx: PlanContext) -> Node:
    return Keep(input=plan, columns=plan.outputs[:1])


def _invents_a_column(plan: Node, ctx: PlanContext) -> Node:
    condition = exp.EQ(this=column(ColumnId("nobody", "k")), expression=exp.Literal.number(1))
    return Filter(input=plan, conjuncts=(condition,))


def _filters_before_it_is_computed(plan: Node, ctx: PlanContext) -> Node:
    def change(node: Node) -> Node:
        if isinstance(node, Scan):
            return Filter(input=node, conjuncts=(column(plan.outputs[0].id),))
        return node

    return rewrite(plan, change)


def _gathers_twice(plan: Node, ctx: PlanContext) -> Node:
    inner = Gather(input=plan, fragment="f1", shards=("s0",))
    return Gather(input=inner, fragment="f2", shards=("s0",))


def _gathers_from_nowhere(plan: Node, ctx: PlanContext) -> Node:
    return Gather(input=plan, fragment="f1", shards=())


def _sends_a_local_table(plan: Node, ctx: PlanContext) -> Node:
    local = Local(name="mine", rel="mine", columns=plan.outputs)
    return Gather(input=local, fragment="f1", shards=("s0",))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (_renames, "its output was q.k, q.v, and is broken.k_, broken.v_"),
        (_drops_a_column, "its output was q.k, q.v, and is q.k"),
        (_invents_a_column, "nothing makes the columns nobody.k"),
        (_filters_before_it_is_computed, "q.k"),
        (_gathers_twice, "a Gather is below a Gather"),
        (_gathers_from_nowhere, "no shard to read"),
        (_sends_a_local_table, "registered here"),
    ],
)
def test_a_broken_pass_is_caught_and_named(broken: Callable[[Node, PlanContext], Node], words: str) -> None:
    plan, ctx = bound("SELECT k, v FROM a")
    with pytest.raises(InternalError, match=f"{broken.__name__} broke the plan") as caught:
        run(plan, (broken,), ctx, verify_each=True)
    assert words in str(caught.value)


def test_a_broken_pass_that_is_off_does_no_harm() -> None:
    plan, ctx = bound("SELECT k, v FROM a")
    assert run(plan, (_renames,), ctx, disabled=("_renames",)) == (plan, [])


def test_a_pass_that_does_nothing_is_no_step() -> None:
    def idle(plan: Node, ctx: PlanContext) -> Node:
        return plan

    passes: tuple[Pass, ...] = (idle,)
    plan, ctx = bound("SELECT k, v FROM a")
    assert run(plan, passes, ctx) == (plan, [])


def test_verify_looks_into_trees() -> None:
    plan, _ = bound("SELECT k FROM a UNION ALL SELECT k FROM b")
    union = first(plan, SetOp)
    assert verify(plan) is None
    narrow = union.but(arms=(union.arms[0], Keep(input=union.arms[1], columns=())))
    assert "width" in str(verify(narrow))
    scan = first(plan, Scan)
    assert "twice" in str(verify(scan.but(columns=(scan.columns[0], scan.columns[0]))))
    foreign = Output(ColumnId("b", "v"), "BIGINT")
    assert "does not have" in str(verify(Keep(input=scan, columns=(foreign,))))


def test_verify_lets_lateral_sides_and_subqueries_read_the_outer_row() -> None:
    for sql in (
        "SELECT * FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k) t",
        "SELECT (SELECT max(v) FROM b WHERE b.k = a.k) FROM a",
        "SELECT * FROM a, range(a.k) t(i)",
    ):
        plan, _ = bound(sql)
        assert verify(plan) is None


def test_the_root_keeps_its_order() -> None:
    """Sort and Limit at the root are still there when everything has been pushed."""
    plan = Planner(LETTERS).prepare("SELECT k, v FROM a ORDER BY v LIMIT 3").plan()
    assert isinstance(plan.root, Limit)
    assert isinstance(plan.root.input, Sort)


def test_verify_knows_which_joins_are_lateral() -> None:
    plan, _ = bound("SELECT * FROM a, LATERAL (SELECT v FROM b WHERE b.k = a.k) t")
    lateral = first(plan, Join)
    assert lateral.lateral
    assert "a.k, which it does not get" in str(verify(lateral.but(lateral=False)))
