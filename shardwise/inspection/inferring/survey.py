"""Servers as inference sees them: their databases, tables, samples of rows, and exact answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.catalog.shardings import Value
from shardwise.catalog.sources import Secret, Source
from shardwise.catalog.types import type_family
from shardwise.errors import CatalogError
from shardwise.inspection.inferring.candidates import KEYS
from shardwise.inspection.inferring.sampled import Member
from shardwise.inspection.inferring.schemas import Elsewhere
from shardwise.inspection.physical import PhysicalTable, SourceReader
from shardwise.inspection.reading import quoted, quoted_table, read_tables

SAMPLED_ROWS = 20_000
"""So many rows are looked at in all, shared out over the tables."""
_PER_TABLE = (25, 2_000)
_DIALECTS = {"mysql": "mysql", "mariadb": "mysql", "postgresql": "postgres", "postgres": "postgres"}
_HIDDEN = frozenset({"mysql", "information_schema", "performance_schema", "sys", "postgres"})
_DATABASES = {
    "mysql": "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA",
    "postgres": "SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate "
    "AND has_database_privilege(oid, 'CONNECT')",
}
_ESTIMATES = {
    "mysql": "SELECT TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "
    "AND TABLE_TYPE = 'BASE TABLE'",
    "postgres": "SELECT relname, reltuples::bigint FROM pg_class WHERE relkind IN ('r', 'p') "
    "AND relnamespace = current_schema()::regnamespace AND NOT relispartition",
}
_ELSEWHERE = """
    SELECT n.nspname, c.relname, EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND lower(a.attname) = 'tenant')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)'
        AND n.nspname IS DISTINCT FROM current_schema()"""
"""Tables in other schemas: of PostgreSQL alone, for a schema of MySQL's is a database."""
_LONG = ("longtext", "mediumtext", "text", "json")


@dataclass(frozen=True)
class Server:
    """A URL without its database; `pattern` says which databases count."""

    url: str
    pattern: str
    dialect: str

    @staticmethod
    def of(url: str) -> Server:
        """`mysql://app@db/shop_*`: all that match; without a database all that there are."""
        parts = urlsplit(url)
        if parts.scheme not in _DIALECTS:
            raise CatalogError(
                f'"{parts.scheme}:" is no kind of server whose layout is inferred',
                hint="Give mysql://user@host or postgresql://user@host, with a pattern: mysql://user@host/shop_*",
            )
        if parts.password is not None:
            raise CatalogError(
                "a URL with a password is refused", hint="Say where it is: --password-env NAME, or a file"
            )
        pattern = unquote(parts.path.strip("/")) or "*"
        return Server(urlunsplit(parts._replace(path="")), pattern, _DIALECTS[parts.scheme])

    def source(self, name: str, database: str, password: Secret | None) -> Source:
        parts = urlsplit(self.url)
        url = urlunsplit(parts._replace(path=f"/{quote(database, safe='')}"))
        return Source(name=name, url=url, password=password, read_only=True)

    def root(self, name: str, password: Secret | None) -> Source:
        """Where databases are listed."""
        database = "information_schema" if self.dialect == "mysql" else "postgres"
        if "*" not in self.pattern and self.dialect == "postgres":
            database = self.pattern
        return self.source(name, database, password)

    def databases(self, reader: SourceReader) -> list[str]:
        """Those that match, in the order of their numbers."""
        names = [str(name) for (name,) in reader.rows(_DATABASES[self.dialect])]
        wanted = [
            n for n in names if n.lower() not in _HIDDEN and fnmatchcase(n.lower(), self.pattern.lower())
        ]
        return sorted(wanted, key=natural)


def natural(name: str) -> tuple[tuple[str, int], ...]:
    """`db_9` before `db_10`."""
    pieces = re.split(r"(\d+)", name.lower())
    numbers = [int(piece) for piece in pieces[1::2]]
    return tuple(zip(pieces[::2], [*numbers, -1], strict=True))


@dataclass
class Survey:
    """The tables of some sources, and the probe that asks them. Readers are opened when needed, and few."""

    opener: Callable[[str], SourceReader]
    dialect: str
    on_source: Callable[[str], None] = lambda _: None
    _readers: dict[str, SourceReader] = field(default_factory=dict)

    def members(self, sources: Sequence[str]) -> list[Member]:
        """All base tables of some sources, with samples of their rows."""
        found: list[tuple[str, PhysicalTable, int | None]] = []
        for source in sources:
            self.on_source(source)
            reader = self._reader(source)
            estimates = {str(name): rows for name, rows in reader.rows(_ESTIMATES[self.dialect])}
            tables = read_tables(reader, self.dialect).values()
            found += [(source, each, estimates[each.name]) for each in tables if each.name in estimates]
        low, high = _PER_TABLE
        per_table = min(high, max(low, SAMPLED_ROWS // max(1, len(found))))
        return [self._member(source, table, rows, per_table) for source, table, rows in found]

    def elsewhere(self, sources: Sequence[str]) -> dict[str, Elsewhere]:
        """By source: what is in schemas that `members` does not look into."""
        if self.dialect != "postgres":
            return {}
        found: dict[str, Elsewhere] = {}
        for source in sources:
            rows = self._reader(source).rows(_ELSEWHERE)
            tables: dict[str, set[str]] = {}
            for schema, table, _ in rows:
                tables.setdefault(str(schema), set()).add(str(table))
            of_schemas = {schema: frozenset(names) for schema, names in tables.items()}
            found[source] = Elsewhere(of_schemas, any(has_tenant for *_, has_tenant in rows))
        return found

    def _member(self, source: str, table: PhysicalTable, estimate: int | None, rows: int) -> Member:
        kinds = {column.name.lower(): type_family(column.type, self.dialect) for column in table.columns}
        wanted = [c for c in table.columns if kinds[c.name.lower()] in KEYS and not _is_long(c)]
        member = Member(
            source=source,
            name=table.name,
            columns=table.columns,
            kinds=kinds,
            primary_key=table.primary_key,
            rows_estimate=estimate,
        )
        return replace(member, rows=list(self._sample(member, [c.name for c in wanted], rows)))

    def _sample(self, member: Member, columns: Sequence[str], rows: int) -> Iterator[Mapping[str, Value]]:
        """From both ends of the primary key, which costs no scan."""
        if not columns:
            return
        names = ", ".join(quoted(name, self.dialect) for name in columns)
        select = f"SELECT {names} FROM {quoted_table(member.name, self.dialect)}"
        key = [quoted(name, self.dialect) for name in member.primary_key]
        halves = (
            [f"{select} LIMIT {rows}"]
            if not key
            else [
                f"{select} ORDER BY {', '.join(f'{name}{way}' for name in key)} LIMIT {rows // 2 + 1}"
                for way in ("", " DESC")
            ]
        )
        lower = [name.lower() for name in columns]
        for sql in halves:
            for row in self._reader(member.source).rows(sql):
                yield dict(zip(lower, row, strict=True))

    # -------------------------------------------------------------- the probe

    def count(self, member: Member) -> int:
        return int(self._one(member, "count(*)")[0])

    def extremes(self, member: Member, column: str) -> tuple[Value, Value]:
        name = self._quoted(member, column)
        low, high = self._one(member, f"MIN({name}), MAX({name})")
        return low, high

    def found(self, member: Member, column: str, values: Sequence[Value]) -> frozenset[Value]:
        name = self._quoted(member, column)
        marks = [exp.Placeholder(this=f"p{at}").sql(dialect=self.dialect) for at in range(len(values))]
        sql = f"SELECT DISTINCT {name} FROM {quoted_table(member.name, self.dialect)} WHERE {name} IN "
        params = {f"p{at}": value for at, value in enumerate(values)}
        return frozenset(v for (v,) in self._reader(member.source).rows(f"{sql}({', '.join(marks)})", params))

    def rows(self, member: Member, limit: int) -> Sequence[tuple[object, ...]]:
        names = ", ".join(sorted(quoted(column.name, self.dialect) for column in member.columns))
        place = quoted_table(member.name, self.dialect)
        return self._reader(member.source).rows(f"SELECT {names} FROM {place} LIMIT {limit}")

    def _quoted(self, member: Member, column: str) -> str:
        """A column, told in lower case, by the name that the server has it under."""
        names = (each.name for each in member.columns if each.name.lower() == column.lower())
        return quoted(next(names, column), self.dialect)

    def _one(self, member: Member, what: str) -> tuple[Any, ...]:
        place = quoted_table(member.name, self.dialect)
        (row,) = self._reader(member.source).rows(f"SELECT {what} FROM {place}")
        return row

    def _reader(self, source: str) -> SourceReader:
        if source not in self._readers:
            if len(self._readers) >= 16:
                self.close()
            self._readers[source] = self.opener(source)
        return self._readers[source]

    def close(self) -> None:
        """Closes what is open; what is asked again is opened again."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()


def _is_long(column: Column) -> bool:
    return column.type.lower().startswith(_LONG) and not column.type.lower().startswith("text(")


def listed(server: Server, opener: Callable[[str], SourceReader], root: str) -> list[str]:
    """The databases of a server, listed through its root source."""
    with closing(opener(root)) as reader:
        return server.databases(reader)
