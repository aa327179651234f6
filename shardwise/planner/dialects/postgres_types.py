"""What type PostgreSQL gives an expression, as far as that can be said without a server.

Asked where a result's type decides how parts of it are put together: `sum(int)` is a bigint, and so is the
sum of its parts. None is "not known", which every function here may say.
"""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from shardwise.catalog.types import read_type
from shardwise.planner.dialects.base import Side
from shardwise.planner.families import TypeOf

_NAMES: Final = {
    "SMALLINT": "int2",
    "INT2": "int2",
    "SMALLSERIAL": "int2",
    "SERIAL2": "int2",
    "INT": "int4",
    "INTEGER": "int4",
    "INT4": "int4",
    "SERIAL": "int4",
    "SERIAL4": "int4",
    "BIGINT": "int8",
    "INT8": "int8",
    "BIGSERIAL": "int8",
    "SERIAL8": "int8",
    "NUMERIC": "numeric",
    "DECIMAL": "numeric",
    "DEC": "numeric",
    "REAL": "float4",
    "FLOAT4": "float4",
    "DOUBLE PRECISION": "float8",
    "FLOAT8": "float8",
    "INTERVAL": "interval",
    "MONEY": "money",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPTZ": "timestamptz",
    "BOOL": "bool",
    "BOOLEAN": "bool",
    "TEXT": "text",
    "VARCHAR": "text",
}
_RANKS: Final = ("int2", "int4", "int8", "numeric", "float4", "float8")
"""Of two of these the later is what PostgreSQL brings both to (float4 beside a whole number aside)."""

_MOMENTS: Final = ("date", "timestamp", "timestamptz")

WHOLE: Final = frozenset(_RANKS[:3])
NUMBERS: Final = frozenset(_RANKS)


def type_name(text: str) -> str | None:
    """One of the names above for a type as written."""
    found = read_type(text, "postgres")
    if found is None:
        return None
    name = found.name
    if name.startswith("INTERVAL"):
        return "interval"
    if name == "FLOAT":
        digits = int(found.arguments[0]) if found.arguments else 53
        return "float4" if digits <= 24 else "float8"
    return _NAMES.get(name)


def using_reads(left: str | None, right: str | None) -> Side | None:
    """Which of two columns has the type that PostgreSQL brings both to, as USING's column is of that."""
    names = [None if text is None else type_name(text) for text in (left, right)]
    if left is not None and (left == right or (names[0] is not None and names[0] == names[1])):
        return "left"
    for ranks in (_RANKS, _MOMENTS):
        if names[0] in ranks and names[1] in ranks:
            return "left" if ranks.index(names[0]) > ranks.index(names[1]) else "right"
    return None


def type_of_expr(expr: exp.Expr, type_of: TypeOf) -> str | None:
    """The type of `expr`'s values."""
    if isinstance(expr, exp.Column):
        declared = type_of(expr)
        return type_name(declared) if declared else None
    if isinstance(expr, exp.Paren | exp.Neg):
        return type_of_expr(expr.this, type_of)
    if isinstance(expr, exp.Literal):
        return None if expr.is_string else _of_number(expr.this)
    if isinstance(expr, exp.Cast):
        return type_name(expr.to.sql("postgres"))
    if isinstance(expr, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod):
        return _of_arithmetic(expr, type_of)
    if isinstance(expr, exp.Case | exp.Coalesce):
        return _of_choice(expr, type_of)
    if isinstance(expr, exp.Extract):
        return "numeric"
    if isinstance(expr, exp.Count):
        return "int8"
    if isinstance(expr, exp.Anonymous):
        return _of_call(expr, type_of)
    return None


def _of_number(text: str) -> str:
    if not re.fullmatch(r"\d+", text):
        return "numeric"
    number = int(text)
    return "int4" if number < 1 << 31 else "int8" if number < 1 << 63 else "numeric"


def _of_arithmetic(expr: exp.Expr, type_of: TypeOf) -> str | None:
    sides = [type_of_expr(side, type_of) for side in (expr.this, expr.expression)]
    if None in sides:
        known = next((side for side in sides if side is not None), None)
        texts = [s for s in (expr.this, expr.expression) if isinstance(s, exp.Literal) and s.is_string]
        return known if texts and known in NUMBERS else None  # a text in quotes is taken as the other's type
    if isinstance(expr, exp.Sub) and sides == ["date", "date"]:
        return "int4"
    left, right = sides
    if left in NUMBERS and right in NUMBERS:
        if left == right == "float4":
            return "float4"
        if {left, right} & {"float4", "float8"}:
            return "float8"
        return max(left, right, key=_RANKS.index)
    if isinstance(expr, exp.Add | exp.Sub) and sides == ["interval", "interval"]:
        return "interval"
    if isinstance(expr, exp.Mul) and "interval" in sides:
        return "interval"
    return None


def _of_choice(expr: exp.Expr, type_of: TypeOf) -> str | None:
    if isinstance(expr, exp.Coalesce):
        values = [expr.this, *expr.expressions]
    else:
        values = [arm.args["true"] for arm in expr.args["ifs"]]
        if expr.args.get("default") is not None:
            values.append(expr.args["default"])
    values = [v for v in values if not isinstance(v, exp.Null)]
    types = {type_of_expr(v, type_of) for v in values}
    if len(types) == 1:
        return types.pop()
    if None in types or not types <= NUMBERS or "float4" in types:
        return None
    return max((t for t in types if t is not None), key=_RANKS.index)


def _of_call(expr: exp.Expr, type_of: TypeOf) -> str | None:
    name = expr.name.lower()
    types = [type_of_expr(argument, type_of) for argument in expr.expressions]
    if name in ("length", "char_length", "character_length", "octet_length", "bit_length", "strpos", "ascii"):
        return "int4"
    if name == "date_part":
        return "float8"
    if name in ("abs", "nullif", "mod") and types and types[0] in NUMBERS and types[0] != "float4":
        if name != "mod":
            return types[0]
        return max((t for t in types if t), key=_RANKS.index) if None not in types else None
    if name == "round" and len(types) == 2:
        return "numeric"
    if name in ("round", "trunc", "floor", "ceil", "ceiling") and len(types) == 1:
        return types[0] if types[0] == "numeric" else "float8" if types[0] in NUMBERS else None
    return None
