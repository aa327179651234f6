"""What a SQLite file says of its tables, and which catalog types its declared ones stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from shardwise.catalog.model import Column
from shardwise.catalog.sqlite_types import affinity
from shardwise.errors import OperationalError
from shardwise.inspection.physical import PhysicalTable, SourceReader

_TABLES = """
    SELECT l.name, l.type, l.wr, s.sql FROM pragma_table_list AS l JOIN sqlite_schema AS s ON s.name = l.name
    WHERE l.schema = 'main' AND l.type IN ('table', 'view') AND l.name NOT LIKE 'sqlite@_%' ESCAPE '@'
    ORDER BY l.name"""
"""Neither virtual tables (full-text search and the like) nor those that they keep their data in."""
_COLUMNS = """
    SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(:name) WHERE hidden <> 1
    ORDER BY cid"""
_KEYS = """
    SELECT i.seq, i.origin, x.name FROM pragma_index_list(:name) AS i, pragma_index_xinfo(i.name) AS x
    WHERE i."unique" AND NOT i.partial AND x.key ORDER BY i.seq DESC, x.seqno"""


def read_sqlite_tables(reader: SourceReader, dialect: str) -> Mapping[str, PhysicalTable]:
    """All tables and views of the file, by name in lower case.

    In a catalog of SQLite's own dialect columns are as declared, with their collations. In another they are
    of the types that these stand for, "" for those that stand for none, and without collations: text is
    compared there as that dialect compares it.
    """
    found = {}
    for name, kind, is_without_rowid, sql in reader.rows(_TABLES):
        try:
            table = _Table(reader, name, kind == "view", bool(is_without_rowid), sql)
        except OperationalError:
            if kind != "view":
                raise
            continue  # a view of what is not there any more cannot be read, and is not there either
        found[name.lower()] = table.physical(dialect)
    return found


class _Table:
    def __init__(
        self, reader: SourceReader, name: str, is_view: bool, is_without_rowid: bool, sql: str
    ) -> None:
        self._name = name
        self._sql = sql
        self._columns = reader.rows(_COLUMNS, {"name": name})
        keys: dict[int, tuple[str, list[str | None]]] = {}
        for number, origin, column in () if is_view else reader.rows(_KEYS, {"name": name}):
            keys.setdefault(number, (origin, []))[1].append(column)
        self._keys = list(keys.values())
        self._is_without_rowid = is_without_rowid

    def physical(self, dialect: str) -> PhysicalTable:
        is_own = dialect == "sqlite"
        collations = collations_of(self._sql) if is_own else {}
        primary = [name for _, name in sorted((pk, name) for name, _, _, _, pk in self._columns if pk)]
        rowid = self._rowid(primary)
        columns = tuple(
            Column(
                name=name,
                type=declared if is_own else catalog_type(declared),
                nullable=not is_not_null and name != rowid,
                collation=collations.get(name.lower()),
                default=default if is_own else None,
            )
            for name, declared, is_not_null, default, _ in self._columns
        )
        single = {c.name for c in columns if is_own or _is_spelled_in_one_way(c.type)}
        unique = [tuple(key) for origin, key in self._keys if origin != "pk" and None not in key]
        return PhysicalTable(
            name=self._name,
            columns=columns,
            primary_key=tuple(primary) if single.issuperset(primary) else (),
            unique=tuple(key for key in dict.fromkeys(unique) if single.issuperset(key)),  # type: ignore[misc]
            declared={name.lower(): declared for name, declared, *_ in self._columns},
            product="sqlite",
        )

    def _rowid(self, primary: list[str]) -> str | None:
        """The column that is the row's number: the only kind of key column that cannot be NULL unsaid."""
        if len(primary) != 1 or self._is_without_rowid or any(origin == "pk" for origin, _ in self._keys):
            return None
        return primary[0]


# ------------------------------------------------------------------ types


def catalog_type(declared: str) -> str:
    """The catalog's type for a declared one; "" if it stands for none.

    >>> catalog_type("INT"), catalog_type("varchar(20)"), catalog_type("Decimal(9, 2)"), catalog_type("ANY")
    ('BIGINT', 'VARCHAR', 'DECIMAL(9,2)', '')
    """
    name, _, rest = re.sub(r"\s+", " ", declared.strip().upper()).partition("(")
    name = name.strip()
    if name in _TYPES:
        return _TYPES[name]
    arguments = _ARGUMENTS.match(rest)
    if name in ("DECIMAL", "NUMERIC", "DEC", "NUMBER"):
        precision, scale = (int(arguments[1]), int(arguments[2] or 0)) if arguments else (0, 0)
        return f"DECIMAL({precision},{scale})" if 0 < precision <= 38 and scale <= precision else ""
    return _OF_AFFINITY.get(affinity(declared), "") if declared.strip() else ""


_ARGUMENTS = re.compile(r"\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_TYPES = {
    "BOOL": "BOOLEAN",
    "BOOLEAN": "BOOLEAN",
    "DATE": "DATE",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP WITHOUT TIME ZONE": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMPTZ",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ",
    "TIME": "TIME",
    "UUID": "UUID",
    "GUID": "UUID",
    "JSON": "JSON",
}
_OF_AFFINITY = {"INTEGER": "BIGINT", "REAL": "DOUBLE", "TEXT": "VARCHAR", "BLOB": "BLOB"}


def _is_spelled_in_one_way(type_: str) -> bool:
    """Whether equal values are equal in the file: '1.5' and '1.50' are two texts and one DECIMAL."""
    return type_ in ("BIGINT", "BOOLEAN", "DOUBLE", "VARCHAR", "BLOB", "DATE")


# ------------------------------------------------------------------ collations


def collations_of(sql: str) -> Mapping[str, str]:
    """Columns' collations by name in lower case, as the table's CREATE text says; SQLite has no other way.

    >>> collations_of('CREATE TABLE t (a TEXT COLLATE nocase, "b c" DEFAULT (1, 2), CHECK (a > 1))')
    {'a': 'nocase'}
    """
    found = {}
    for words in _parts(sql):
        upper = [word.upper() for word in words]
        if "COLLATE" in upper[1:-1]:
            found[_bare(words[0]).lower()] = _bare(words[upper.index("COLLATE", 1) + 1])
    return found


_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|\s+|('(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\w+|.)""",
    re.DOTALL,
)


def _parts(sql: str) -> Iterator[list[str]]:
    """The words of each part between the outermost parentheses; what is in inner ones is left out."""
    depth = 0
    words: list[str] = []
    for word in _TOKEN.findall(sql):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 1 and word == ",":
            yield words
            words = []
        elif depth == 1 and word not in ("", "(", ")"):
            words.append(word)
        elif depth == 0 and words:
            break
    if words:
        yield words


def _bare(name: str) -> str:
    if name[:1] in "\"'`":
        return name[1:-1].replace(name[0] * 2, name[0])
    return name[1:-1] if name.startswith("[") else name
