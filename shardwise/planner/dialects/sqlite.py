"""The sqlite dialect: the meaning is SQLite's own, on the shards and in the merge."""

from __future__ import annotations

from datetime import UTC
from typing import Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Column, Table, View
from shardwise.catalog.sqlite_types import family
from shardwise.errors import NotSupportedError, ProgrammingError, Reason, Unplannable
from shardwise.plan.sql import as_sqlite_reads_it, with_bare_arms
from shardwise.plan.sql.reader import Reader
from shardwise.planner.dialects.base import Dialect, Moment
from shardwise.planner.dialects.sqlite_aggregates import combine
from shardwise.planner.dialects.sqlite_constants import SQLiteConstants, literal_of
from shardwise.planner.dialects.sqlite_model import is_plain, never_fails, relation_of, unmodelled
from shardwise.planner.dialects.sqlite_reading import trees
from shardwise.planner.dialects.sqlite_shapes import affinities, shapes
from shardwise.planner.dialects.sqlite_with import put_in_order
from shardwise.planner.dialects.views import expanded, is_with_item
from shardwise.planner.early_values import SQLITE_VALUES
from shardwise.planner.positions import position_of
from shardwise.planner.sort_keys import SQLITE_SORT_KEYS
from shardwise.planner.spellings import Folds

_STATE: Final = frozenset({"last_insert_rowid", "changes", "total_changes"})
_REFUSED: Final = frozenset(
    {
        "load_extension",
        "fts3_tokenizer",
        "sqlite_offset",
        "sqlite_log",
        "readfile",
        "writefile",
        "edit",
        "shardwise_real",
        "shardwise_value",
    }
)
_NOT_DEFINED: Final[dict[type[exp.Expr], str]] = {exp.Match: "MATCH", exp.RegexpLike: "REGEXP"}
_TABLE_FUNCTIONS: Final = frozenset({"json_each", "json_tree"})
_ROWIDS: Final = frozenset({"rowid", "_rowid_", "oid"})
_CLOCKS: Final[dict[type[exp.Expr], str]] = {
    exp.CurrentTimestamp: "%Y-%m-%d %H:%M:%S",
    exp.CurrentDate: "%Y-%m-%d",
    exp.CurrentTime: "%H:%M:%S",
}
_CLOCK_FIRST: Final = frozenset({"date", "time", "datetime", "julianday", "unixepoch"})


def check(statement: exp.Expr) -> None:
    """Refuses functions that reach out of the data or mean nothing over shards."""
    for node in statement.walk():
        if isinstance(node, exp.Anonymous):
            _check_call(node)
        elif type(node) in _NOT_DEFINED:
            raise NotSupportedError(
                f"{_NOT_DEFINED[type(node)]} is not supported: SQLite has no such function of its own",
                hint="Use LIKE or GLOB",
                position=position_of(node),
            )


def _check_call(call: exp.Anonymous) -> None:
    name = call.name.lower()
    if name in _STATE:
        raise NotSupportedError(
            f"the function {name}() tells of a connection's writes, of which there are none here",
            reason=Reason.FORBIDDEN,
        )
    is_table = isinstance(call.parent, exp.Table)
    if name in _REFUSED or (is_table and name not in _TABLE_FUNCTIONS):
        raise NotSupportedError(
            f'the {"table function" if is_table else "function"} "{name}" is not available here: '
            "only functions of the statement's own data are",
            reason=Reason.FORBIDDEN,
        )


# ------------------------------------------------------------------ the statement's moment


def fixed(ast: exp.Expr, moment: Moment, catalog: Catalog) -> exp.Expr:
    """A copy with the statement's moment written out, so that all shards and the merge have the same, and
    with views in the place of their names."""
    tree = expanded(ast.copy(), catalog, trees, _readable_relation)
    put_in_order(tree)
    _check_rowids(tree, catalog)
    if isinstance(tree, exp.Values):
        tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=tree))
    for node in list(tree.walk()):
        if isinstance(node, exp.Column) and node.db:
            node.set("db", None)
        elif type(node) in _CLOCKS:
            tree = _put(tree, node, moment.now.astimezone(UTC).strftime(_CLOCKS[type(node)]))
        elif isinstance(node, exp.Count) and node.this is None:
            node.set("this", exp.Star())
        elif isinstance(node, exp.Anonymous):
            _fix_clock(node, moment)
            tree = _as_sum(tree, node)
    return tree


def _as_sum(tree: exp.Expr, call: exp.Anonymous) -> exp.Expr:
    """`total(x)` as the sum it is: of REALs, and 0.0 of no values (NULL of infinities of both signs)."""
    if (
        call.name.lower() != "total"
        or len(call.expressions) != 1
        or isinstance(call.expressions[0], exp.Distinct)
    ):
        return tree
    outer: exp.Expr = call.parent if isinstance(call.parent, exp.Filter) else call
    if isinstance(outer.parent, exp.Window):
        return tree
    real = exp.Mul(this=exp.Paren(this=call.expressions[0].copy()), expression=exp.Literal.number("1.0"))
    total: exp.Expr = exp.Sum(this=real)
    count: exp.Expr = exp.Count(this=call.expressions[0].copy())
    if outer is not call:
        total, count = (
            exp.Filter(this=each, expression=outer.args["expression"].copy()) for each in (total, count)
        )
    some = exp.If(this=count, true=total)
    outer.replace(exp.Case(ifs=[some], default=exp.Literal.number("0.0")))
    return tree


def _check_rowids(tree: exp.Expr, catalog: Catalog) -> None:
    """`rowid` is refused, unless it is a column's name: the merge's own row numbers would be no error."""
    for name in tree.find_all(exp.Column):
        if name.name.lower() in _ROWIDS and not _is_declared(name, tree, catalog):
            raise Unplannable(
                f"{name.name} has no meaning over shards: each shard numbers its own rows",
                hint="Use the table's key",
                position=position_of(name),
            )


def _is_declared(name: exp.Column, tree: exp.Expr, catalog: Catalog) -> bool:
    wanted, qualifier = name.name.lower(), name.table.lower()
    tables = [t for t in tree.find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
    if qualifier:
        tables = [t for t in tables if (t.alias or t.name).lower() == qualifier]
        if not tables or any(is_with_item(t) for t in tables):
            return True  # of a subquery, which has no row numbers
    found = [relation_of(t, catalog) for t in tables if not is_with_item(t)]
    if any(isinstance(t, Table) and wanted in {c.name.lower() for c in t.columns or ()} for t in found):
        return True
    items = (*tree.find_all(exp.Alias), *tree.find_all(exp.TableAlias))
    return any(wanted in {i.name.lower() for i in item.find_all(exp.Identifier)} for item in items)


def _put(tree: exp.Expr, node: exp.Expr, text: str) -> exp.Expr:
    literal = exp.Literal.string(text)
    if node is tree:
        return literal
    node.replace(literal)
    return tree


def _fix_clock(call: exp.Anonymous, moment: Moment) -> None:
    """`date()` and `date('now', …)` with the moment as a text; 'utc' would then shift it twice."""
    name, args = call.name.lower(), list(call.expressions)
    at = 0 if name in _CLOCK_FIRST else 1 if name == "strftime" else None
    if at is None or any(isinstance(a, exp.Literal) and a.name.lower() == "utc" for a in args):
        return
    is_now = len(args) > at and isinstance(args[at], exp.Literal) and args[at].name.lower() == "now"
    if not is_now and len(args) != at:
        return
    now = moment.now.astimezone(UTC)
    instant = now.strftime("%Y-%m-%d %H:%M:%S.") + f"{now.microsecond // 1000:03}"
    call.set("expressions", [*args[:at], exp.Literal.string(instant), *args[at + 1 :]])


def _readable_relation(table: exp.Table, catalog: Catalog) -> Table | View | None:
    found = relation_of(table, catalog)
    if isinstance(found, View) and found.schema and not is_with_item(table):
        raise Unplannable(
            f'the view "{found.full_name}" is in a schema, which the sqlite dialect does not read',
            hint="Write its query in its place, or declare it outside a schema",
        )
    return found


def folds(column: Column) -> Folds | None:
    """What the column's collation takes as equal; None for BINARY, and for one that SQLite does not have."""
    return _FOLDS.get((column.collation or "").upper())


_FOLDS: Final = {"NOCASE": Folds.CASE, "RTRIM": Folds.BLANKS}

SQLITE = Dialect(
    name="sqlite",
    trees=trees,
    check=check,
    fixed=fixed,
    unmodelled=unmodelled,
    literal_of=literal_of,
    constants=SQLiteConstants(),
    combine=combine,
    reader=Reader(qualify=False, having_alone=False, has_semi_join=False, groups_by_null=True),
    family=family,
    rows_equal_nulls=False,
    is_alone=True,
    filters_whole=True,
    finds_subqueries=False,
    doubts=(ProgrammingError, Unplannable),
    is_plain=is_plain,
    readable=lambda query: with_bare_arms(as_sqlite_reads_it(query)),
    shapes=shapes,
    affinities=affinities,
    folds=folds,
    never_fails=never_fails,
    sums_overflow=True,
    early=SQLITE_VALUES,
    sort_keys=SQLITE_SORT_KEYS,
)
