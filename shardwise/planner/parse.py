"""A user's text → one syntax tree of a query, or an error that says where it is wrong."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError, TokenError

from shardwise.errors import NotSupportedError, Position, ProgrammingError, SQLSyntaxError
from shardwise.planner.dialects import DUCKDB, Dialect
from shardwise.planner.dialects.base import Mark

_QUERIES = (exp.Query, exp.Values, exp.Pivot)


def parse(sql: str, dialect: Dialect = DUCKDB, mark: Mark | None = None) -> exp.Expr:
    """One query of the dialect; `?` are numbered in the order they are written.

    `mark` may put its marks on the tokens before they are read, where the dialect `has_marks`.
    """
    try:
        trees = dialect.trees(sql) if mark is None else dialect.trees(sql, mark)
    except TokenError as error:
        raise SQLSyntaxError(f"the text cannot be read as SQL: {error}") from error
    except ParseError as error:
        raise _syntax_error(error) from error
    except RecursionError as error:
        raise SQLSyntaxError("the statement is nested too deeply to be read") from error
    except SqlglotError as error:
        raise SQLSyntaxError(str(error)) from error
    if not trees:
        raise SQLSyntaxError("there is no statement in the text")
    if len(trees) > 1:
        raise ProgrammingError(f"one statement is wanted, {len(trees)} were given")
    tree = trees[0]
    if isinstance(tree, exp.Summarize):
        raise NotSupportedError(
            "SUMMARIZE is not supported: it is no query that shards could answer in parts",
            hint="Ask for what you need of a column, such as "
            "count(x), min(x), max(x), avg(x), approx_count_distinct(x); DESCRIBE tells the columns",
        )
    if not isinstance(tree, _QUERIES):
        raise NotSupportedError(
            f"{tree.key.upper()} is not supported: only queries are",
            hint="shardwise reads; write through the sources themselves",
        )
    dialect.check(tree)
    return tree


def _syntax_error(error: ParseError) -> SQLSyntaxError:
    first = error.errors[0] if error.errors else {}
    position = None
    if first.get("line"):
        highlight = first.get("highlight") or ""
        position = Position(first["line"], max(1, first["col"] - len(highlight) + 1), max(1, len(highlight)))
    message = re.sub(
        r"<Token token_type: [^>]*?text: ([^,>]*)[^>]*>", r"\1", first.get("description") or str(error)
    )
    if message.startswith("Required keyword"):
        message = "something is missing here"
    near = f' near "{first["highlight"]}"' if first.get("highlight") else ""
    return SQLSyntaxError(f"syntax error{near}: {message.rstrip('.')}", position=position)
