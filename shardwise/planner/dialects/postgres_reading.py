"""PostgreSQL's SQL as a tree that comes out again as the same SQL.

sqlglot is made for translating between products: it writes date_part as EXTRACT (of another type), and reads
INTERVAL '2 days 03:00' as two days. Here text must come out meaning what went in. What sqlglot would take
otherwise is hidden from it in the tokens, whose positions stay the user's, and put back in the tree; what
cannot be hidden is refused.

    date_part('day', d)         date_part⟨mark⟩('day', d)    Anonymous("date_part", …)
    INTERVAL '2 days 03:00'     '2 days 03:00'::INTERVAL     Cast, the text as it is
    real '1.5'                  '1.5'::real                  likewise
    x::int[3], x::int ARRAY     x::int[]                     as PostgreSQL takes it
    E'a\\n'                      'a⏎'                         Literal
    current_timestamp(0)        current_timestamp::timestamptz(0)
    a.b = ?                     a.b = $1                     (a ? b is an operator of jsonb)
"""

from __future__ import annotations

from typing import Final

import sqlglot
from sqlglot import exp

from shardwise.planner.dialects.postgres_tokens import MARK, Mending
from shardwise.planner.families import words

_NAME_BYTES_MAX: Final = 63


def trees(sql: str) -> list[exp.Expr]:
    """The statements in a text; raises sqlglot's errors."""
    dialect = sqlglot.Dialect.get_or_raise("postgres")
    tokens = Mending(sql, dialect.tokenize(sql)).mended()
    return [restored(tree) for tree in dialect.parser().parse(tokens, sql) if tree is not None]


def restored(tree: exp.Expr) -> exp.Expr:
    """The tree with the user's names again: in lower case where they are not quoted."""
    for named in tree.find_all(exp.Anonymous, exp.Identifier):
        name = named.this
        if isinstance(name, str):
            name = name.removesuffix(MARK)
            is_plain = isinstance(named, exp.Identifier) and not named.args.get("quoted")
            named.set("this", _cut(name.lower() if is_plain else name))
    tables = {table.alias_or_name.lower() for table in tree.find_all(exp.Table)}
    for node in list(tree.walk()):
        if isinstance(node, exp.Anonymous) and node.name.lower() in _QUANTIFIERS:
            members = exp.Paren(this=node.expressions[0])
            quantified = _QUANTIFIERS[node.name.lower()](this=members)
            tree = _put(tree, node, quantified)
        elif isinstance(node, exp.Anonymous):
            _part_distinct(node)
        elif isinstance(node, exp.Is) and node.args.get("negate") and not _may_be_row(node.this, tables):
            is_null = exp.Is(this=node.this, expression=node.expression)
            negated: exp.Expr = exp.Not(this=is_null)
            tree = _put(tree, node, negated if isinstance(node.parent, _LOOSE) else exp.Paren(this=negated))
        elif isinstance(node, exp.Limit) and isinstance(node.expression, exp.Var | exp.Null):
            node.pop()  # LIMIT ALL
        elif isinstance(node, exp.Fetch) and not _options(node):
            node.replace(exp.Limit(expression=node.args.get("count") or exp.Literal.number(1)))
    return tree


_QUANTIFIERS: Final[dict[str, type[exp.Expr]]] = {"all": exp.All, "any": exp.Any, "some": exp.Any}


def _cut(name: str) -> str:
    """A name's first 63 bytes: PostgreSQL takes no notice of the others."""
    return name if len(name) < 16 else name.encode()[:_NAME_BYTES_MAX].decode(errors="ignore")


def _put(tree: exp.Expr, old: exp.Expr, new: exp.Expr) -> exp.Expr:
    """The tree with another node in the place of `old`."""
    if old is tree:
        return new
    old.replace(new)
    return tree


def _may_be_row(expr: exp.Expr, tables: set[str]) -> bool:
    """Whether it may be of several columns, of which IS NOT NULL says that none is NULL."""
    for part in expr.walk():
        if isinstance(part, exp.Tuple | exp.Query | exp.Dot):
            return True
        if isinstance(part, exp.Anonymous) and part.name.lower() not in _NO_ROWS:
            return True
        if isinstance(part, exp.Column) and not part.table and part.name.lower() in tables:
            return True
    return False


_LOOSE: Final = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Where,
    exp.Having,
    exp.Paren,
    exp.Join,
    exp.If,
    exp.Alias,
    exp.Select,
)
"""What NOT may stand in without parentheses."""
_NO_ROWS: Final = words("abs date_trunc length lower nullif round substr upper")


def _part_distinct(call: exp.Anonymous) -> None:
    """`f(DISTINCT a, b)`: DISTINCT stands before the first argument, and is of all of them."""
    first = call.expressions[0] if call.expressions else None
    distinct = first.this if isinstance(first, exp.Order) else first
    if not isinstance(distinct, exp.Distinct) or len(distinct.expressions) < 2:
        return
    one, *rest = distinct.expressions
    others = list[exp.Expr](rest)
    if isinstance(first, exp.Order):
        last = others.pop()
        others.append(exp.Order(this=last, expressions=first.expressions))
    call.set("expressions", [exp.Distinct(expressions=[one]), *others, *call.expressions[1:]])


def _options(fetch: exp.Fetch) -> bool:
    """Whether it says more than how many rows."""
    options = fetch.args.get("limit_options")
    return options is not None and bool(options.args.get("percent") or options.args.get("with_ties"))
