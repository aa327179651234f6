"""What kind of statement a text is: a query, an EXPLAIN of one, or a SHOW.

Queries are not read here; the planner does that. The text of a query under EXPLAIN keeps
its place (what stands before it is blanked), so that positions in errors are the user's own.

    EXPLAIN [(option, …)] query      options: ROUTE, ANALYZE, STEPS, SHARDS, FORMAT text | json
    SHOW TABLES | SOURCES | SHARDS | SHARDINGS
    SHOW COLUMNS FROM table          also DESCRIBE table
    DESCRIBE query
    SHOW ROUTE FOR table KEY (value, …)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from shardwise.errors import NotSupportedError, Position, Reason, SQLSyntaxError

ShowKind = Literal["tables", "columns", "sources", "shards", "shardings", "route"]


@dataclass(frozen=True, slots=True)
class Query:
    """Anything that the planner is to answer."""

    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain:
    """`sql` is the query with what stands before it blanked; `modes` the options given, lower case."""

    sql: str
    modes: frozenset[str] = frozenset()
    format: Literal["text", "json"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """`table` is (schema or None, name); `key` the values' SQL, one text each."""

    kind: ShowKind
    table: tuple[str | None, str] | None = None
    key: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Describe:
    """`sql` is the query whose columns are asked for, what stands before it blanked."""

    sql: str


Statement = Query | Explain | Show | Describe

EXPLAIN_MODES: Final = ("route", "analyze", "steps", "shards")
SHOW_FORMS: Final = "TABLES, COLUMNS FROM t, SOURCES, SHARDS, SHARDINGS, ROUTE FOR t KEY (…)"

_BLANK = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]+")

_WRITES: Final = {"insert", "update", "delete", "merge", "truncate", "upsert", "replace"}
_DEFINES: Final = {"create", "alter", "drop", "attach", "detach", "comment", "analyze", "vacuum"}
_TRANSACTIONS: Final = {"begin", "start", "commit", "rollback", "abort", "end", "savepoint", "release"}
_SETTINGS: Final = {"set", "reset", "pragma", "install", "load", "call", "use", "checkpoint", "force"}
_COPIES: Final = {"copy", "export", "import"}
_PREPARED: Final = {"prepare", "execute", "deallocate"}


def parse(sql: str) -> Statement:
    """The kind of `sql`; a statement that shardwise does not answer raises `NotSupportedError`."""
    word, start, end = _first_word(sql)
    if word == "explain":
        return _explain(sql, end)
    if word == "show":
        return _show(sql, end)
    if word in ("describe", "desc"):
        return _describe(sql, end)
    _refuse_what_is_no_query(word, _position(sql, start, len(word)))
    return Query(sql)


def explain(sql: str, modes: str) -> Explain:
    """The EXPLAIN of `sql`; `modes` is what EXPLAIN takes in parentheses, "json" short for "format json"."""
    modes = re.sub(r"(?i)(?<!format )\bjson\b", "format json", " ".join(modes.split()))
    try:
        options = _explain(f"EXPLAIN ({modes}) SELECT 1" if modes else "EXPLAIN SELECT 1", len("EXPLAIN"))
    except SQLSyntaxError as error:
        error.position = None  # it is none in `sql`
        raise
    inner = _explain(sql, 0)
    return replace(options, sql=inner.sql)


def _first_word(sql: str) -> tuple[str, int, int]:
    start = _blank_end(sql, 0)
    match = _WORD.match(sql, start)
    return (match[0].lower(), start, match.end()) if match else ("", start, start)


def _blank_end(sql: str, start: int) -> int:
    match = _BLANK.match(sql, start)
    return match.end() if match else start


def _position(sql: str, offset: int, length: int = 1) -> Position:
    before = sql[:offset]
    return Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, max(length, 1))


def _blanked(sql: str, end: int) -> str:
    """`sql` with everything before `end` turned to spaces, lines kept."""
    return re.sub(r"[^\n]", " ", sql[:end]) + sql[end:]


def _refuse_what_is_no_query(word: str, position: Position) -> None:
    if word in _WRITES:
        what, hint = "shardwise reads only: it does not write rows", "Write on the sources themselves"
    elif word in _DEFINES:
        what = "shardwise reads only: it does not define or change tables"
        hint = "Declare tables in the catalog file; `shardwise catalog import` reads their columns"
    elif word in _TRANSACTIONS:
        what, hint = (
            "there are no transactions",
            "Each statement stands by itself; commit() and rollback() do nothing",
        )
    elif word in _SETTINGS:
        what = "settings and extensions cannot be changed by a statement"
        hint = "Give options to open(), connect() or execute(), for example execute(sql, deadline_s=10)"
    elif word in _COPIES:
        what = "a statement cannot write or read files"
        hint = "Use cursor.to_arrow_reader(), or `shardwise query --format parquet --output FILE`"
    elif word in _PREPARED:
        what, hint = "there are no prepared statements in SQL", "Give parameters to execute(sql, params)"
    else:
        return
    raise NotSupportedError(f"{word.upper()} is not supported: {what}", hint=hint, position=position)


def _explain(sql: str, end: int) -> Explain:
    modes: set[str] = set()
    format_ = "text"
    start = _blank_end(sql, end)
    options = _option_list(sql, start)
    if options is not None:
        words, start = options
        for words_of_one, offset in words:
            match words_of_one:
                case ["format", ("text" | "json") as given]:
                    format_ = given
                case [mode] if mode in EXPLAIN_MODES:
                    modes.add(mode)
                case [mode, "true" | "on"] if mode in EXPLAIN_MODES:
                    modes.add(mode)
                case _:
                    text = " ".join(words_of_one).upper()
                    raise SQLSyntaxError(
                        f'EXPLAIN has no option "{text}"',
                        hint="Options are ROUTE, ANALYZE, STEPS, SHARDS, FORMAT text, FORMAT json",
                        position=_position(sql, offset, len(text)),
                    )
    else:
        match = _WORD.match(sql, start)
        if match and match[0].lower() == "analyze":
            modes.add("analyze")
            start = match.end()
    asked = sorted(mode.upper() for mode in modes) + (["FORMAT json"] if format_ == "json" else [])
    if len(asked) > 1 and asked != ["ANALYZE", "FORMAT json"]:
        raise SQLSyntaxError(
            f"EXPLAIN cannot give {' and '.join(asked)} at once: each is an answer of its own",
            hint="Ask for one after the other; only ANALYZE and FORMAT json go together",
            position=_position(sql, start - 1),
        )
    inner = sql[_blank_end(sql, start) :].rstrip().rstrip(";")
    if not inner:
        raise SQLSyntaxError("EXPLAIN needs a query", position=_position(sql, len(sql.rstrip()) - 1))
    word, offset, _ = _first_word(_blanked(sql, start))
    if word in ("explain", "show", "describe", "desc"):
        raise NotSupportedError(
            f"EXPLAIN {word.upper()} is not supported", position=_position(sql, offset, len(word))
        )
    _refuse_what_is_no_query(word, _position(sql, offset, len(word)))
    return Explain(
        sql=_blanked(sql, start), modes=frozenset(modes), format="json" if format_ == "json" else "text"
    )


def _option_list(sql: str, start: int) -> tuple[list[tuple[list[str], int]], int] | None:
    """The words of each option and where it starts, and where the list ends; None if there is none.

    `EXPLAIN (SELECT 1)` has none: a query may stand in parentheses.
    """
    if sql[start : start + 1] != "(":
        return None
    first = _WORD.match(sql, _blank_end(sql, start + 1))
    if first is None or first[0].lower() in ("select", "with", "from", "values", "table", "pivot", "unpivot"):
        return None
    end = sql.find(")", start)
    if end < 0:
        raise SQLSyntaxError(
            "the options of EXPLAIN are not closed", hint='Add ")"', position=_position(sql, start)
        )
    found = []
    offset = start + 1
    for text in sql[start + 1 : end].split(","):
        found.append((text.lower().split(), offset + len(text) - len(text.lstrip())))
        offset += len(text) + 1
    return found, end + 1


def _describe(sql: str, end: int) -> Statement:
    """DESCRIBE of a table is SHOW COLUMNS; all else is a query."""
    tokens = _tokens(sql, end)
    if tokens and tokens[0].text.lower() == "table":
        tokens = tokens[1:]
    names = [t for t in tokens if t.token_type in (TokenType.VAR, TokenType.IDENTIFIER)]
    if len(tokens) == 2 * len(names) - 1 and 1 <= len(names) <= 3:
        return Show(kind="columns", table=(names[-2].text if len(names) > 1 else None, names[-1].text))
    if not tokens:
        raise SQLSyntaxError("DESCRIBE needs a table or a query", position=_end(sql))
    return Describe(_blanked(sql, end))


def _tokens(sql: str, end: int) -> list[Token]:
    try:
        tokens = sqlglot.tokenize(_blanked(sql, end), read="duckdb")
    except SqlglotError as error:
        raise SQLSyntaxError(str(error).split("\n", maxsplit=1)[0]) from error
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def _show(sql: str, end: int) -> Show:
    tokens = _tokens(sql, end)
    words = [t.text.lower() for t in tokens]
    match words:
        case ["tables"] | ["all", "tables"]:
            return Show(kind="tables")
        case ["sources"]:
            return Show(kind="sources")
        case ["shards"]:
            return Show(kind="shards")
        case ["shardings"]:
            return Show(kind="shardings")
        case ["columns", "from" | "in", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if not rest:
                return Show(kind="columns", table=table)
        case ["route", "for", *name]:
            table, rest = _name(sql, tokens[2:], name)
            if rest and rest[0].text.lower() == "key":
                return Show(kind="route", table=table, key=_key(sql, rest[1:]))
    raise _no_such_show(sql, tokens)


def _no_such_show(sql: str, tokens: list[Token]) -> SQLSyntaxError:
    position = (
        _position(sql, tokens[0].start, len(tokens[0].text)) if tokens else _position(sql, len(sql) - 1)
    )
    return SQLSyntaxError("SHOW does not read so", hint=f"It shows: {SHOW_FORMS}", position=position)


def _name(sql: str, tokens: list[Token], words: list[str]) -> tuple[tuple[str | None, str], list[Token]]:
    """A table name (`t`, `schema.t`) at the start of `tokens`, and what follows."""
    if not tokens or words[0] in ("key", "("):
        raise SQLSyntaxError("a table name is missing", hint=f"SHOW shows: {SHOW_FORMS}", position=_end(sql))
    if len(words) > 2 and words[1] == ".":
        return (tokens[0].text, tokens[2].text), tokens[3:]
    return (None, tokens[0].text), tokens[1:]


def _end(sql: str) -> Position:
    return _position(sql, max(len(sql.rstrip()) - 1, 0))


def _key(sql: str, tokens: list[Token]) -> tuple[str, ...]:
    """The texts between the commas of `(…)`."""
    if len(tokens) < 3 or tokens[0].text != "(" or tokens[-1].text != ")":
        raise SQLSyntaxError(
            "a key is written KEY (value, …)",
            position=_end(sql),
            reason=Reason.SYNTAX,
            hint="One value per key column",
        )
    values, depth, start = [], 0, tokens[0].end + 1
    for token in tokens[1:]:
        if depth == 0 and token.token_type in (TokenType.COMMA, TokenType.R_PAREN):
            values.append(sql[start : token.start].strip())
            start = token.end + 1
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
    return tuple(values)
