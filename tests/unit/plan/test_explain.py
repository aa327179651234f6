"""EXPLAIN over plans made by hand: the planner has no part in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp, parse_one

from shardwise.catalog.model import Column, Reference, Sharded, ShardKey, Table
from shardwise.plan import nodes as n
from shardwise.plan.choices import Foreseen
from shardwise.plan.explain import explain_json, explain_text, route_rows, sources_text, steps_text
from shardwise.plan.route import Note, Route
from shardwise.plan.run import First, Fragment, Merge, Plan
from shardwise.plan.statistics import FirstStats, ShardStats, Statistics
from shardwise.plan.tree import subplan

SHARDS = ("s0", "s1", "s2", "s3")


def expr(text: str) -> exp.Expression:
    return parse_one(text, dialect="duckdb")


def table(name: str, key: str, *columns: str) -> Table:
    return Table(
        name=name,
        columns=tuple(Column(name=c, type="BIGINT") for c in columns),
        placement=Sharded(sharding="by_customer", keys=(ShardKey(parts=(exp.column(key),)),)),
    )


ORDERS = table("orders", "customer_id", "id", "customer_id", "total", "placed")
CUSTOMERS = table("customers", "id", "id", "city")
NATIONS = Table(
    name="nations", columns=(Column(name="id", type="INT"),), placement=Reference(on=("by_customer",))
)


def scan(of: Table, rel: str, shards: tuple[str, ...] = SHARDS) -> n.Scan:
    assert of.columns is not None
    columns = tuple(n.Output(n.ColumnId(rel, c.name), c.type) for c in of.columns)
    return n.Scan(table=of, rel=rel, columns=columns, route=Route(shards=shards, total=4))


def fragment(name: str, sql: str, shards: tuple[str, ...] = SHARDS, *why: Note) -> Fragment:
    return Fragment(
        name=name,
        make_sql=lambda: sql,
        columns=(("p0", "BIGINT"),),
        route=Route(shards=shards, total=4, why=why),
        params={"p1": "a secret value"},
        make_text=lambda: lambda shard: f"{sql} -- {shard}",
        source_of=lambda shard: f"db_{shard}",
    )


def plan(root: n.Node, *fragments: Fragment, merge: bool = True, **more: Any) -> Plan:
    return Plan(
        sql="SELECT …",
        root=root,
        fragments=fragments,
        merge=Merge(sql="SELECT 1", params={}, inputs=tuple(f.name for f in fragments)) if merge else None,
        columns=(("city", "VARCHAR"), ("revenue", None)),
        catalog_version=7,
        **more,
    )


def top_cities() -> Plan:
    placed = n.Filter(input=scan(ORDERS, "o"), conjuncts=(expr("o.placed >= DATE '2026-01-01'"),))
    joined = n.Join(kind="inner", left=placed, right=scan(CUSTOMERS, "c"), on=(expr("c.id = o.customer_id"),))
    partial = n.Aggregate(
        input=joined,
        rel="f1",
        keys=(n.Item("city", expr("c.city")),),
        calls=(n.Item("p0", expr("SUM(o.total)")),),
    )
    gather = n.Gather(
        input=partial,
        fragment="f1",
        shards=SHARDS,
        notes=(Note("groups-span-shards", "ORDER BY … LIMIT: a city's groups span shards"),),
    )
    total = n.Aggregate(
        input=gather,
        rel="q",
        keys=(n.Item("city", expr("f1.city")),),
        calls=(n.Item("revenue", expr("SUM(f1.p0)")),),
    )
    top = n.Limit(
        input=n.Sort(input=total, keys=(n.SortKey(expr("q.revenue"), descending=True),)), count=expr("3")
    )
    out = n.Project(
        input=top, rel="out", items=(n.Item("city", expr("q.city")), n.Item("revenue", expr("q.revenue")))
    )
    sql = (
        "SELECT c.city, SUM(o.total) AS p0 FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " WHERE o.placed >= CAST('2026-01-01' AS DATE) GROUP BY c.city"
    )
    why = Note("key-not-compared", "nothing compares orders.customer_id or customers.id with a value")
    return plan(out, fragment("f1", sql, SHARDS, why))


TOP_CITIES = """\
Limit 3
└─ Sort revenue DESC
   └─ Aggregate by city: revenue = sum(p0)
      └─ Gather
         └─ Fragment f1 on 4 of 4 shards: s0, s1, s2, s3
              SELECT c.city, SUM(o.total) AS p0 FROM orders AS o JOIN customers AS c ON c.id = o.customer_id
              WHERE o.placed >= CAST('2026-01-01' AS DATE) GROUP BY c.city
              all shards    nothing compares orders.customer_id or customers.id with a value
              pushed        filter, colocated join (by_customer), partial sum
              not pushed    ORDER BY … LIMIT: a city's groups span shards"""


def test_a_plan_prints_as_the_design_shows_it() -> None:
    assert explain_text(top_cities()) == TOP_CITIES


def test_one_shard_answers_whole() -> None:
    root = n.Filter(input=scan(ORDERS, "o", ("s2",)), conjuncts=(expr("o.customer_id = 5"),))
    why = Note("key-compared", "orders.customer_id = 5")
    one = plan(
        root, fragment("f1", "SELECT * FROM orders AS o WHERE o.customer_id = 5", ("s2",), why), merge=False
    )
    assert explain_text(one) == (
        "Fragment f1 on 1 of 4 shards: s2\n"
        "  SELECT * FROM orders AS o WHERE o.customer_id = 5\n"
        "  1 of 4 shards  orders.customer_id = 5\n"
        "  pushed         the whole statement"
    )


def test_analyze_shows_what_was_moved() -> None:
    seconds = {"s0": 0.0123, "s1": 0.004, "s2": 1.25, "s3": 0.0}
    stats = Statistics(
        fragments={"f1": {s: ShardStats(120 if s != "s3" else 1, 3400, t) for s, t in seconds.items()}},
        merge_seconds=0.002,
        seconds=1.5,
        rows_out=3,
    )
    text = explain_text(top_cities(), stats)
    assert "      └─ Gather" + " " * 47 + "361 rows, 14 kB moved\n" in text
    assert (
        "              s0  120 rows  3.4 kB   12 ms\n"
        "              s1  120 rows  3.4 kB  4.0 ms\n"
        "              s2  120 rows  3.4 kB   1.2 s\n"
        "              s3     1 row  3.4 kB  0.0 ms\n"
    ) in text
    assert text.endswith("3 rows in 1.5 s, merge 2.0 ms; 361 rows, 14 kB moved off the shards")
    spilled = explain_text(top_cities(), replace(stats, bytes_spilled=813_000_000))
    assert spilled.endswith("merge 2.0 ms, 813 MB spilled to disk; 361 rows, 14 kB moved off the shards")


def test_analyze_of_many_shards_names_the_slowest() -> None:
    shards = tuple(f"s{i}" for i in range(10_000))
    of = {s: ShardStats(1, 8, i / 1000) for i, s in enumerate(shards)}
    stats = Statistics(fragments={"f1": of}, merge_seconds=0, seconds=10, rows_out=1)
    gather = n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=shards)
    text = explain_text(plan(gather, fragment("f1", "SELECT 1", shards)), stats)
    assert "Fragment f1 on 10,000 of 4 shards: s0, s1, … s9999" in text
    assert "s9999" in text.splitlines()[3]
    assert "and 9,992 shards that were faster" in text
    assert len(text.splitlines()) < 20


def test_subqueries_are_named_and_drawn() -> None:
    inner = n.Aggregate(
        input=n.Gather(input=scan(ORDERS, "x"), fragment="f2", shards=SHARDS),
        rel="a",
        keys=(),
        calls=(n.Item("avg", expr("AVG(x.total)")),),
    )
    above_average = exp.GT(this=expr("o.total"), expression=subplan(inner))
    not_in = exp.Not(this=exp.In(this=expr("o.id"), query=subplan(scan(NATIONS, "nations"))))
    root = n.Filter(
        input=n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=SHARDS),
        conjuncts=(above_average, not_in),
    )
    text = explain_text(plan(root, fragment("f1", "SELECT 1"), fragment("f2", "SELECT 2")))
    assert text == (
        "Filter total > (subquery 1) AND id NOT IN (subquery 2)\n"
        "├─ Gather\n"
        "│  └─ Fragment f1 on 4 of 4 shards: s0, s1, s2, s3\n"
        "│       SELECT 1\n"
        "├─ subquery 1\n"
        "│  └─ Aggregate: avg = avg(total)\n"
        "│     └─ Gather\n"
        "│        └─ Fragment f2 on 4 of 4 shards: s0, s1, s2, s3\n"
        "│             SELECT 2\n"
        "└─ subquery 2\n"
        "   └─ Scan nations: id"
    )


def test_route_reasons_that_differ_in_a_word_are_one_line() -> None:
    why = [Note("key-not-compared", f"nothing compares {c} with a value") for c in ("a.k", "b.k", "a.k")]
    why.append(Note("all-slots-match", "nothing compares c.k with a value"))
    gather = n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=SHARDS)
    lines = explain_text(plan(gather, fragment("f1", "SELECT 1", SHARDS, *why))).splitlines()
    assert lines[3:] == [
        "     all shards    nothing compares a.k or b.k with a value",
        "     all shards    nothing compares c.k with a value",
    ]


def test_what_a_person_would_not_write_is_left_out() -> None:
    gather = n.Gather(input=scan(ORDERS, "f1"), fragment="f1", shards=SHARDS)
    long = " + ".join(f"f1.total * {i} / f1.id" for i in range(20))
    calls = (n.Item("n", expr("CAST(COALESCE(SUM(f1.id), 0) AS BIGINT)")), n.Item("x", expr(long)))
    kept = n.Keep(input=n.Aggregate(input=gather, rel="a", keys=(), calls=calls), columns=())
    renamed = n.Project(input=kept, rel="out", items=(n.Item("count(*)", expr("a.n")),))
    line = explain_text(plan(renamed, fragment("f1", "SELECT 1"))).splitlines()[0]
    assert line == "Aggregate: n = sum(id), x = formula of total, id"


def test_what_runs_first_comes_first() -> None:
    before = plan(n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=SHARDS), fragment("f1", "SELECT 0"))
    whole = plan(
        n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=SHARDS),
        fragment("f1", "SELECT 1"),
        first=(First(name="q1", plan=before, is_scalar=True),),
    )
    lines = explain_text(whole).splitlines()
    assert lines[:3] == [
        "Runs first: $q1, one value",
        "  Gather",
        "  └─ Fragment f1 on 4 of 4 shards: s0, s1, s2, s3",
    ]
    assert next(sql for _, _, sql in route_rows(whole)) == "SELECT 0 -- s0"
    stats = Statistics(fragments={}, merge_seconds=0, seconds=0, rows_out=0)
    inner = Statistics(
        fragments={"f1": {"s0": ShardStats(5, 40, 0.0)}}, merge_seconds=0, seconds=0, rows_out=1
    )
    after = plan(n.OneRow())
    stats = Statistics(
        fragments={}, merge_seconds=0, seconds=0.1, rows_out=1, first=(FirstStats("q1", before, inner),)
    )
    text = explain_text(after, stats)
    assert text.startswith("Ran first: $q1\n")
    assert text.endswith("; 5 rows, 40 B moved off the shards")


def test_a_fragment_that_is_read_twice_is_told_once() -> None:
    gather = n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=SHARDS)
    both = n.SetOp(kind="union", all=True, arms=(gather, gather), rel="u")
    assert explain_text(plan(both, fragment("f1", "SELECT 1"))) == (
        "Union all\n"
        "├─ Gather\n"
        "│  └─ Fragment f1 on 4 of 4 shards: s0, s1, s2, s3\n"
        "│       SELECT 1\n"
        "└─ Gather\n"
        "   └─ Fragment f1 on 4 of 4 shards: s0, s1, s2, s3\n"
        "        as above; its rows are read again"
    )


@pytest.mark.parametrize(
    ("node", "line"),
    [
        (n.Limit(input=n.OneRow(), count=None, offset=expr("2")), "Limit none offset 2"),
        (n.Limit(input=n.OneRow(), count=expr("30"), percent=True), "Limit 30 %"),
        (n.Limit(input=n.OneRow(), count=expr("3"), offset=expr("2")), "Limit 3 offset 2"),
        (
            n.Sort(
                input=scan(ORDERS, "o"),
                keys=(n.SortKey(expr("o.id"), True, True), n.SortKey(expr("o.total"))),
            ),
            "Sort id DESC NULLS FIRST, total",
        ),
        (
            n.Join(
                kind="left", left=scan(ORDERS, "o"), right=scan(CUSTOMERS, "c"), on=(expr("c.id = o.id"),)
            ),
            "Left join on c.id = o.id",
        ),
        (
            n.Join(kind="cross", left=scan(ORDERS, "o"), right=scan(CUSTOMERS, "c"), lateral=True),
            "Lateral cross join",
        ),
        (
            n.Filter(
                input=scan(ORDERS, "o"), conjuncts=(expr("o.id = 1 OR o.id = 2"), expr("o.total = c.id"))
            ),
            "Filter (id = 1 OR id = 2) AND total = c.id",
        ),
        (
            n.Aggregate(
                input=scan(ORDERS, "o"),
                rel="a",
                keys=(n.Item("id", expr("o.id")), n.Item("y", expr("o.total % 2"))),
                calls=(n.Item("c", expr("COUNT(*)")),),
                sets=((0, 1), (0,), ()),
            ),
            "Aggregate by sets (id, y), (id), () of y = total % 2: c = count(*)",
        ),
        (n.Distinct(input=scan(ORDERS, "o")), "Distinct"),
        (
            n.Distinct(input=scan(ORDERS, "o"), on=(expr("o.id"),), order=(n.SortKey(expr("o.total")),)),
            "Distinct on id, first by total",
        ),
        (n.SetOp(kind="except", all=False, arms=(scan(ORDERS, "o"), scan(ORDERS, "p")), rel="u"), "Except"),
        (n.Values(rel="v", names=("a", "b c"), rows=((expr("1"), expr("2")),)), 'Values: 1 row of a, "b c"'),
        (n.Local(name="cohort", rel="c", columns=()), "Local table cohort"),
        (n.Join(kind="cross", left=n.OneRow(), right=n.Keep(input=n.OneRow(), columns=())), "Cross join"),
        (n.CteRef(name="x", rel="y", columns=()), "Read x AS y"),
    ],
)
def test_lines(node: n.Node, line: str) -> None:
    assert explain_text(plan(node)).splitlines()[0] == line


def test_all_nodes_have_a_line_of_their_own() -> None:
    from shardwise.plan.phrases import Phrases

    kinds = {k for k in vars(n).values() if isinstance(k, type) and issubclass(k, n.Node)} - {n.Node}
    registered = set(vars(Phrases)["_line"].dispatcher.registry)
    assert kinds <= registered


def test_steps_name_the_pass() -> None:
    before = scan(ORDERS, "o")
    after = n.Gather(input=before, fragment="f1", shards=SHARDS)
    assert steps_text(plan(after, steps=(("bind", before), ("place_gathers", after)))) == (
        "-- bind\n"
        "Scan orders AS o: id, customer_id, total, placed\n"
        "-- place_gathers\n"
        "Gather\n"
        "└─ Scan orders AS o: id, customer_id, total, placed"
    )


def test_route_rows_are_one_per_shard() -> None:
    rows = list(route_rows(plan(n.OneRow(), fragment("f1", "SELECT 1", ("s0", "s3")))))
    assert rows == [("s0", "db_s0", "SELECT 1 -- s0"), ("s3", "db_s3", "SELECT 1 -- s3")]


def test_sources_that_answer_alike_are_told_together() -> None:
    gather = n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=SHARDS)
    answers = {("f1", s): "SEQ SCAN" if s != "s1" else "INDEX SCAN\n  x" for s in SHARDS}
    text = sources_text(plan(gather, fragment("f1", "SELECT 1")), answers)
    assert text.splitlines()[3:] == [
        "     s0, s2, s3:",
        "       SEQ SCAN",
        "     s1:",
        "       INDEX SCAN",
        "         x",
    ]


def test_json_has_the_documented_shape() -> None:
    stats = Statistics(
        fragments={"f1": {"s0": ShardStats(2, 32, 0.5)}},
        merge_seconds=0.1,
        seconds=0.7,
        rows_out=3,
        bytes_spilled=7,
    )
    inner = plan(n.OneRow())
    with_first = plan(
        n.OneRow(), first=(First(name="q1", plan=inner, is_scalar=False),), notes=(Note("a", "b"),)
    )
    whole = Statistics(
        fragments={}, merge_seconds=0, seconds=0, rows_out=0, first=(FirstStats("q1", inner, stats),)
    )
    schema = json.loads((Path(__file__).parents[3] / "docs" / "explain.schema.json").read_text())
    for text in (
        explain_json(top_cities()),
        explain_json(top_cities(), stats),
        explain_json(with_first),
        explain_json(with_first, whole),
    ):
        check(json.loads(text), schema, schema)
        assert "a secret value" not in text


def test_json_says_what_the_text_says() -> None:
    out = json.loads(top_cities().to_json())
    (only,) = out["fragments"]
    assert only["pushed"] == ["filter", "colocated join (by_customer)", "partial sum"]
    assert only["not_pushed"][0]["reason"] == "groups-span-shards"
    assert out["tree"]["inputs"][0]["text"] == "Limit 3"


def check(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> None:
    """The little of JSON Schema that docs/explain.schema.json uses; keys that it does not name are errors."""
    if ref := schema.get("$ref"):
        schema = root if ref == "#" else root["$defs"][ref.rsplit("/", 1)[1]]
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
    }
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if value is None:
        assert "null" in allowed
        return
    assert any(isinstance(value, kinds[k]) for k in allowed if k != "null"), (value, schema)
    if isinstance(value, list):
        for item in value:
            check(item, schema["items"], root)
    if isinstance(value, dict):
        assert value.keys() >= set(schema.get("required", ())), schema
        for key, item in value.items():
            below = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
            assert below, f"{key} is not in the schema"
            check(item, below, root)


@pytest.mark.parametrize(
    ("rows", "told"), [(0.6, "about 1 row, "), (2.0, "about 2 rows, "), (12345.0, "about 12,300 rows, ")]
)
def test_how_many_rows_are_expected(rows: float, told: str) -> None:
    counted = replace(
        fragment("f1", "SELECT 1"), expected=lambda: Foreseen(rows=rows, bytes=8.0, is_guess=False)
    )
    tree = n.Gather(input=scan(ORDERS, "o"), fragment="f1", shards=SHARDS, notes=())
    assert told in explain_text(plan(tree, counted))
