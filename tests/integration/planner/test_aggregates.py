"""Every aggregate of the installed DuckDB, split over random parts, against the call left whole.

The contract is applied literally: shards group by keys and compute partials, the merge
computes the finals over their rows, repeated where a split asks for it.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from shardwise.executor.duck import IS_V1
from shardwise.planner.aggregate_names import ALIASES, FUNCTIONS, MACROS, aggregate_name
from shardwise.planner.aggregates import (
    Combined,
    combine,
    is_aggregate,
    is_order_sensitive,
    split_aggregate,
)

TYPES = {
    "id": "INTEGER",
    "shard": "INTEGER",
    "g": "INTEGER",
    "i": "INTEGER",
    "b": "BIGINT",
    "m": "DECIMAL(12,3)",
    "d": "DOUBLE",
    "z": "DOUBLE",
    "s": "VARCHAR",
    "dt": "DATE",
    "ts": "TIMESTAMP",
    "o": "BOOLEAN",
    "v": "INTERVAL",
}
_NUMBERS = ("i", "b", "m", "d", "z")
_ALL = ("i", "b", "m", "d", "z", "s", "dt", "ts", "o", "v")

# Functions that came with DuckDB 2; on 1.5 all there are must still be known and tested.
NEW_IN_2 = {"combine_aggr", "decimal_average", "lttb", "variant_group_array", "variant_group_object"}
if IS_V1:
    NEW_IN_2 |= {"sum_no_overflow"}  # there, but "for internal use only"

NOT_SPLIT = {
    "combine_aggr": "works on aggregate states, which do not leave an engine",
    "variant_group_object": "internal; keys by VARIANT",
    "bitstring_agg(i)": "without bounds its length comes from the table's statistics",
}

# Templates of calls; {n} stands for each numeric column, {a} for each column of any type.
SAME = """
count(*); count(); count_star(); count({a}); count(distinct {a}); count(distinct (i, s))
count(*) filter (where i > 2); sum({n}); sum(distinct {n}); sum({n}) filter (where s <> 'a' or d > 0)
sum(o); sum(i order by d); sum(i + b // 8 - 1); avg({n}); avg(distinct {n}); avg(dt); avg(ts); avg(v)
avg(i) filter (where d > 0); mean(m); avg(cast(ts as time)); min({a}); max({a}); min(distinct {a})
max({a}) filter (where i is not null); min(i, 2); max({a}, 3); max(s, 2); min(d, 2) filter (where s = 'a')
max(distinct i, 2); min(s, i % 2 + 1) filter (where i = 3); any_value({a} order by id)
any_value(s order by d desc, id) filter (where i > 1); any_value(s order by s desc, id)
first({a} order by id); first(s order by d desc nulls first, id); last({a} order by id)
last(s order by i, id desc); arbitrary(s order by id); first(s order by id) filter (where i > 2)
first(distinct s order by s); first(s order by d + i nulls first, -id); last(7 order by id); first(1)
bool_and(o); bool_or(o); bool_and(i > 1); bool_or(i > 4) filter (where s = 'a'); bool_and(distinct o)
bit_and(i); bit_or(i); bit_xor(i); bit_and(b); bit_or(b); bit_xor(b); bit_xor(distinct i)
bit_or(i) filter (where d > 0); product(i); product(d); product(z); fsum(i); fsum(m); fsum(d)
kahan_sum(d); sumkahan(d); favg(i); favg(m); favg(d); favg(z); favg(d) filter (where i > 1)
sum_no_overflow(i); sum_no_overflow(m); decimal_average(m); count_if(o); countif(i > 1)
count_if(i > 2) filter (where o); arg_min(s, id); arg_max({a}, id); arg_max({a}, id) filter (where o)
argmin(id, -id); argmax(s, -id); max_by(s, d + id); min_by(s, ts + to_days(id)); arg_min_null({a}, id)
arg_max_null({a}, id); arg_min_nulls_last({a}, id); arg_max_nulls_last({a}, id)
arg_min(s, case when id % 3 > 0 then id end); arg_max(s, case when id % 3 > 0 then id end)
arg_min_null(s, case when id % 3 > 0 then id end); arg_max_null(s, case when id % 3 > 0 then id end)
arg_min({a}, id, 3); arg_max({a}, id, 3); arg_max({a}, id, 2) filter (where i > 1); arg_max(s, id, 0 + 2)
arg_min(s, i order by d, id); arg_max(s, o order by id desc); arg_min_nulls_last(s, id, 3)
arg_max_nulls_last(i, id, 3); arg_min(distinct s, id); var_pop({n}); var_samp({n}); variance({n})
stddev({n}); stddev_pop({n}); stddev_samp({n}); sem({n}); stddev(distinct i)
var_samp(d + i) filter (where s = 'a'); variance(d) filter (where false); corr({n}, d); corr(z, i)
covar_pop({n}, i); covar_samp({n}, d); covar_pop(d, i) filter (where o); regr_avgx({n}, d)
regr_avgy({n}, i); regr_count({n}, i); regr_intercept(i, d); regr_intercept(m, d); regr_r2({n}, d)
regr_slope({n}, d); regr_slope(d, z); regr_r2(z, d); regr_r2(d, z); regr_intercept(d, z); corr(d, 1.5)
corr(d, d); regr_sxx({n}, d); regr_sxy({n}, d); regr_syy({n}, d); regr_syy(d, i) filter (where o)
median({a}); median(distinct i); median(d) filter (where o); mode(case when i > 2 then 3 end)
mode(s order by s); quantile({n}, 0.3); quantile_cont({n}, [0.2, 0.7]); quantile_cont(dt, 0.3)
quantile_disc({a}, 0.4); quantile_disc(i, [0.2, 0.9]); quantile_cont(d, 0.3 order by d desc)
quantile_cont(d, 0.3) filter (where o); percentile_cont(0.3) within group (order by d)
percentile_disc(0.3) within group (order by i desc); percentile_cont([0.2, 0.3]) within group (order by d)
percentile_disc(0.5) within group (order by s) filter (where o); mad({n}); mad(dt); entropy({a})
kurtosis(d); kurtosis_pop(i); skewness(d); histogram({a}); histogram(i) filter (where o)
histogram(i, [1, 3, 9]); histogram_exact(i, [1, 3]); histogram(distinct s); approx_count_distinct({a})
approx_count_distinct(distinct s); approx_count_distinct(i) filter (where o); bitstring_agg(i, -10, 20)
bitstring_agg(i, -10, 20) filter (where o); lttb(id, i, 100 order by id)
lttb(id, i, 4 order by id) filter (where d > 0); list({a} order by id)
array_agg(i order by d desc nulls last, id); list(i order by i); list(d order by s, id)
list(distinct s order by s); list(distinct {a} order by {a}); list(s order by id) filter (where i > 1)
list((i, s) order by id); list({{'x': i, 'y': s}} order by id desc); string_agg(s, '-' order by id)
string_agg(s order by i desc, id); listagg(distinct s, '|' order by s)
group_concat(d, ',' order by id) filter (where o); string_agg({a}, '/' order by id)
string_agg(s || 'x', '' order by id); count(distinct s collate nocase); max(s collate nocase, 1)
list(distinct lower(s) order by lower(s)); geomean(id); geometric_mean(id * 2.5); weighted_avg(d, id)
wavg(i, m); weighted_avg(m, i + 7); json_group_structure(s)
"""
ANY_ORDER = """
list({a}); array_agg({a}); list(distinct s); list({a}) filter (where i > 1); list((i, s)); list(1)
lttb(id, i, 100); string_agg({a}, '~'); string_agg(s, '~') filter (where o); group_concat(distinct s, '~')
string_agg('k', '~'); json_group_array(i); json_group_array({{'s': s}}); json_group_object(id, s)
variant_group_array(i)
"""
ANY_ROW = """
any_value({a}); arbitrary({a}); first({a}); last({a}); first(s) filter (where i > 2)
any_value(i) filter (where o); mode({a}); mode() within group (order by i); mode(distinct i)
reservoir_quantile(i, 0.5); reservoir_quantile(d, 0.5, 9); arg_min(s, i); arg_max_null(s, o)
arg_min_nulls_last(s, case when id % 3 > 0 then -id end)
arg_max_nulls_last(s, case when id % 3 > 0 then -id end)
"""
SKETCH = """
approx_top_k(i, 100); approx_quantile(i, [0.2, 0.8]); approx_quantile(i, 0.5); reservoir_quantile(i, [0.5], 9)
"""


def templates(block: str) -> list[str]:
    parts = dict.fromkeys(part.strip() for part in block.replace("\n", ";").split(";") if part.strip())
    return [part for part in parts if not IS_V1 or part.partition("(")[0] not in NEW_IN_2]


def filled(template: str) -> list[str]:
    columns = _NUMBERS if "{n}" in template else _ALL if "{a}" in template else ("i",)
    return [template.format(n=column, a=column) for column in columns]


def expand(block: str) -> list[str]:
    return [call for template in templates(block) for call in filled(template)]


def parse(call: str) -> exp.Expression:
    found: exp.Expression = sqlglot.parse_one(f"SELECT {call}", dialect="duckdb").expressions[0]
    return found


def rows_of(rng: random.Random) -> Iterator[tuple[Any, ...]]:
    """Few values, so that groups repeat on shards; extremes; group 3 holds only NULLs, 4 one row."""

    def some(*values: Any) -> Any:
        return None if rng.random() < 0.15 else rng.choice(values)

    for n in range(rng.choice((1, 6, 40))):
        g = rng.choice((None, 1, 2, 3))
        row = (
            some(0, 1, 2, 3, 3, 7, -4),
            some(2**63 - 1, -(2**63) + 1, 5, 12, -12),
            some(Decimal("1.500"), Decimal("-2.125"), Decimal("999999999.999"), Decimal(0)),
            some(-0.0, 0.0, 1.5, -7.25, 1e9 + 1, 2.5),
            some(0.1),
            some("a", "A", "b", "", "1", "22", "b~"),
            some(date(2024, 2, 29), date(1969, 12, 31), date(2024, 1, 1)),
            some(datetime(2024, 1, 1, 12, 30), datetime(1960, 1, 1), datetime(2024, 1, 1, 12, 30, 0, 1)),
            some(True, False),
            some(timedelta(days=30), timedelta(hours=1), timedelta(days=-1)),
        )
        yield (n + 1, g, *([None] * 10 if g == 3 else row))
    yield (
        99,
        4,
        7,
        8,
        Decimal("1.250"),
        -2.5,
        0.1,
        "z",
        date(2020, 1, 1),
        datetime(2020, 1, 1),
        True,
        timedelta(1),
    )


class Case:
    """A table t of random rows, each on a random one of `shards` parts."""

    def __init__(self, seed: int, shards: int) -> None:
        rng = random.Random(f"{seed}-{shards}")
        self.seed, self.shards = seed, shards
        self.connection = duckdb.connect()
        columns = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
        self.connection.execute("SET threads = 1")
        self.connection.execute(f"CREATE TABLE t ({columns})")
        used = rng.sample(range(shards), k=max(1, shards - rng.randrange(shards)))  # the others stay empty
        for id_, *row in rows_of(rng):
            values = [id_, rng.choice(used), *row]
            self.connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(values))})", values)
        self.connection.execute("UPDATE t SET v = INTERVAL 1 MONTH WHERE v = INTERVAL 30 DAY AND id % 2 = 0")

    def whole(self, calls: Sequence[str], *, grouped: bool) -> tuple[list[tuple[Any, ...]], list[str]]:
        group = "g, " if grouped else ""
        return self._run(f"SELECT {group}{', '.join(calls)} FROM t{' GROUP BY g' if grouped else ''}")

    def split(self, plan: Combined, *, grouped: bool) -> tuple[list[tuple[Any, ...]], list[str]]:
        """The query that a planner would make of `plan`, over the shards' rows put together."""
        groups = ["g"] if grouped else []
        keys = [f"{key.sql('duckdb')} AS {name}" for name, key in plan.keys]
        partials = [f"{partial.sql('duckdb')} AS {name}" for name, partial in plan.partials]
        count = [f"count(*) AS {plan.count}"] if plan.count else []
        by = groups + [str(position + 1 + len(groups)) for position in range(len(keys))]
        select = f"SELECT {', '.join(groups + keys + partials + count) or '1'} FROM t WHERE shard = "
        grouping = f" GROUP BY {', '.join(by)}" if by else ""
        merged = " UNION ALL ".join(f"({select}{shard}{grouping})" for shard in range(self.shards))
        if plan.expand:
            merged = f"SELECT *, unnest(range({plan.count})) AS i FROM ({merged})"
        finals = ", ".join(groups + [final.sql("duckdb") for final in plan.finals])
        return self._run(f"SELECT {finals} FROM ({merged}) AS merged{' GROUP BY g' if grouped else ''}")

    def _run(self, sql: str) -> tuple[list[tuple[Any, ...]], list[str]]:
        try:
            result = self.connection.sql(sql)
            types = [str(type_) for type_ in result.types]
            return sorted(
                result.fetchall(), key=lambda row: (row[0] is not None, row[0]) if "GROUP BY g" in sql else 0
            ), types
        except duckdb.Error as error:
            raise AssertionError(f"{sql}\n{error}") from error


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [
        Case(seed, shards)
        for seed, shards in ((1, 1), (2, 2), (3, 3), (4, 7), (5, 2), (6, 3), (7, 7), (8, 3))
    ]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return same(list(a.items()), list(b.items()))
    return bool(a == b) and type(a) is type(b)


def unordered(value: Any) -> Any:
    """The value with the elements of its lists, or the parts of its text, sorted."""
    if isinstance(value, tuple):
        return tuple(map(unordered, value))
    if isinstance(value, list):
        return sorted(map(repr, value))
    if isinstance(value, str):
        return sorted(value.strip("[]{}").replace("~", ",").replace("},{", ",").split(","))
    return value


def type_of(column: exp.Column) -> str | None:
    return TYPES.get(column.name)


def check(case: Case, calls: Sequence[str], *, grouped: bool, typed: bool, how: str) -> None:
    plan = combine([parse(call) for call in calls], type_of if typed else None)
    assert plan is not None
    (expected, types), (actual, actual_types) = (
        case.whole(calls, grouped=grouped),
        case.split(plan, grouped=grouped),
    )
    assert actual_types == types
    assert len(actual) == len(expected)
    view = unordered if how == "order" else tuple
    for one, other in zip(map(view, expected), map(view, actual), strict=True):
        assert same(one, other), f"{calls} of {case.seed}: {one} became {other}"


def check_row(case: Case, call: str, *, grouped: bool) -> None:
    """The result may be that of any row of the group; NULL if and only if it may be, too."""
    plan = combine([parse(call)])
    argument = re.search(r"(?:\w\((?:distinct )?|order by )(\w+)", call)
    assert plan is not None
    assert argument is not None
    filter_ = call[call.index("filter") :] if "filter" in call else ""
    values, _ = case.whole([f"list({argument[1]}){filter_}"], grouped=grouped)
    expected, types = case.whole([call], grouped=grouped)
    actual, actual_types = case.split(plan, grouped=grouped)
    assert actual_types == types
    assert [row[:-1] for row in actual] == [row[:-1] for row in expected]
    for (*_, whole), (*_, split), (*_, possible) in zip(expected, actual, values, strict=True):
        assert split in (possible or [None])
        assert (split is None) == (whole is None) or None in possible


def run(cases: list[Case], calls: list[str], how: str) -> None:
    rng = random.Random("".join(calls))
    for case in rng.sample(cases, k=1):
        for grouped in (True, False):
            check(case, calls, grouped=grouped, typed=rng.random() < 0.5, how=how)


@pytest.mark.parametrize("template", templates(SAME))
def test_split_gives_the_same_value_and_type(cases: list[Case], template: str) -> None:
    for call in filled(template)[:2]:
        run(cases, [call], "same")


@pytest.mark.slow
@pytest.mark.parametrize("template", [template for template in templates(SAME) if filled(template)[2:]])
def test_split_gives_the_same_value_and_type_for_each_column(cases: list[Case], template: str) -> None:
    for call in filled(template)[2:]:
        run(cases, [call], "same")


@pytest.mark.parametrize("template", templates(ANY_ORDER))
def test_split_gives_the_same_elements(cases: list[Case], template: str) -> None:
    for call in filled(template):
        run(cases, [call], "order")
        assert is_order_sensitive(parse(call))


@pytest.mark.parametrize("template", templates(ANY_ROW))
def test_split_gives_some_value_of_the_group(cases: list[Case], template: str) -> None:
    for call in filled(template):
        for grouped in (True, False):
            check_row(random.Random(call).choice(cases), call, grouped=grouped)
        assert is_order_sensitive(parse(call))


@pytest.mark.parametrize("call", expand(SKETCH))
def test_split_of_sketches_gives_the_same_type(cases: list[Case], call: str) -> None:
    case = cases[0]
    plan = combine([parse(call)])
    assert plan is not None
    assert case.split(plan, grouped=True)[1] == case.whole([call], grouped=True)[1]


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(s, marks=pytest.mark.slow) for s in range(10, 40))]
)
def test_calls_mixed_in_one_query(cases: list[Case], seed: int) -> None:
    rng = random.Random(seed)
    usable = [call for call in expand(SAME) if not call.startswith(("first(1", "last(7"))]
    run(cases, rng.sample(usable, k=rng.randrange(2, 6)), "same")


def test_every_aggregate_is_named_and_tested() -> None:
    names = dict(functions("aggregate", "alias_of"))
    known = {*FUNCTIONS, *(alias for alias in ALIASES if ALIASES[alias] in FUNCTIONS)}
    if IS_V1:  # which lists window functions, too
        names = {name: names[name] for name in names.keys() - NEW_IN_2 if not is_window(name)}
        known -= NEW_IN_2
    assert known == names.keys()
    for name, alias_of in names.items():
        two = name.startswith(("corr", "covar_", "regr_", "arg", "max_by", "min_by"))
        call = parse(f"{name}(x, y)" if two else f"{name}(x)")
        assert is_aggregate(call)
        assert aggregate_name(call.this if isinstance(call, exp.IgnoreNulls) else call) == (alias_of or name)
    tested = {call.split("(")[0] for call in expand(SAME + ANY_ORDER + ANY_ROW + SKETCH)}
    assert names.keys() - tested == {name for name in NOT_SPLIT if name in names}
    assert {ALIASES.get(name, name) for name in tested} >= (MACROS - NEW_IN_2 if IS_V1 else MACROS)


def is_window(name: str) -> bool:
    """Whether it is unknown without OVER."""
    try:
        duckdb.sql(f"SELECT {name}(x) FROM (SELECT 1 AS x)")
    except duckdb.CatalogException:
        return True
    except duckdb.BinderException:  # it wants other arguments
        return False
    return False


def test_macros_over_aggregates_are_known() -> None:
    found = set()
    for name, definition in functions("macro", "macro_definition"):
        if not name.startswith("list_") and "SELECT" not in definition:
            tree = sqlglot.parse_one(definition, dialect="duckdb")
            found |= {name for node in tree.walk() if is_aggregate(node)}
    macros = {*MACROS, *(alias for alias in ALIASES if ALIASES[alias] in MACROS)}
    assert found == (macros - NEW_IN_2 if IS_V1 else macros)


def functions(kind: str, column: str) -> list[tuple[str, Any]]:
    return duckdb.sql(
        f"SELECT DISTINCT function_name, {column} FROM duckdb_functions() WHERE function_type = '{kind}'"
    ).fetchall()


@pytest.mark.parametrize("call", ["combine_aggr(x)", "variant_group_object(s, v)", "bitstring_agg(i)"])
def test_what_is_never_split(call: str) -> None:
    assert any(call.startswith(name) for name in NOT_SPLIT)
    assert is_aggregate(parse(call))
    assert split_aggregate(parse(call)) is None
    assert combine([parse("sum(i)"), parse(call)]) is None


@pytest.mark.parametrize(
    "call",
    [
        "sum(random())",
        "median(x + random())",
        "count(*) filter (where uuid() > s)",
        "geomean(i) filter (where o)",
    ],
)
def test_volatile_arguments_and_filtered_macros_are_not_split(call: str) -> None:
    assert split_aggregate(parse(call)) is None


@pytest.mark.parametrize(
    "call", ["grouping(a)", "grouping_id(a, b)", "lower(s)", "row_number()", "lag(a)", "list_sum(l)"]
)
def test_what_is_no_aggregate(call: str) -> None:
    assert not is_aggregate(parse(call))


def one_row(plan_of: str, parts: Sequence[str]) -> Any:
    """The split of a call over x, y of parts written as VALUES lists ('' for an empty shard)."""
    plan = combine([parse(plan_of)])
    assert plan is not None
    partials = ", ".join(f"{partial.sql('duckdb')} AS {name}" for name, partial in plan.partials)
    rows = [(part or "(NULL::DOUBLE, NULL::DOUBLE)", "true" if part else "false") for part in parts]
    shards = [f"SELECT {partials} FROM (VALUES {values}) AS v(x, y) WHERE {keep}" for values, keep in rows]
    finals = ", ".join(final.sql("duckdb") for final in plan.finals)
    return duckdb.sql(f"SELECT {finals} FROM ({' UNION ALL '.join(shards)})").fetchall()[0][0]


def test_variance_of_large_numbers_is_not_lost() -> None:
    """PITFALLS 25: sums of squares give 0."""
    parts = ["(1e9 + 1, 1e9 + 2)", "", "(1e9 + 2, 1e9 + 4), (1e9 + 3, 1e9 + 6)"]
    assert one_row("var_samp(x)", parts) == pytest.approx(1.0, rel=1e-6)
    assert one_row("covar_samp(y, x)", parts) == pytest.approx(2.0, rel=1e-6)
    assert one_row("corr(y, x)", parts) == pytest.approx(1.0, rel=1e-6)


def test_a_constant_column_has_no_variance() -> None:
    """The average of {0.1, 0.1, 0.1} is off by a bit: without the clamp the correlation is some number."""
    parts = ["(0.1, 1), (0.1, 2), (0.1, 3)", "(0.1, 5)", "(0.1, 7), (0.1, 9)"]
    assert one_row("var_pop(CAST(x AS DOUBLE))", parts) == 0
    assert math.isnan(one_row("corr(y, x)", parts))
    assert one_row("regr_r2(y, x)", parts) is None
    assert one_row("regr_r2(x, y)", parts) == 1


def test_not_a_number_stays_so() -> None:
    parts = ["('inf'::DOUBLE, 1)", "(1, 2), (2, 3)", "(5, 5)"]
    assert math.isnan(one_row("stddev(x)", parts))
    assert math.isnan(one_row("sem(x)", parts[:1]))


def test_arg_min_ships_the_ordering_value_of_its_row() -> None:
    """PITFALLS 25: {(7,5), (NULL,1)} and {(10,2)} give 10, not 7."""
    assert one_row("arg_min(x, y)", ["(7, 5), (NULL, 1)", "(10, 2)", ""]) == 10
    assert one_row("arg_min_null(x, y)", ["(7, 5), (NULL, 1)", "(10, 2)", ""]) is None


def test_what_looks_different_though_equal_is_kept_apart() -> None:
    split = split_aggregate(parse("list(d order by id)"))
    assert split is not None
    assert "CAST(d AS TEXT)" in split.keys[-1].sql("duckdb")
    typed = split_aggregate(parse("list(i order by id)"), type_of)
    assert typed is not None
    assert [key.name for key in typed.keys] == ["i", "id"]


def test_the_mode_of_all_may_be_on_no_shard_the_most_frequent() -> None:
    case = Case(9, 3)
    case.connection.execute("DELETE FROM t")
    for shard, values in enumerate(([7, 3, 3], [7, 1, 1], [7])):
        case.connection.executemany("INSERT INTO t (shard, i) VALUES (?, ?)", [[shard, i] for i in values])
    plan = combine([parse("mode(i)")])
    assert plan is not None
    assert case.split(plan, grouped=False)[0] == case.whole(["mode(i)"], grouped=False)[0] == [(7,)]


def test_a_users_parameter_is_no_slot() -> None:
    plan = combine([parse("string_agg(s, $p0)"), parse("median(i)")])
    assert plan is not None
    assert plan.finals[0].sql("duckdb") == "LISTAGG(p0, $p0) FILTER(WHERE i = 0)"


def test_equal_partials_and_keys_are_shared() -> None:
    calls = ["avg(CAST(i AS INT))", "count(CAST(i AS INT))", "count(DISTINCT s)", "max(s COLLATE nocase)"]
    plan = combine([parse(call) for call in calls])
    assert plan is not None
    assert [name for name, _ in plan.partials] == ["p0", "p1"]
    assert [(name, key.sql("duckdb")) for name, key in plan.keys] == [("k0", "s")]
    assert not plan.expand


def test_the_call_is_left_as_it_was() -> None:
    for text in (filled(template)[0] for template in templates(SAME + ANY_ORDER + ANY_ROW)):
        call = parse(text)
        before = call.sql("duckdb"), call.parent
        combine([call])
        assert (call.sql("duckdb"), call.parent) == before


def test_text_that_sqlglot_writes_means_the_same(cases: list[Case]) -> None:
    """What sqlglot makes of each call, run unsplit, against the call as it was written."""
    case = cases[2]
    for text in (filled(template)[-1] for template in templates(SAME)):
        if text == "bool_and(distinct o)":
            continue  # becomes BOOL_AND(CAST(DISTINCT o AS BOOLEAN)); its split leaves DISTINCT away
        expected = case.whole([text], grouped=False)
        actual = case.whole([parse(text).sql("duckdb")], grouped=False)
        assert actual[1] == expected[1], text
        assert same(actual[0], expected[0]), text


@pytest.mark.parametrize(
    ("call", "sensitive"),
    [
        ("sum(i)", False),
        ("sum(d)", True),
        ("avg(m)", False),
        ("avg(ts)", True),
        ("sum(unknown)", True),
        ("count(*)", False),
        ("list(s order by id)", True),
        ("list(s order by s)", False),
        ("string_agg(s, ',' order by id, s)", False),
        ("min(d)", False),
        ("stddev(i)", True),
        ("arg_min(s, id)", True),
    ],
)
def test_order_sensitivity(call: str, sensitive: bool) -> None:
    assert is_order_sensitive(parse(call), type_of) == sensitive
