"""What kind of value an expression has, as far as that can be said without an engine.

Only two questions are asked of it: is a value numeric (`avg` of numbers splits, of
times it does not), and can comparing two values raise (`can_fail`). Both take "not
known" for an answer, so every function here may return None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from shardwise.plan.holes import LIKE

TypeOf = Callable[[exp.Column], str | None]
"""From a column to its type as DuckDB writes it (`DECIMAL(9,2)`), or None if unknown."""


def words(text: str) -> frozenset[str]:
    """The words of a list kept as text, which reads better than forty quoted strings."""
    return frozenset(text.split())


_DIGITS = {
    "TINYINT": 3,
    "INT1": 3,
    "UTINYINT": 3,
    "SMALLINT": 5,
    "INT2": 5,
    "USMALLINT": 5,
    "INTEGER": 10,
    "INT": 10,
    "INT4": 10,
    "UINTEGER": 10,
    "BIGINT": 19,
    "INT8": 19,
    "LONG": 19,
    "UBIGINT": 20,
    "HUGEINT": 39,
}
_NAMES = {"UHUGEINT": "uhuge", "BIGNUM": "bignum", "BOOL": "BOOLEAN", "DATETIME": "TIMESTAMP"}
_FLOATS = frozenset({"DOUBLE", "FLOAT", "FLOAT4", "FLOAT8", "REAL"})
_TEXTS = frozenset({"VARCHAR", "TEXT", "STRING", "CHAR", "BPCHAR"})
_NUMERIC = frozenset({"integer", "decimal", "float", "uhuge", "bignum"})


@dataclass(frozen=True, slots=True)
class Kind:
    """A family of types; `digits` and `scale` are set for whole numbers and decimals."""

    family: str
    digits: int = 0
    scale: int = 0

    @property
    def is_numeric(self) -> bool:
        return self.family in _NUMERIC


LITERAL = Kind("literal")
"""A string literal, which takes the type of what it stands beside."""
_FLOAT = Kind("float")
_DATE = Kind("DATE")
_TIMESTAMP = Kind("TIMESTAMP")


def kind_of_type(text: str) -> Kind:
    """The kind of a type written as in DuckDB; types of no family of ours are their own."""
    name = " ".join(text.upper().split())
    base = name.split("(")[0].strip()
    if name.endswith("]"):
        return Kind(name)
    if base in _DIGITS:
        return Kind("integer", _DIGITS[base])
    if base in _FLOATS:
        return _FLOAT
    if base in ("DECIMAL", "NUMERIC"):
        found = re.fullmatch(r"\w+\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", name)
        return Kind("decimal", int(found[1]), int(found[2] or 0)) if found else Kind("decimal", 18, 3)
    if base in _TEXTS:
        return Kind("text")
    return Kind(_NAMES.get(name, name))


def kind_of(expr: exp.Expr, type_of: TypeOf | None = None) -> Kind | None:
    """The kind of `expr`'s values, or None if it is not known."""
    if isinstance(expr, exp.Paren | exp.Neg):
        return kind_of(expr.this, type_of)
    if isinstance(expr, exp.Column):
        text = type_of(expr) if type_of else None
        return kind_of_type(text) if text else None
    if isinstance(expr, exp.Literal):
        return LITERAL if expr.is_string else _number(expr.name)
    if isinstance(expr, exp.Placeholder):
        return _like(expr.args.get(LIKE))
    if isinstance(expr, exp.Cast | exp.TryCast):
        return kind_of_type(expr.to.sql("duckdb"))
    if isinstance(expr, exp.Boolean | exp.Connector | exp.Not | exp.Predicate):
        return Kind("BOOLEAN")
    if isinstance(expr, exp.Length):
        return Kind("integer", 19)
    if isinstance(expr, exp.Lower | exp.Upper):
        return Kind("text")
    if isinstance(expr, exp.Substring):
        kind = kind_of(expr.this, type_of)
        return kind if kind is not None and kind.family == "text" else None
    if isinstance(expr, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.IntDiv | exp.Mod):
        return _arithmetic(expr, type_of)
    if isinstance(expr, exp.Case | exp.Coalesce):
        values = [value for value in branches(expr) if not isinstance(value, exp.Null)]
        return _common([kind_of(value, type_of) for value in values])
    return None


def _like(like: str | None) -> Kind | None:
    """The kind of what is put where a placeholder is."""
    if like is None:
        return None
    return LITERAL if like[0] == "'" else _number(like) if like[0] in ".9" else kind_of_type(like)


def branches(expr: exp.Case | exp.Coalesce) -> list[exp.Expr]:
    """The expressions of which one is the value of a CASE or COALESCE."""
    if isinstance(expr, exp.Coalesce):
        return [expr.this, *expr.expressions]
    default = expr.args.get("default")
    return [arm.args["true"] for arm in expr.args["ifs"]] + ([default] if default is not None else [])


def comparable_without_error(a: Kind, b: Kind) -> bool:
    """Whether no value of `a` can fail to be brought to one type with a value of `b`.

    `h > 1.5` casts a HUGEINT to DECIMAL(38,1), and `date_column < timestamp_column` a
    DATE to TIMESTAMP: both can be out of range.
    """
    families = {a.family, b.family}
    if families <= {"integer"}:
        return True
    if families <= {"integer", "decimal"}:
        return max(a.digits - a.scale, b.digits - b.scale) + max(a.scale, b.scale) <= 38
    if families <= {"integer", "decimal", "float"}:
        return True
    return len(families) == 1


def _number(text: str) -> Kind:
    whole, _, fraction = text.replace("_", "").partition(".")
    if not (whole + fraction).isdigit() or len(whole + fraction) > 38:
        return _FLOAT
    if "." not in text:
        return Kind("integer", len(whole))
    return Kind("decimal", len(whole + fraction), len(fraction))


def _arithmetic(expr: exp.Binary, type_of: TypeOf | None) -> Kind | None:
    left, right = kind_of(expr.left, type_of), kind_of(expr.right, type_of)
    if left in (_DATE, _TIMESTAMP) and _is_interval(expr.right):
        return _TIMESTAMP
    if left is None or right is None or not (left.is_numeric and right.is_numeric):
        return None  # INTERVAL * 2 is an INTERVAL, DATE + 1 a DATE
    if isinstance(expr, exp.Div) or "float" in (left.family, right.family):
        return _FLOAT
    return Kind("decimal", 39, max(left.scale, right.scale))  # numeric; its width is not followed


def _is_interval(expr: exp.Expr) -> bool:
    """INTERVAL '1' YEAR, which PostgreSQL reads as a cast: the text says all of it."""
    if isinstance(expr, exp.Cast):
        return expr.to.sql("duckdb").upper().startswith("INTERVAL")
    return isinstance(expr, exp.Interval)


def _common(kinds: list[Kind | None]) -> Kind | None:
    known = [kind for kind in kinds if kind is not None and kind != LITERAL]
    if not known or None in kinds:
        return None
    if len({kind.family for kind in known}) == 1:
        return Kind(known[0].family, max(kind.digits for kind in known), max(kind.scale for kind in known))
    if not all(kind.is_numeric for kind in known):
        return None
    return _FLOAT if any(kind == _FLOAT for kind in known) else Kind("decimal", 39, 38)
