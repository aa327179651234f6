"""What DuckDB's functions and predicates may do: vary, raise, or hide a NULL.

Every question here is answered for a tree of the duckdb dialect in bound form, by
structure and by lists of names kept as data (a test compares them with what the
installed DuckDB says of its functions). What is not known counts against pushing:
volatile and failing are assumed, rejecting NULL is not.
"""

from __future__ import annotations

from itertools import product

from sqlglot import exp

from shardwise.planner.families import LITERAL, TypeOf, branches, comparable_without_error, kind_of, words

VOLATILE: frozenset[str] = words(
    """
    current_connection_id current_query current_query_id current_transaction_id currval error
    gen_random_uuid nextval random setseed setval sleep_ms stats uuid uuidv4 uuidv7 vector_type
    write_log assert_true pg_sleep
    """
)
"""Functions that may differ from row to row, or do something. assert_true and pg_sleep are macros."""

STABLE: frozenset[str] = words(
    """
    ago current_catalog current_database current_date current_localtime current_localtimestamp
    current_role current_schema current_schemas current_setting current_time current_timestamp
    current_user current_version get_current_time get_current_timestamp getvariable in_search_path
    inet_client_addr inet_client_port inet_server_addr inet_server_port localtime localtimestamp now
    pg_conf_load_time pg_my_temp_schema pg_postmaster_start_time session_user today
    transaction_timestamp txid_current user version
    """
)
"""Functions and bare words whose value belongs to the statement or session, not to the row."""

ZONED: frozenset[str] = words(
    """
    + - age century date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day
    dayname dayofmonth dayofweek dayofyear decade era generate_series hour isodow isoyear julian
    last_day make_timestamptz microsecond millennium millisecond minute month monthname quarter range
    second strftime time_bucket timezone timezone_hour timezone_minute week weekday weekofyear year
    yearweek
    """
)
"""Functions that depend on the session's time zone for some argument types (sessions are pinned alike)."""

_BARE_WORDS = frozenset({"current_role", "current_schema", "user"})  # sqlglot reads them as columns

_NULL_PASSING: tuple[type[exp.Expr], ...] = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.IntDiv,
    exp.Mod,
    exp.Neg,
    exp.Paren,
    exp.Cast,
    exp.TryCast,
    exp.Collate,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
    exp.BitwiseNot,
    exp.Lower,
    exp.Upper,
    exp.Length,
    exp.Trim,
    exp.Substring,
    exp.Abs,
    exp.Round,
    exp.Floor,
    exp.Ceil,
    exp.Extract,
    exp.Year,
    exp.Month,
    exp.Day,
    exp.DateTrunc,
    exp.TimestampTrunc,
)
_COMPARISONS: tuple[type[exp.Expr], ...] = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_LIKES: tuple[type[exp.Expr], ...] = (exp.Like, exp.ILike)

_PARTS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE"})
"""Parts of a DATE or TIMESTAMP that each has, or, of an infinite one, are NULL."""

_T, _F, _N = "T", "F", "N"
_ANY = frozenset({_T, _F, _N})


def function_names(node: exp.Expr) -> frozenset[str]:
    """The names, in lower case, under which DuckDB may know this call; empty if it is none."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return frozenset({node.name.lower()})
    if isinstance(node, exp.Func):
        return frozenset(name.lower() for name in node.sql_names())
    return frozenset()


def is_volatile(expr: exp.Expr) -> bool:
    """Whether any call in the tree may give another value for the next row, or has an effect."""
    return any(function_names(call) & VOLATILE for call in expr.find_all(exp.Func))


def is_stable_context(expr: exp.Expr) -> bool:
    """Whether this node itself is a value of the statement or session: `now()`, `current_user`.

    Such nodes are evaluated once per statement, by whoever made it (rule 15 of `distribution`). `age(x)`
    is one as well, for it counts from `current_date`.
    """
    if isinstance(expr, exp.Column):
        return not expr.table and not expr.this.args.get("quoted") and expr.name.lower() in _BARE_WORDS
    names = function_names(expr)
    return bool(names & STABLE) or ("age" in names and len(expr.expressions) == 1)


def is_constant(expr: exp.Expr) -> bool:
    """Whether the tree reads no column and no table (it may still be a parameter)."""
    return expr.find(exp.Column, exp.Star, exp.Query, exp.Table) is None


def can_fail(expr: exp.Expr, type_of: TypeOf) -> bool:
    """False only if evaluating `expr` raises for no row, whatever the columns hold.

    A predicate that can fail must not overtake one that guards it: `x <> 0 AND 1 // x > 2`.
    Constants are taken as safe, for the binder folds them: they fail before any row is read.
    """
    if is_constant(expr):
        return is_volatile(expr)
    if isinstance(expr, exp.Column):
        return False
    if isinstance(expr, exp.Paren | exp.Not | exp.Alias):
        return can_fail(expr.this, type_of)
    if isinstance(expr, exp.Connector):
        return can_fail(expr.left, type_of) or can_fail(expr.right, type_of)
    if isinstance(expr, exp.Is):
        return not isinstance(expr.expression, exp.Null | exp.Boolean) or can_fail(expr.this, type_of)
    if isinstance(expr, _COMPARISONS) and _is_date_beside_constant_time(expr, type_of):
        return False
    if isinstance(expr, (*_COMPARISONS, exp.NullSafeEQ, exp.NullSafeNEQ)):
        return _comparison_can_fail(expr.this, expr.expression, type_of)
    if isinstance(expr, exp.Between):
        bounds = (expr.args["low"], expr.args["high"])
        return any(_comparison_can_fail(expr.this, bound, type_of) for bound in bounds)
    if isinstance(expr, exp.In):
        others = any(expr.args.get(key) for key in ("query", "unnest", "field"))
        return others or any(_comparison_can_fail(expr.this, item, type_of) for item in expr.expressions)
    if isinstance(expr, _LIKES):
        return any(not _is_safe_text(side, type_of) for side in (expr.this, expr.expression))
    if isinstance(expr, exp.Lower | exp.Upper | exp.Length):
        return not _is_safe_text(expr.this, type_of)
    if isinstance(expr, exp.Substring):
        at = (expr.args.get("start"), expr.args.get("length"))
        return not (_is_safe_text(expr.this, type_of) and all(n is None or _is_small(n) for n in at))
    if isinstance(expr, exp.Extract):
        kind = kind_of(expr.expression, type_of)
        is_time = kind is not None and kind.family in ("DATE", "TIMESTAMP")
        is_part = expr.this.name.upper() in _PARTS and not expr.args.get("time_zone")
        return not (is_time and is_part) or can_fail(expr.expression, type_of)
    if isinstance(expr, exp.Case | exp.Coalesce):
        return _choice_can_fail(expr, type_of)
    return True


def _is_small(expr: exp.Expr) -> bool:
    """A whole number that is written down, of no more than nine digits."""
    return (
        isinstance(expr, exp.Literal) and not expr.is_string and expr.name.isdigit() and len(expr.name) < 10
    )


def _comparison_can_fail(left: exp.Expr, right: exp.Expr, type_of: TypeOf) -> bool:
    if can_fail(left, type_of) or can_fail(right, type_of):
        return True
    sides = (left, right)
    if any(isinstance(side, exp.Null) for side in sides):
        return False
    a, b = (kind_of(side, type_of) for side in sides)
    if LITERAL in (a, b):  # cast by the binder, but '5' = concat(x, y) is not read that way round
        return not all(isinstance(side, exp.Column | exp.Literal) or kind_of(side, type_of) for side in sides)
    if a is None or b is None:
        return True
    if (a.family, b.family) in (("TIMESTAMP", "DATE"), ("DATE", "TIMESTAMP")):
        return not is_constant(left if a.family == "DATE" else right)
    return not comparable_without_error(a, b)


def _is_date_beside_constant_time(expr: exp.Expr, type_of: TypeOf) -> bool:
    """`shipped <= DATE '1998-12-01' - INTERVAL 90 DAY`: DuckDB brings the TIMESTAMP to the DATE column here.

    In BETWEEN, IN and IS DISTINCT FROM it casts the column, and year 294248 raises.
    """
    sides = (expr.this, expr.expression)
    columns = [side for side in sides if isinstance(side, exp.Column)]
    times = [side for side in sides if is_constant(side) and not is_volatile(side)]
    if len(columns) != 1 or len(times) != 1:
        return False
    kinds = (kind_of(columns[0], type_of), kind_of(times[0], type_of))
    return [kind.family for kind in kinds if kind is not None] == ["DATE", "TIMESTAMP"]


def _is_safe_text(expr: exp.Expr, type_of: TypeOf) -> bool:
    kind = kind_of(expr, type_of)
    return kind is not None and kind.family in ("text", "literal") and not can_fail(expr, type_of)


def _choice_can_fail(expr: exp.Case | exp.Coalesce, type_of: TypeOf) -> bool:
    values = branches(expr)
    if any(can_fail(value, type_of) for value in values):
        return True
    kinds = [kind_of(value, type_of) for value in values if not isinstance(value, exp.Null)]
    known = [kind for kind in kinds if kind is not None and kind != LITERAL]
    if None in kinds or not all(comparable_without_error(a, b) for a, b in product(known, known)):
        return True
    if isinstance(expr, exp.Coalesce):
        return False
    tests = [arm.this for arm in expr.args["ifs"]]
    subject = expr.args.get("this")
    if subject is not None:
        return any(_comparison_can_fail(subject, test, type_of) for test in tests)
    return any(can_fail(test, type_of) or kind_of(test, type_of) is None for test in tests)


def null_in_null_out(expr: exp.Expr, columns: set[tuple[str, str]]) -> bool:
    """Whether `expr` is NULL in every row where all of `columns`, as (table, name), are NULL.

    Such an expression may be evaluated below the outer join that makes the columns NULL.
    """
    return _truth(expr, columns) == {_N} or _is_null(expr, columns)


def rejects_null(expr: exp.Expr, columns: set[tuple[str, str]]) -> bool:
    """Whether the predicate cannot be TRUE where all of `columns`, as (table, name), are NULL.

    `b.v > 1` and `b.v IS NOT NULL` reject the null-extended rows of a LEFT JOIN b, which
    makes the join inner; `b.v IS NULL` and `coalesce(b.v, 0) = 0` do not.
    """
    return _T not in _truth(expr, columns)


def _is_null(expr: exp.Expr, columns: set[tuple[str, str]]) -> bool:
    if isinstance(expr, exp.Null):
        return True
    if isinstance(expr, exp.Column):
        return (expr.table, expr.name) in columns
    if not isinstance(expr, _NULL_PASSING) or expr.args.get("default"):
        return False
    operands = [expr.expression, expr.this] if isinstance(expr, exp.Binary) else [expr.this]
    if isinstance(expr, exp.Extract):
        operands = [expr.expression]
    return any(isinstance(side, exp.Expr) and null_in_null_out(side, columns) for side in operands)


def _truth(expr: exp.Expr, columns: set[tuple[str, str]]) -> frozenset[str]:
    """The truth values that a predicate may have where all of `columns` are NULL."""
    if isinstance(expr, exp.Paren):
        return _truth(expr.this, columns)
    if isinstance(expr, exp.Boolean):
        return frozenset({_T if expr.this else _F})
    if isinstance(expr, exp.Not):
        return frozenset({_T: _F, _F: _T, _N: _N}[value] for value in _truth(expr.this, columns))
    if isinstance(expr, exp.And | exp.Or):
        pairs = product(_truth(expr.left, columns), _truth(expr.right, columns))
        wins, other = (_F, _T) if isinstance(expr, exp.And) else (_T, _F)
        return frozenset(wins if wins in pair else _N if _N in pair else other for pair in pairs)
    if isinstance(expr, exp.Is):
        return _truth_of_is(expr, columns)
    if isinstance(expr, exp.In):
        if not null_in_null_out(expr.this, columns):
            return _ANY
        return frozenset({_N}) if expr.expressions else frozenset({_N, _F})  # an empty subquery: FALSE
    if isinstance(expr, exp.Between):
        if null_in_null_out(expr.this, columns):
            return frozenset({_N})
        nulls = any(null_in_null_out(expr.args[bound], columns) for bound in ("low", "high"))
        return frozenset({_N, _F}) if nulls else _ANY
    if isinstance(expr, (*_COMPARISONS, *_LIKES)):
        sides = (expr.this, expr.expression)
        quantified = any(isinstance(side, exp.Any | exp.All | exp.Query) for side in sides)
        nulls = any(null_in_null_out(side, columns) for side in sides)
        return frozenset({_N}) if nulls and not quantified else _ANY
    return frozenset({_N}) if _is_null(expr, columns) else _ANY


def _truth_of_is(expr: exp.Is, columns: set[tuple[str, str]]) -> frozenset[str]:
    if isinstance(expr.expression, exp.Null):
        return frozenset({_T}) if null_in_null_out(expr.this, columns) else frozenset({_T, _F})
    if isinstance(expr.expression, exp.Boolean):
        wanted = _T if expr.expression.this else _F
        return frozenset({_T if value == wanted else _F for value in _truth(expr.this, columns)})
    return frozenset({_T, _F})
