"""DuckDB's aggregate functions, by name and by what sqlglot makes of the name.

Data only. `tests/integration/planner/test_aggregates.py` compares it with the functions of the
installed DuckDB and with what sqlglot parses their names to.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.planner.families import words

ALIASES: dict[str, str] = {
    "arbitrary": "first",
    "argmax": "arg_max",
    "argmin": "arg_min",
    "array_agg": "list",
    "countif": "count_if",
    "fsum": "kahan_sum",
    "geometric_mean": "geomean",
    "group_concat": "string_agg",
    "listagg": "string_agg",
    "max_by": "arg_max",
    "mean": "avg",
    "min_by": "arg_min",
    "quantile": "quantile_disc",
    "stddev": "stddev_samp",
    "sumkahan": "kahan_sum",
    "variance": "var_samp",
    "wavg": "weighted_avg",
}

FUNCTIONS: frozenset[str] = words(
    """
    any_value approx_count_distinct approx_quantile approx_top_k arg_max arg_max_null arg_max_nulls_last
    arg_min arg_min_null arg_min_nulls_last avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or
    combine_aggr corr count count_if count_star covar_pop covar_samp decimal_average entropy favg first
    histogram histogram_exact kahan_sum kurtosis kurtosis_pop last list lttb mad max median min mode
    product quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev_pop stddev_samp string_agg sum
    sum_no_overflow var_pop var_samp variant_group_object
    """
)

MACROS: frozenset[str] = words(
    """
    geomean json_group_array json_group_object json_group_structure variant_group_array weighted_avg
    """
)
"""Macros over aggregates: they aggregate, but take no DISTINCT, FILTER or ORDER BY."""

CLASSES: dict[type[exp.Expr], str] = {
    exp.AnyValue: "any_value",
    exp.ApproxDistinct: "approx_count_distinct",
    exp.ApproxQuantile: "approx_quantile",
    exp.ApproxTopK: "approx_top_k",
    exp.ArgMax: "arg_max",
    exp.ArgMin: "arg_min",
    exp.ArrayAgg: "list",
    exp.Avg: "avg",
    exp.BitwiseAndAgg: "bit_and",
    exp.BitwiseOrAgg: "bit_or",
    exp.BitwiseXorAgg: "bit_xor",
    exp.Corr: "corr",
    exp.Count: "count",
    exp.CountIf: "count_if",
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.First: "first",
    exp.GroupConcat: "string_agg",
    exp.Kurtosis: "kurtosis",
    exp.Last: "last",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Max: "max",
    exp.Median: "median",
    exp.Min: "min",
    exp.Mode: "mode",
    exp.PercentileCont: "quantile_cont",
    exp.PercentileDisc: "quantile_disc",
    exp.Quantile: "quantile_disc",
    exp.RegrAvgx: "regr_avgx",
    exp.RegrAvgy: "regr_avgy",
    exp.RegrCount: "regr_count",
    exp.RegrIntercept: "regr_intercept",
    exp.RegrR2: "regr_r2",
    exp.RegrSlope: "regr_slope",
    exp.RegrSxx: "regr_sxx",
    exp.RegrSxy: "regr_sxy",
    exp.RegrSyy: "regr_syy",
    exp.Skewness: "skewness",
    exp.Stddev: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.StddevSamp: "stddev_samp",
    exp.Sum: "sum",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
}

REDUNDANT_DISTINCT: frozenset[str] = words(
    """
    any_value approx_count_distinct arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null
    arg_min_nulls_last bit_and bit_or bool_and bool_or first last max min
    """
)
"""Aggregates to which a repeated row says nothing new (`min(x)`; `min(x, n)` is not one)."""

ORDERED: frozenset[str] = words(
    "any_value first json_group_array json_group_object last list string_agg variant_group_array"
)
"""Aggregates whose result shows the order of their rows."""

EXACT: frozenset[str] = words(
    """
    approx_count_distinct bit_and bit_or bit_xor bitstring_agg bool_and bool_or count count_if
    count_star decimal_average histogram histogram_exact mad max median min
    quantile_cont quantile_disc regr_count sum_no_overflow
    """
)
"""Aggregates whose result is the same to the last bit in whatever order the rows come."""


def aggregate_name(node: exp.Expr) -> str | None:
    """DuckDB's own name (aliases resolved) of the aggregate that this very node calls."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        name = node.name.lower()
        name = ALIASES.get(name, name)
        return name if name in FUNCTIONS or name in MACROS else None
    return CLASSES.get(type(node))
