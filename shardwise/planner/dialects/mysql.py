"""The mysql dialect: the meaning is MariaDB's own, on the shards and in the merge."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Column
from shardwise.catalog.types import Family, read_type
from shardwise.errors import NotSupportedError, ProgrammingError, Reason, Unplannable
from shardwise.plan.sql import as_sqlite_reads_it
from shardwise.plan.sql.own_mysql import HOLE, MARK
from shardwise.plan.sql.reader import Reader
from shardwise.planner.dialects.base import Dialect, Moment
from shardwise.planner.dialects.mysql_aggregates import combine, wide
from shardwise.planner.dialects.mysql_constants import MySQLConstants, literal_of
from shardwise.planner.dialects.mysql_members import as_texts
from shardwise.planner.dialects.mysql_model import is_plain, never_fails, relation_of, unmodelled
from shardwise.planner.dialects.mysql_reading import called, has_form, trees
from shardwise.planner.dialects.mysql_words import (
    AGGREGATES,
    CLOCKS,
    REACHING,
    SCALARS,
    SESSION,
    VOLATILE,
    WINDOWS,
)
from shardwise.planner.dialects.views import expanded
from shardwise.planner.early_values import MYSQL_VALUES
from shardwise.planner.sort_keys import MYSQL_SORT_KEYS
from shardwise.planner.spellings import Folds

_KNOWN: Final = SCALARS | CLOCKS | VOLATILE | AGGREGATES | WINDOWS
_EXACT: Final = ("_nopad_bin", "_0900_bin")
_UNKNOWN: Final = "unknown"
_OF_NO_LANGUAGE: Final = re.compile(
    r"(ascii|latin1)_general(_nopad)?_ci|latin1_swedish(_nopad)?_ci|"
    r"utf8(mb3|mb4)?_(general|general_mysql500|unicode|unicode_520)(_nopad)?_ci|"
    r"utf8(mb3|mb4)?_(uca1400|0900)(_nopad)?_a[is]_ci"
)


def check(statement: exp.Expr) -> None:
    """Refuses what reaches out of the data, means nothing over shards, or is not MySQL's."""
    for node in statement.walk():
        if isinstance(node, exp.Anonymous):
            _check_call(node)


def _check_call(call: exp.Anonymous) -> None:
    name = called(call)
    if isinstance(call.parent, exp.Table):
        raise NotSupportedError(f'the table function "{name}" is not available here', reason=Reason.FORBIDDEN)
    if name in SESSION:
        raise NotSupportedError(
            f"the function {name}() tells of one connection, server or table; here there are several",
            reason=Reason.FORBIDDEN,
        )
    if name in REACHING:
        raise NotSupportedError(
            f'the function "{name}" is not available here: only functions of the statement\'s own data are',
            reason=Reason.FORBIDDEN,
        )
    if name not in _KNOWN and not has_form(call):
        raise NotSupportedError(
            f'the function "{name}" is not known here: it may be a database\'s own, which reads tables',
            hint="Write what it computes in its place",
            reason=Reason.NOT_SUPPORTED,
        )


# ------------------------------------------------------------------ the statement's moment


def fixed(ast: exp.Expr, moment: Moment, catalog: Catalog) -> exp.Expr:
    """A copy with the statement's moment written out, so that all shards and the merge have the same, and
    with views in the place of their names."""
    tree = expanded(ast.copy(), catalog, trees, relation_of)
    for node in list(tree.find_all(exp.Anonymous)):
        new = _at(node, moment.now)
        if new is not None:
            if node is tree:
                return new
            node.replace(new)
    return tree


def _at(call: exp.Anonymous, now: datetime) -> exp.Expr | None:
    """The moment as a constant of the same type; in the session's time zone, which the sources know."""
    name = called(call)
    if name == "unix_timestamp" and not call.expressions:
        return exp.Literal.number(int(now.timestamp()))
    if name not in CLOCKS or len(call.expressions) > 1:
        return None
    digits = _digits(call)
    if digits is None:
        return None
    utc = now.astimezone(UTC)
    fraction = f".{utc.microsecond:06}"[: digits + 1] if digits else ""
    local = exp.Anonymous(
        this="FROM_UNIXTIME", expressions=[exp.Literal.number(f"{int(now.timestamp())}{fraction}")]
    )
    precision = f"({digits})" if digits else ""
    match name:
        case "curdate" | "current_date":
            return _form("CAST", f"CAST({HOLE} AS DATE)", local)
        case "curtime" | "current_time":
            return _form("CAST", f"CAST({HOLE} AS TIME{precision})", local)
        case "utc_date":
            return _form("DATE", f"DATE {HOLE}", exp.Literal.string(utc.strftime("%Y-%m-%d")))
        case "utc_time":
            return _form("TIME", f"TIME {HOLE}", exp.Literal.string(utc.strftime("%H:%M:%S") + fraction))
        case "utc_timestamp":
            text = utc.strftime("%Y-%m-%d %H:%M:%S") + fraction
            return _form("TIMESTAMP", f"TIMESTAMP {HOLE}", exp.Literal.string(text))
    return local


def _digits(call: exp.Anonymous) -> int | None:
    """How many digits of a second are asked for."""
    if not call.expressions:
        return 0
    asked = call.expressions[0]
    is_digit = isinstance(asked, exp.Literal) and not asked.is_string and asked.name in tuple("0123456")
    return int(asked.name) if is_digit else None


def _form(name: str, form: str, argument: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=f"{name}{MARK}{form}", expressions=[argument])


# ------------------------------------------------------------------ columns


@lru_cache(maxsize=1024)
def family(type_text: str) -> Family:
    """The kind of a column of which two that are equal are equal to a sharding; OTHER: nothing rests on it.

    YEAR = 24 is 2024, an ENUM equals its number and its name, BIT and FLOAT are shown otherwise than they
    compare, and a TIMESTAMP is another moment in another session's zone.
    """
    found = read_type(type_text, "mysql")
    if found is None or found.name == "YEAR":
        return Family.OTHER
    kept = (Family.INT, Family.DECIMAL, Family.TEXT, Family.DATE, Family.TIMESTAMP)
    return found.family if found.family in kept else Family.OTHER


def collation(column: Column) -> str | None:
    """The column's collation; None where two that are equal are the same bytes.

    A text without a declared one has its table's, which ignores case as a rule. `utf8mb4_bin` ignores blanks
    at the end.
    """
    found = read_type(column.type, "mysql")
    if found is not None and found.family not in (Family.TEXT, Family.ENUM, Family.JSON):
        return None
    declared = (column.collation or "").lower()
    if column.virtual or declared == "binary" or declared.endswith(_EXACT):
        return None
    return column.collation or _UNKNOWN


def folds(column: Column) -> Folds | None:
    """What the column's collation takes as equal; None where it is not known which one it is.

    Roman and Lithuanian ones take `i` for `j` or `y`: those of no language take nothing so, up to `~`.
    """
    declared = (collation(column) or "").lower()
    if declared in ("", _UNKNOWN):
        return None
    if declared.endswith("_bin"):
        return Folds.BLANKS
    return Folds.CASE if _OF_NO_LANGUAGE.fullmatch(declared) else Folds.MORE


MYSQL = Dialect(
    name="mysql",
    trees=trees,
    check=check,
    fixed=fixed,
    unmodelled=unmodelled,
    literal_of=literal_of,
    constants=MySQLConstants(),
    combine=combine,
    reader=Reader(
        qualify=False,
        cuts_quotients=True,
        having_computes=False,
        sees_outer_rows=False,
        has_semi_join=False,
        merges_below_windows=False,
        retyped_by_grouping=frozenset({"BIT"}),
        groups_by_null=True,
        limits_in_lists=False,
    ),
    family=family,
    rows_equal_nulls=False,
    is_alone=True,
    filters_whole=True,
    finds_subqueries=False,
    doubts=(ProgrammingError, Unplannable),
    is_plain=is_plain,
    never_fails=never_fails,
    wide=wide,
    readable=as_sqlite_reads_it,
    merged=as_texts,
    collation=collation,
    folds=folds,
    carries_collations=True,
    early=MYSQL_VALUES,
    sort_keys=MYSQL_SORT_KEYS,
)
