"""A query as MariaDB's (and MySQL's) text, or PostgreSQL's.

A printer of a closed set of expressions: those that `planner.agreement` makes of a fragment for such a
server. Anything else is our mistake and an InternalError: nothing of another dialect is translated here.
Every operator has its own parentheses, and every name its quotes, so that neither precedences nor keywords
need be known.

    SELECT `o`.`id` FROM `orders` AS `o` WHERE (`o`.`id` = 5)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

from sqlglot import exp

from shardwise.catalog.types import Family, read_type
from shardwise.errors import InternalError

_SELECT: Final = frozenset(
    ("expressions", "from_", "joins", "where", "group", "having", "distinct", "order", "limit", "offset")
)
_SET_OPERATION: Final = frozenset(("this", "expression", "distinct", "order", "limit", "offset"))
_JOINS: Final = {
    ("", ""): "JOIN",
    ("", "CROSS"): "CROSS JOIN",
    ("LEFT", ""): "LEFT JOIN",
    ("RIGHT", ""): "RIGHT JOIN",
}
_SET_OPERATORS: Final[dict[type, str]] = {
    exp.Union: "UNION",
    exp.Intersect: "INTERSECT",
    exp.Except: "EXCEPT",
}
_OPERATORS: Final[dict[type, str]] = {
    exp.And: "AND",
    exp.Or: "OR",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.Is: "IS",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Mod: "%",
}
_AGGREGATES: Final[dict[type, str]] = {
    exp.Count: "COUNT",
    exp.Sum: "SUM",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.LogicalAnd: "BOOL_AND",
    exp.LogicalOr: "BOOL_OR",
}


class Printer:
    """What the servers have in common; the rest is each one's own."""

    product = ""

    def name(self, name: str) -> str:
        """A name, always quoted."""
        return '"' + name.replace('"', '""') + '"'

    def string(self, value: str) -> str:
        """A text as a literal."""
        return "'" + value.replace("'", "''") + "'"

    def parameter(self, name: str) -> str:
        """Where a value is bound."""
        raise NotImplementedError

    def null(self, of_type: str) -> str:
        """A NULL of a type of the duckdb dialect."""
        return "NULL"

    def text(self, node: exp.Expr) -> str:
        """The text of a query or an expression."""
        kind = type(node)
        printer = _PRINTERS.get(kind)
        if printer is not None:
            return printer(self, node)
        if kind in _OPERATORS:
            return f"({self.text(node.this)} {_OPERATORS[kind]} {self.text(node.args['expression'])})"
        if kind in _AGGREGATES:
            return self._aggregate(node, _AGGREGATES[kind])
        if kind in _SET_OPERATORS:
            return self._set_operation(node, _SET_OPERATORS[kind])
        raise InternalError(f"no text for {self.product} is known for a {kind.__name__}")

    def _list(self, expressions: list[exp.Expr]) -> str:
        return ", ".join(map(self.text, expressions))

    def _only(self, node: exp.Expr, known: frozenset[str]) -> None:
        unknown = [key for key, value in node.args.items() if value and key not in known]
        if unknown:
            raise InternalError(
                f"no text for {self.product} is known for {unknown[0]} of a {type(node).__name__}"
            )

    # ------------------------------------------------------------------ queries

    def _select(self, node: exp.Expr) -> str:
        self._only(node, _SELECT)
        args = node.args
        distinct = args.get("distinct")
        if distinct is not None and distinct.args.get("on") is not None:
            raise InternalError(f"no text for {self.product} is known for DISTINCT ON")
        parts = [f"SELECT {'DISTINCT ' if distinct is not None else ''}{self._list(node.expressions)}"]
        if args.get("from_") is not None:
            parts.append(f"FROM {self.text(args['from_'].this)}")
            parts += [self._join(join) for join in args.get("joins") or ()]
        if args.get("where") is not None:
            parts.append(f"WHERE {self.text(args['where'].this)}")
        if args.get("group") is not None:
            self._only(args["group"], frozenset({"expressions"}))
            parts.append(f"GROUP BY {self._list(args['group'].expressions)}")
        if args.get("having") is not None:
            parts.append(f"HAVING {self.text(args['having'].this)}")
        items = {item.alias: item.this for item in node.expressions if isinstance(item, exp.Alias)}
        return " ".join(parts) + self._tail(node, items)

    def _set_operation(self, node: exp.Expr, word: str) -> str:
        """Each arm in parentheses, so that an arm's ORDER BY and the order of operators are its own."""
        self._only(node, _SET_OPERATION)
        every = "" if node.args.get("distinct") else " ALL"
        return f"{self._arm(node.this)} {word}{every} {self._arm(node.args['expression'])}" + self._tail(
            node, {}
        )

    def _arm(self, node: exp.Expr) -> str:
        return f"({self.text(node.this if isinstance(node, exp.Subquery) else node)})"

    def _tail(self, node: exp.Expr, items: dict[str, exp.Expr]) -> str:
        args, text = node.args, ""
        if args.get("order") is not None:
            text += f" ORDER BY {', '.join(self._ordered(key, items) for key in args['order'].expressions)}"
        limit, offset = args.get("limit"), args.get("offset")
        if limit is not None:
            if limit.args.get("limit_options"):
                raise InternalError(f"no text for {self.product} is known for LIMIT of a percentage")
            text += f" LIMIT {self.text(limit.expression)}"
        if offset is not None:
            text += f"{'' if limit is not None else self._no_limit} OFFSET {self.text(offset.expression)}"
        return text

    _no_limit = ""

    def _ordered(self, node: exp.Expr, items: dict[str, exp.Expr]) -> str:
        direction = " DESC" if node.args.get("desc") else " ASC"
        nulls = " NULLS FIRST" if node.args.get("nulls_first") else " NULLS LAST"
        return self.text(node.this) + direction + nulls

    def _window(self, node: exp.Expr) -> str:
        self._only(node, frozenset({"this", "order", "over"}))
        order = ", ".join(self._ordered(key, {}) for key in node.args["order"].expressions)
        return f"{self.text(node.this)} OVER (ORDER BY {order})"

    def _join(self, node: exp.Expr) -> str:
        self._only(node, frozenset({"this", "on", "side", "kind"}))
        word = _JOINS.get((node.args.get("side") or "", node.args.get("kind") or ""))
        if word is None:
            raise InternalError(
                f"no text for {self.product} is known for the join "
                f"{node.args.get('side')} {node.args.get('kind')}"
            )
        on = node.args.get("on")
        return f"{word} {self.text(node.this)}{f' ON {self.text(on)}' if on is not None else ''}"

    def _table(self, node: exp.Expr) -> str:
        self._only(node, frozenset({"this", "alias"}))
        inner = node.this
        return (
            self.name(node.name) if isinstance(inner, exp.Identifier) else self.text(inner)
        ) + self._alias(node)

    def _subquery(self, node: exp.Expr) -> str:
        """In FROM or in an expression; or a join in parentheses."""
        self._only(node, frozenset({"this", "alias"}))
        inner = node.this
        joins = inner.args.get("joins") if isinstance(inner, exp.Table | exp.Subquery) else None
        if not joins:
            return f"({self.text(inner)}){self._alias(node)}"
        bare = inner.copy()
        bare.set("joins", None)
        return f"({' '.join([self.text(bare), *map(self._join, joins)])}){self._alias(node)}"

    def _alias(self, node: exp.Expr) -> str:
        alias = node.args.get("alias")
        return f" AS {self.text(alias)}" if alias is not None else ""

    def _table_alias(self, node: exp.Expr) -> str:
        columns = ", ".join(self.name(column.name) for column in node.args.get("columns") or ())
        return self.name(node.name) + (f"({columns})" if columns else "")

    # ------------------------------------------------------------------ expressions

    def _column(self, node: exp.Expr) -> str:
        self._only(node, frozenset({"this", "table"}))
        table = node.text("table")
        return f"{self.name(table)}.{self.name(node.name)}" if table else self.name(node.name)

    def _literal(self, node: exp.Expr) -> str:
        return self.string(node.name) if node.args.get("is_string") else node.name

    def _case(self, node: exp.Expr) -> str:
        self._only(node, frozenset({"ifs", "default"}))
        arms = "".join(
            f" WHEN {self.text(arm.this)} THEN {self.text(arm.args['true'])}" for arm in node.args["ifs"]
        )
        default = node.args.get("default")
        return f"CASE{arms}{f' ELSE {self.text(default)}' if default is not None else ''} END"

    def _in(self, node: exp.Expr) -> str:
        self._only(node, frozenset({"this", "expressions", "query"}))
        query = node.args.get("query")
        members = self.text(query) if query is not None else f"({self._list(node.expressions)})"
        return f"({self.text(node.this)} IN {members})"

    def _exists(self, node: exp.Expr) -> str:
        inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
        return f"EXISTS ({self.text(inner)})"

    def _like(self, node: exp.Expr) -> str:
        self._only(node, frozenset({"this", "expression"}))
        escaped = node.args["expression"]
        pattern, escape = escaped.this, escaped.args["expression"]
        return f"({self.text(node.this)} LIKE {self.text(pattern)} ESCAPE {self.text(escape)})"

    def _aggregate(self, node: exp.Expr, word: str) -> str:
        argument = node.this
        if isinstance(argument, exp.Distinct):
            return f"{word}(DISTINCT {self._list(argument.expressions)})"
        return f"{word}({'*' if isinstance(argument, exp.Star) else self.text(argument)})"

    def _cast(self, node: exp.Expr) -> str:
        """Of a NULL, to a type of the duckdb dialect; of anything else, to one of the server's."""
        if isinstance(node.this, exp.Null):
            return self.null(node.args["to"].sql(dialect="duckdb"))
        return f"CAST({self.text(node.this)} AS {node.args['to'].name})"

    def _collate(self, node: exp.Expr) -> str:
        return f"({self.text(node.this)} COLLATE {node.args['expression'].name})"

    def _boolean(self, node: exp.Expr) -> str:
        return "TRUE" if node.this else "FALSE"

    def _null_safe(self, node: exp.Expr) -> str:
        """IS [NOT] DISTINCT FROM."""
        word = "IS NOT DISTINCT FROM" if isinstance(node, exp.NullSafeEQ) else "IS DISTINCT FROM"
        return f"({self.text(node.this)} {word} {self.text(node.args['expression'])})"


_PRINTERS: Final[dict[type, Callable[[Printer, Any], str]]] = {
    exp.Select: lambda p, node: p._select(node),
    exp.Table: lambda p, node: p._table(node),
    exp.Subquery: lambda p, node: p._subquery(node),
    exp.TableAlias: lambda p, node: p._table_alias(node),
    exp.Alias: lambda p, node: f"{p.text(node.this)} AS {p.name(node.alias)}",
    exp.Column: lambda p, node: p._column(node),
    exp.Literal: lambda p, node: p._literal(node),
    exp.Null: lambda p, node: "NULL",
    exp.Boolean: lambda p, node: p._boolean(node),
    exp.Var: lambda p, node: node.name,
    exp.Placeholder: lambda p, node: p.parameter(node.name),
    exp.Paren: lambda p, node: p.text(node.this),
    exp.Tuple: lambda p, node: f"({p._list(node.expressions)})",
    exp.Not: lambda p, node: f"(NOT {p.text(node.this)})",
    exp.Neg: lambda p, node: f"(-{p.text(node.this)})",
    exp.Collate: lambda p, node: p._collate(node),
    exp.Case: lambda p, node: p._case(node),
    exp.In: lambda p, node: p._in(node),
    exp.Exists: lambda p, node: p._exists(node),
    exp.Like: lambda p, node: p._like(node),
    exp.Cast: lambda p, node: p._cast(node),
    exp.Anonymous: lambda p, node: f"{node.name}({p._list(node.expressions)})",
    exp.Convert: lambda p, node: f"CONVERT({p.text(node.this)} USING utf8mb4)",
    exp.JSONTable: lambda p, node: (
        f"JSON_TABLE({p.text(node.this)}, {p.text(node.args['path'])} COLUMNS ({node.args['schema'].name}))"
    ),
    exp.RowNumber: lambda p, node: "ROW_NUMBER()",
    exp.Window: lambda p, node: p._window(node),
    exp.NullSafeEQ: lambda p, node: p._null_safe(node),
    exp.NullSafeNEQ: lambda p, node: p._null_safe(node),
}


class MySQLPrinter(Printer):
    """Names in backticks; a backslash in a text is doubled, as the session's sql_mode has it."""

    product = "MySQL"
    _no_limit = " LIMIT 18446744073709551615"

    def name(self, name: str) -> str:
        """MariaDB has no names of characters beyond 16 bits, of more than 64, or with a blank at the end:
        those are of columns that a fragment makes, and may be called otherwise."""
        if len(name) > _NAME_MAX or name[-1:].isspace() or (not name.isascii() and max(name) > "\uffff"):
            plain = "".join(c if c <= "\uffff" else "?" for c in name[:48])
            name = f"{plain}~{crc32(name.encode()):08x}"
        return "`" + name.replace("`", "``") + "`"

    def string(self, value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"

    def parameter(self, name: str) -> str:
        return f":{name}"

    def _ordered(self, node: exp.Expr, items: dict[str, exp.Expr]) -> str:
        """NULLs are least of all; where they are wanted elsewhere a key of their own goes first."""
        key, is_descending = node.this, bool(node.args.get("desc"))
        text = self.text(key) + (" DESC" if is_descending else " ASC")
        nulls_first = bool(node.args.get("nulls_first"))
        if nulls_first is not is_descending:
            return text
        if isinstance(key, exp.Literal):
            raise InternalError(f"no text for {self.product} is known for NULLs of a position in ORDER BY")
        named = isinstance(key, exp.Column) and not key.text("table")
        shown = items.get(key.name, key) if named else key  # an aggregate's name may not be in an expression
        return f"({self.text(shown)} IS NULL) {'DESC' if nulls_first else 'ASC'}, {text}"

    def _null_safe(self, node: exp.Expr) -> str:
        """Of two columns not as a condition that an index serves: `a = b AND a <=> b` is then true of NULLs
        (MariaDB 10.11)."""
        equal = f"({self.text(node.this)} <=> {self.text(node.args['expression'])})"
        if isinstance(node, exp.NullSafeNEQ):
            return f"(NOT {equal})"
        is_of_one = any(side.find(exp.Column) is None for side in (node.this, node.args["expression"]))
        return equal if is_of_one else f"({equal} IS TRUE)"


class PostgresPrinter(Printer):
    """As in the standard; the values of parameters are bound by `%(name)s`."""

    product = "PostgreSQL"

    def name(self, name: str) -> str:
        """PostgreSQL cuts a longer name off, and would take two for one: those are of columns that a fragment
        makes, and may be called otherwise."""
        text = name.encode()
        if len(text) > _NAME_BYTES_MAX:
            name = f"{text[:48].decode(errors='ignore')}~{crc32(text):08x}"
        return super().name(name)

    def parameter(self, name: str) -> str:
        return f"%({name})s"

    def null(self, of_type: str) -> str:
        return f"CAST(NULL AS {postgres_type(of_type)})"


_NAME_BYTES_MAX: Final = 63
_NAME_MAX: Final = 64
_POSTGRES_WIDE: Final = frozenset(("UBIGINT", "UINT64", "HUGEINT", "INT128", "UHUGEINT", "UINT128"))
_POSTGRES_TYPES: Final = {
    Family.DECIMAL: "numeric",
    Family.FLOAT: "double precision",
    Family.BOOL: "boolean",
    Family.DATE: "date",
    Family.TIMESTAMP: "timestamp",
    Family.TIMESTAMPTZ: "timestamptz",
    Family.BLOB: "bytea",
    Family.UUID: "uuid",
}


def postgres_type(of_type: str) -> str:
    """A type of PostgreSQL's for values of one of DuckDB's, wide enough for them."""
    found = read_type(of_type, "duckdb")
    if found is None:
        return "text"
    if found.family is Family.INT:
        return "numeric" if found.unsigned or found.name in _POSTGRES_WIDE else "bigint"
    return _POSTGRES_TYPES.get(found.family, "text")


MYSQL: Final = MySQLPrinter()
POSTGRES: Final = PostgresPrinter()
