"""Reading tables, views, indexes and sequences off their trees.

Column lists and key expressions are runs of tokens: split at commas here, their types and
expressions kept as written and read by `types` and sqlglot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import sqlglot
from lark import Token, Tree
from sqlglot import exp
from sqlglot.errors import SqlglotError

from shardwise.catalog.tables import (
    Built,
    Column,
    ColumnName,
    IndexState,
    JoinIndex,
    LockedTable,
    LookupIndex,
    Placement,
    Reference,
    Scattered,
    Sequence,
    Sharded,
    ShardedWith,
    ShardKey,
    Single,
    Spelling,
    Stored,
    Table,
    View,
)
from shardwise.catalog.text import (
    Node,
    Text,
    child,
    name_of,
    names_of,
    number_of,
    optional,
    plain,
    subtrees,
    token_at,
)

Part = list[Node | Token]


@dataclass
class _Columns:
    """A column list, taken apart. `nullable` are columns that say NULL: SQLite lets keys hold NULLs."""

    columns: list[Column] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    unique: list[tuple[str, ...]] = field(default_factory=list)
    nullable: set[str] = field(default_factory=set)


# ------------------------------------------------------------------ tables


def read_tables(tree: Node, text: Text, dialect: str) -> Iterator[Table]:
    """CREATE TABLE or ATTACH TABLE: a table for each name."""
    created = tree.data == "create_table"
    names = [read_table_name(each) for each in subtrees(tree, "table_name") + subtrees(tree, "table_pattern")]
    list_tree = next(iter(subtrees(tree, "columns")), None)
    columns = None if list_tree is None else read_columns(child(list_tree, 0), text)
    clauses = [each for each in tree.children if isinstance(each, Tree) and each.data in _CLAUSES]
    placement = _placement(clauses, tree, text, dialect)
    named = _once(clauses, "named", text)
    drift = _once(clauses, "drift", text)
    across = tuple(names_of(child(each, 0)) for each in clauses if each.data == "unique_across")
    exact = tuple(pair for each in clauses if each.data == "exact" for pair in _exact(each))
    for schema, name in names:
        yield Table(
            name=name,
            schema=schema,
            columns=None if columns is None else tuple(columns.columns),
            placement=placement,
            named=plain(token_at(named)) if named is not None else None,
            primary_key=columns.primary_key if columns else (),
            unique=tuple(columns.unique) if columns else (),
            unique_across=across,
            exact=exact,
            created=created,
            drift=str(token_at(drift)).upper() if drift is not None else None,
        )


_PLACEMENTS = ("shard_by", "shard_with", "scattered", "reference", "single")
_CLAUSES = frozenset({*_PLACEMENTS, "also_by", "unique_across", "exact", "named", "drift"})


def _exact(clause: Node) -> Iterator[tuple[str, Spelling]]:
    """EXACT [LOWER | UPPER] (columns)."""
    case = next((f" {each.type}" for each in clause.children if isinstance(each, Token)), "")
    for name in names_of(next(iter(subtrees(clause, "names")))):
        yield name, Spelling(f"EXACT{case}")


def _once(clauses: list[Node], kind: str, text: Text) -> Node | None:
    found = [each for each in clauses if each.data == kind]
    if len(found) > 1:
        raise text.error(found[1], f"{kind.upper()} is given twice")
    return found[0] if found else None


def _placement(clauses: list[Node], tree: Node, text: Text, dialect: str) -> Placement:
    places = [each for each in clauses if each.data in _PLACEMENTS]
    also = [each for each in clauses if each.data == "also_by"]
    if not places:
        hint = "Add SHARD BY sharding (key), SHARD WITH, REFERENCE ON, SCATTERED ON or ON shard"
        raise text.error(tree, "the statement does not say where the table's rows are", hint=hint)
    if len(places) > 1:
        raise text.error(places[1], "a table has one place", hint="Leave one of the two clauses out")
    place = places[0]
    if also and place.data != "shard_by":
        raise text.error(also[0], "ALSO BY goes with SHARD BY")
    match str(place.data):
        case "shard_by":
            return _sharded(place, also, text, dialect)
        case "shard_with":
            return _shard_with(place, text)
        case "scattered":
            return Scattered(sharding=name_of(child(place, 0)))
        case "reference":
            return Reference(on=names_of(place))
    return Single(on=name_of(child(place, 0)))


def _sharded(place: Node, also: list[Node], text: Text, dialect: str) -> Sharded:
    parts: list[exp.Expr] = []
    virtual: list[Column] = []
    for part in _split(child(place, 1)):
        if len(part) > 2 and str(part[-1]).upper() == "VIRTUAL":
            column = _column(part[:-1], text, _Columns())
            if column.stored is not None:
                raise text.error(part[-2], "a VIRTUAL column is stored nowhere", hint="Leave it out")
            virtual.append(column)
            parts.append(exp.column(exp.to_identifier(column.name)))
        else:
            parts.append(_expression(part, text, dialect))
    keys = [ShardKey(parts=tuple(parts))]
    for each in also:
        by_slot = any(isinstance(one, Token) and one.type == "SLOT" for one in each.children)
        run = next(iter(subtrees(each, "run")))
        others = tuple(_expression(part, text, dialect) for part in _split(run))
        if by_slot and len(others) > 1:
            raise text.error(run, "ALSO BY SLOT takes one expression")
        keys.append(ShardKey(parts=others, by_slot=by_slot))
    return Sharded(sharding=name_of(child(place, 0)), keys=tuple(keys), virtual=tuple(virtual))


def _shard_with(place: Node, text: Text) -> ShardedWith:
    """SHARD WITH parent ON column = parent.column, the two sides in either order."""
    schema, parent = read_table_name(child(place, 0))
    full_name = f"{schema}.{parent}" if schema else parent
    sides = [names_of(child(place, 1)), names_of(child(place, 2))]
    theirs = [
        side for side in sides if ".".join(side[:-1]).casefold() in (full_name.casefold(), parent.casefold())
    ]
    if len(theirs) != 1:
        hint = f"Write ON column = {parent}.column"
        raise text.error(place, f'one side of ON must be a column of "{full_name}"', hint=hint)
    own = sides[1] if sides[0] == theirs[0] else sides[0]
    return ShardedWith(parent=full_name, column=own[-1], parent_column=theirs[0][-1])


def read_table_name(tree: Node) -> tuple[str | None, str]:
    """(schema, name) of a table_name or table_pattern; the name may be "*"."""
    present: list[Node | Token | None] = list(tree.children)  # an absent part is None
    parts = [name_of(each) if isinstance(each, Tree) else plain(each) for each in present if each is not None]
    return (parts[0], parts[1]) if len(parts) == 2 else (None, parts[0])


def read_lock(tree: Node, text: Text) -> LockedTable:
    """LOCK TABLE name (columns) [ROWS n] [READ AT '…']."""
    schema, name = read_table_name(child(tree, 0))
    found = read_columns(child(tree, 1), text)
    rows, read_at = tree.children[2:4]
    return LockedTable(
        name=name,
        schema=schema,
        columns=tuple(found.columns),
        primary_key=found.primary_key,
        unique=tuple(found.unique),
        rows=number_of(text, rows) if isinstance(rows, Token) else None,
        read_at=plain(read_at) if isinstance(read_at, Token) else None,
    )


# ------------------------------------------------------------------ columns and expressions


def read_columns(run: Node, text: Text) -> _Columns:
    """A column list: columns, PRIMARY KEY (…) and UNIQUE (…)."""
    found = _Columns()
    for part in _split(run):
        words = [str(each).upper() if isinstance(each, Token) else "(" for each in part]
        if words[:3] == ["PRIMARY", "KEY", "("] and len(part) == 3:
            if found.primary_key:
                raise text.error(part[0], "a table has one PRIMARY KEY")
            found.primary_key = _key_names(part[2], text)
        elif words[:2] == ["UNIQUE", "("] and len(part) == 2:
            found.unique.append(_key_names(part[1], text))
        elif _is_refused(words):
            hint = "The catalog holds columns, PRIMARY KEY and UNIQUE; add other constraints on the shards"
            raise text.error(part[0], f"{words[0]} is not kept in the catalog", hint=hint)
        else:
            found.columns.append(_column(part, text, found))
    keyed = {name.casefold() for name in found.primary_key} - found.nullable
    found.columns = [
        replace(each, nullable=False) if each.name.casefold() in keyed else each for each in found.columns
    ]
    return found


def _is_refused(words: list[str]) -> bool:
    """Whether a part of a column list is a constraint that the catalog does not keep."""
    if words[0] == "CONSTRAINT":
        return words[2:3] != [] and words[2] in _REFUSED
    return (
        words[0] in _REFUSED
        and words[1:2] != []
        and (words[1] in ("(", "KEY", "INDEX") or words[2:3] == ["("])
    )


_REFUSED = frozenset({"FOREIGN", "CHECK", "KEY", "INDEX", "EXCLUDE", "PRIMARY", "UNIQUE"})


def _key_names(group: Node | Token, text: Text) -> tuple[str, ...]:
    names = []
    run = group.children[0] if isinstance(group, Tree) and group.children else None
    for part in _split(run) if isinstance(run, Tree) else [[group]]:
        if len(part) != 1 or not isinstance(part[0], Token) or not _is_name(part[0]):
            raise text.error(
                part[0], "expected the name of a column", hint="Keys are made of columns, not expressions"
            )
        names.append(plain(part[0]))
    return tuple(names)


_AFTER_TYPE = frozenset({"NOT", "NULL", "PRIMARY", "UNIQUE", "DEFAULT", "COLLATE", "EPOCH", "JULIAN"})
_UNITS = ("SECONDS", "MILLISECONDS", "MICROSECONDS")
_NO_CLAUSE = frozenset(
    {"CHECK", "REFERENCES", "GENERATED", "AS", "AUTO_INCREMENT", "AUTOINCREMENT", "COMMENT", "ON"}
)


def _column(part: Part, text: Text, into: _Columns) -> Column:
    """name type [NOT NULL | NULL] [PRIMARY KEY] [UNIQUE] [DEFAULT expression] [COLLATE name]
    [EPOCH [SECONDS | MILLISECONDS | MICROSECONDS] | JULIAN]."""
    first = part[0]
    if not isinstance(first, Token) or not _is_name(first):
        raise text.error(first, "expected the name of a column")
    column = Column(name=plain(first), type="")
    end = next((at for at in range(1, len(part)) if _word(part[at]) in _AFTER_TYPE | _NO_CLAUSE), len(part))
    if end > 1:
        column = replace(column, type=text.slice(part[1], part[end - 1]))
    at = end
    while at < len(part):
        at, column = _column_clause(part, at, column, text, into)
    return column


def _column_clause(part: Part, at: int, column: Column, text: Text, into: _Columns) -> tuple[int, Column]:
    word = _word(part[at])
    after = _word(part[at + 1]) if at + 1 < len(part) else ""
    if word == "NOT" and after == "NULL":
        return at + 2, replace(column, nullable=False)
    if word == "NULL":
        into.nullable.add(column.name.casefold())
        return at + 1, column
    if word == "PRIMARY" and after == "KEY":
        if into.primary_key:
            raise text.error(part[at], "a table has one PRIMARY KEY")
        into.primary_key = (column.name,)
        return at + 2, column
    if word == "UNIQUE":
        into.unique.append((column.name,))
        return at + 1, column
    if word == "COLLATE" and at + 1 < len(part) and isinstance(part[at + 1], Token):
        return at + 2, replace(column, collation=plain(part[at + 1]))  # type: ignore[arg-type]
    if word in ("EPOCH", "JULIAN"):
        if column.stored is not None:
            raise text.error(part[at], "a column is stored in one way", hint=f"Leave {word} out")
        if word == "JULIAN":
            return at + 1, replace(column, stored=Stored.JULIAN)
        unit = after if after in _UNITS else "SECONDS"
        return at + 1 + (after in _UNITS), replace(column, stored=Stored(f"EPOCH {unit}"))
    if word == "DEFAULT" and at + 1 < len(part):
        end = next(
            (n for n in range(at + 2, len(part)) if _word(part[n]) in _AFTER_TYPE | _NO_CLAUSE), len(part)
        )
        return end, replace(column, default=text.slice(part[at + 1], part[end - 1]))
    if word in _NO_CLAUSE:
        kept = "type, NOT NULL, DEFAULT, COLLATE, PRIMARY KEY, UNIQUE, EPOCH and JULIAN"
        hint = f"The catalog holds a column's {kept}"
        raise text.error(part[at], f"{word} is not kept in the catalog", hint=hint)
    wanted = "NOT NULL, NULL, PRIMARY KEY, UNIQUE, DEFAULT, COLLATE, EPOCH or JULIAN"
    raise text.error(part[at], f"expected {wanted} after {word}")


def _expression(part: Part, text: Text, dialect: str) -> exp.Expr:
    """A key's expression, read by sqlglot."""
    sql = text.slice(part[0], part[-1])
    if len(part) == 1 and isinstance(part[0], Token) and part[0].type in ("WORD", "QUOTED", "BACKTICKED"):
        return exp.column(exp.to_identifier(plain(part[0])))
    try:
        found = sqlglot.parse_one(sql, dialect=dialect)
    except SqlglotError:
        raise text.error(part[0], f"this is no expression in the {dialect} dialect") from None
    while isinstance(found, exp.Paren):
        found = found.this
    assert isinstance(found, exp.Expr)
    return found.transform(_of_postgres) if dialect == "postgres" else found


def _of_postgres(node: exp.Expr) -> exp.Expr:
    """PostgreSQL's `div(a, b)` and EXTRACT as the division, YEAR and MONTH that keys are made of."""
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.IntDiv) and node.to.this == exp.DType.DECIMAL:
        return node.this
    if isinstance(node, exp.Extract) and node.name.upper() in ("YEAR", "MONTH"):
        return (exp.Year if node.name.upper() == "YEAR" else exp.Month)(this=node.expression)
    return node


def _split(run: Node) -> list[Part]:
    """A run's parts between its commas."""
    parts: list[Part] = [[]]
    for each in run.children:
        if isinstance(each, Token) and each.type == "COMMA":
            parts.append([])
        elif each is not None:
            parts[-1].append(each)
    return [part for part in parts if part]


def _word(each: Node | Token) -> str:
    return each.upper() if isinstance(each, Token) and each.type == "WORD" else ""


def _is_name(token: Token) -> bool:
    return token.type in ("WORD", "QUOTED", "BACKTICKED")


# ------------------------------------------------------------------ views, indexes, sequences


def read_view(tree: Node, text: Text) -> View:
    """CREATE [OR REPLACE] VIEW name [(columns)] AS query."""
    schema, name = read_table_name(child(tree, 1))
    query = child(tree, 3)
    return View(name=name, schema=schema, sql=text.slice(query, query), columns=names_of(optional(tree, 2)))


def read_lookup(tree: Node) -> LookupIndex:
    """CREATE or ATTACH [UNIQUE] LOOKUP INDEX name ON table (columns) [USING TABLE table (columns)]."""
    attached = tree.data == "attach_lookup"
    return LookupIndex(
        name=name_of(child(tree, 1)),
        table=_full_name(child(tree, 2)),
        columns=names_of(child(tree, 3)),
        unique=tree.children[0] is not None,
        index_table=_full_name(child(tree, 4)) if attached else None,
        index_columns=names_of(child(tree, 5)) if attached else (),
    )


def read_join(tree: Node, text: Text) -> JoinIndex:
    """CREATE JOIN INDEX name ON a.x = b.y [INCLUDE (…)] SHARD BY sharding (a.k)."""
    include = optional(tree, 3)
    return JoinIndex(
        name=name_of(child(tree, 0)),
        left=_column_name(child(tree, 1), text),
        right=_column_name(child(tree, 2), text),
        include=()
        if include is None
        else tuple(_column_name(each, text) for each in subtrees(include, "column_name")),
        sharding=name_of(child(tree, 4)),
        key=_column_name(child(tree, 5), text),
    )


def read_index_state(tree: Node, text: Text) -> IndexState:
    """LOCK INDEX name BUILDING | VALID | DROPPING [BUILT AT '…'] [ROWS n] [FINGERPRINT '…']."""
    built_at, rows, fingerprint = tree.children[2:5]
    return IndexState(
        name=name_of(child(tree, 0)),
        state=Built(token_at(child(tree, 1)).upper()),
        built_at=plain(built_at) if isinstance(built_at, Token) else None,
        rows=number_of(text, rows) if isinstance(rows, Token) else None,
        fingerprint=plain(fingerprint) if isinstance(fingerprint, Token) else None,
    )


def read_sequence(tree: Node, text: Text) -> Sequence:
    """CREATE SEQUENCE name [START n] [CACHE n] [ON shard]."""
    start, cache = tree.children[1:3]
    on = optional(tree, 3)
    return Sequence(
        name=name_of(child(tree, 0)),
        start=number_of(text, start) if isinstance(start, Token) else 1,
        cache=number_of(text, cache) if isinstance(cache, Token) else 1000,
        on=name_of(on) if on is not None else None,
    )


def _full_name(tree: Node) -> str:
    return ".".join(part for part in read_table_name(tree) if part)


def _column_name(tree: Node, text: Text) -> ColumnName:
    names = names_of(tree)
    if len(names) not in (2, 3):
        raise text.error(tree, "expected table.column")
    return ColumnName(table=".".join(names[:-1]), column=names[-1])
