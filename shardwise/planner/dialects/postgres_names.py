"""The names that PostgreSQL gives columns without an alias (`FigureColname` of its parser).

SELECT count(*), x::int, 'a'::date, a + 1 FROM …    =>    count, x, date, ?column?
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

NO_NAME: Final = "?column?"

_CALLS: Final[dict[type[exp.Expr], str]] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.PercentileCont: "percentile_cont",
    exp.PercentileDisc: "percentile_disc",
    exp.Coalesce: "coalesce",
    exp.Extract: "extract",
    exp.Substring: "substring",
    exp.StrPosition: "position",
    exp.Overlay: "overlay",
    exp.Grouping: "grouping",
    exp.Exists: "exists",
    exp.Array: "array",
    exp.AtTimeZone: "timezone",
    exp.Overlaps: "overlaps",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentDate: "current_date",
    exp.CurrentTime: "current_time",
    exp.Localtimestamp: "localtimestamp",
    exp.Localtime: "localtime",
}
_TYPES: Final = {
    exp.DType.INT: "int4",
    exp.DType.BIGINT: "int8",
    exp.DType.SMALLINT: "int2",
    exp.DType.DOUBLE: "float8",
    exp.DType.FLOAT: "float4",
    exp.DType.DECIMAL: "numeric",
    exp.DType.VARCHAR: "varchar",
    exp.DType.CHAR: "bpchar",
    exp.DType.BOOLEAN: "bool",
}


def column_name(item: exp.Expr) -> str:
    """The name of an item of a select list."""
    if isinstance(item, exp.Alias):
        return item.alias
    return _figured(item)[0] or NO_NAME


def _figured(expr: exp.Expr) -> tuple[str, int]:
    """A name, and how good it is: 2 as it is, 1 where another is preferred, 0 none."""
    if isinstance(expr, exp.Column):
        return expr.name, 2
    if isinstance(expr, exp.Paren | exp.Collate | exp.Window | exp.Filter | exp.WithinGroup):
        return _figured(expr.this)
    if isinstance(expr, exp.Cast):
        name, strength = _figured(expr.this)
        return (name, strength) if strength == 2 else (_type(expr.to), 1)
    if isinstance(expr, exp.Case):
        default = expr.args.get("default")
        name, strength = _figured(default) if default is not None else ("", 0)
        return (name, strength) if strength == 2 else ("case", 1)
    if isinstance(expr, exp.Bracket):
        return _figured(expr.this)
    if isinstance(expr, exp.Dot):
        return expr.expression.name.lower(), 2
    if isinstance(expr, exp.Trim):
        return {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(expr.args.get("position")), "btrim"), 2
    if isinstance(expr, exp.Anonymous):
        return expr.name, 2
    if isinstance(expr, exp.Subquery):
        query = expr.this
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        items = query.expressions if isinstance(query, exp.Select) else []
        if items and isinstance(items[0], exp.Alias):
            return items[0].alias, 2
        return _figured(items[0]) if items else ("", 0)
    name = _CALLS.get(type(expr), "")
    return name, 2 if name else 0


def _type(to: exp.DataType) -> str:
    while to.this is exp.DType.ARRAY and to.expressions:
        to = to.expressions[0]
    known = _TYPES.get(to.this)
    if known is not None:
        return known
    if to.this is exp.DType.USERDEFINED:
        return str(to.args.get("kind")).rpartition(".")[2].strip('"')
    if to.this is exp.DType.INTERVAL or isinstance(to.this, exp.Interval):
        return "interval"
    return str(to.this.value if isinstance(to.this, exp.DType) else to.this).lower()
