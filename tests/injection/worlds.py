"""A table whose rows are the corpus, over shards of each dialect, on servers whose defaults are hostile."""

from __future__ import annotations

import os
import re
import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

import shardwise
from shardwise.catalog import parse
from tests.injection.corpus import BYTES, NUL, TEXTS
from tests.servers.mariadb_server import private_mariadb
from tests.servers.postgres_server import private_postgres

PASSWORD = "SHARDWISE_TEST_INJECTION"
"""The environment's name of a password; each product has its own."""
Row = tuple[int, str | None, bytes | None]
_MARIADB = (
    "--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT",
    "--character-set-server=gbk",
    "--collation-server=gbk_chinese_ci",
    "--init-connect=SET NAMES gbk",
    "--log-output=FILE",
    "--general-log=ON",
    "--general-log-file={files}/../general.log",
)
_POSTGRES = (
    "standard_conforming_strings=off",
    "backslash_quote=on",
    "escape_string_warning=off",
    "client_encoding=SJIS",
    "log_statement=all",
)


class World(ABC):
    """`dialect` is the query's; `texts` are those that its sources hold."""

    dialect = ""
    texts: tuple[str, ...] = TEXTS
    columns = "id BIGINT, s VARCHAR, b BLOB"
    name_may_end_blank = True
    takes_nul = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: list[Row] = [(i, text, text.encode()) for i, text in enumerate(self.texts)]
        self.rows += [(len(self.rows) + i, None, each) for i, each in enumerate(BYTES)]
        sources = self.placed()
        self.sources = "".join(f"CREATE SOURCE s{i} {source};" for i, source in enumerate(sources))
        self.count = len(sources)
        self.cluster = self.opened(f"ATTACH TABLE v ({self.columns}) SHARD BY by_id (id);")

    @abstractmethod
    def placed(self) -> list[str]:
        """Makes the sources, each with its rows and a canary; as the catalog has them."""

    @abstractmethod
    def run(self, shard: int, *statements: str) -> list[tuple[Any, ...]]:
        """By the product's own driver."""

    def name(self, shard: int, name: str) -> str:
        """A name in the shard's own SQL."""
        return '"' + name.replace('"', '""') + '"'

    def opened(self, tables: str) -> shardwise.Cluster:
        """A cluster of other tables."""
        sharding = f"CREATE SHARDING by_id USING MOD {self.count} AS n ON s{{n}};"
        text = f"CREATE CATALOG c DIALECT {self.dialect};{self.sources}{sharding}{tables}"
        return shardwise.open(parse(text))

    def literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def more_literals(self, text: str) -> list[str]:
        """Other ways to write it, which may be refused."""
        return []

    def blob(self, value: bytes) -> str:
        return f"X'{value.hex()}'"

    def quoted(self, name: str) -> str:
        """A name in the query's dialect."""
        return '"' + name.replace('"', '""') + '"'

    def check(self) -> None:
        """The canaries are alive, and nobody's name was spoken."""
        for shard in range(self.count):
            assert self.run(shard, "SELECT count(*) FROM canary") == [(1,)]
        for statement in self.logged():
            assert "canary" not in _QUOTED[self.dialect].sub("''", statement).lower(), statement

    def logged(self) -> list[str]:
        """What the servers were asked, but for what the tests ask themselves."""
        return []

    def close(self) -> None:
        self.cluster.close()

    def of(self, shard: int) -> list[Row]:
        return [row for row in self.rows if row[0] % 2 == shard]


_ANSI = re.compile(r"""[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(q?)\$.*?\$\1\$""", re.DOTALL)
_QUOTED = {
    "mysql": re.compile(r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`""", re.DOTALL),
    "postgres": _ANSI,
}


class MySQL(World):
    dialect = "mysql"
    name_may_end_blank = False
    texts = TEXTS + NUL
    columns = "id BIGINT, s TEXT, b LONGBLOB"

    def placed(self) -> list[str]:
        self.server = private_mariadb("hostile", *_MARIADB)
        self.server.run("CREATE USER IF NOT EXISTS reader@'%' IDENTIFIED BY 'it''s \\\\ \"x'")
        os.environ[f"{PASSWORD}_MYSQL"] = self.server.run("SELECT 'it''s \\\\ \"x'")[0][0]
        self.databases = []
        for shard in range(2):
            database = self.server.database(
                "CREATE TABLE canary (id INT)",
                "INSERT INTO canary VALUES (1)",
                "CREATE TABLE v (id BIGINT PRIMARY KEY, b LONGBLOB, s TEXT CHARACTER SET utf8mb4 COLLATE"
                " utf8mb4_nopad_bin)",
            )
            self.server.run(f"GRANT ALL ON `{database}`.* TO reader@'%'")
            with closing(self.server.connect(database)) as con, con.cursor() as cursor:
                cursor.execute("SET sql_mode = ''")  # the driver escapes by backslashes
                cursor.executemany("INSERT INTO v (id, s, b) VALUES (%s, %s, %s)", self.of(shard))
            self.databases.append(database)
        return [
            f"URL '{self.server.url(each, user='reader')}' PASSWORD ENV '{PASSWORD}_MYSQL'"
            for each in self.databases
        ]

    def run(self, shard: int, *statements: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.server.run(*statements, database=self.databases[shard])
        return found

    def name(self, shard: int, name: str) -> str:
        return self.quoted(name)

    def literal(self, text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "\\0")
        return f"'{escaped}'"

    def more_literals(self, text: str) -> list[str]:
        doubled = text.replace("\\", "\\\\").replace('"', '""').replace("\0", "\\0")
        found = [f'"{doubled}"', f"_utf8mb4 X'{text.encode().hex()}'"]
        is_short = all(each <= "\uffff" for each in text)  # N'…' is of three bytes a character
        return [*found, f"N{self.literal(text)}"] if is_short else found

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def logged(self) -> list[str]:
        assert self.server.folder is not None
        text = (Path(self.server.folder) / "general.log").read_text("utf-8", "replace")
        starts = list(re.finditer(r"^(?:\d+ +[\d:]+)?\t+ *(\d+) (\w+)\t", text, re.MULTILINE))
        ends = [each.start() for each in starts[1:]] + [len(text)]
        readers: set[str] = set()
        found = []
        for each, end in zip(starts, ends, strict=True):
            told = text[each.end() : end]
            if each[2] == "Connect":
                readers = readers | {each[1]} if told.startswith("reader@") else readers - {each[1]}
            elif each[1] in readers:
                found.append(told)
        assert found
        return found


class PostgreSQL(World):
    dialect = "postgres"
    takes_nul = False
    columns = "id BIGINT, s VARCHAR, b BYTEA"

    def placed(self) -> list[str]:
        self.server = private_postgres("hostile", *_POSTGRES)
        os.environ[f"{PASSWORD}_POSTGRES"] = self.server.password
        self.databases = []
        for shard in range(2):
            database = self.server.database(
                "CREATE TABLE canary (id INT)",
                "INSERT INTO canary VALUES (1)",
                "CREATE TABLE v (id BIGINT PRIMARY KEY, b BYTEA, s VARCHAR)",
            )
            with self.server.connect(database, client_encoding="UTF8") as con, con.cursor() as cursor:
                cursor.executemany("INSERT INTO v (id, s, b) VALUES (%s, %s, %s)", self.of(shard))
            self.databases.append(database)
        return [
            f"URL '{self.server.url(each)}' PASSWORD ENV '{PASSWORD}_POSTGRES'" for each in self.databases
        ]

    def run(self, shard: int, *statements: str) -> list[tuple[Any, ...]]:
        with self.server.connect(self.databases[shard], client_encoding="UTF8") as con:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                cursor = con.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
        return rows

    def more_literals(self, text: str) -> list[str]:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        unicode = "".join(f"\\+{ord(each):06x}" for each in text)
        return [f"E'{escaped}'", f"$q${text}$q$", f"U&'{unicode}'"]

    def blob(self, value: bytes) -> str:
        return f"'\\x{value.hex()}'::bytea"

    def logged(self) -> list[str]:
        assert self.server.folder is not None
        text = (Path(self.server.folder) / "server.log").read_text("utf-8", "replace")
        found = re.split(r"^\d[^\n]*?LOG:  ", text, flags=re.MULTILINE)
        found = [each for each in found if each.startswith(("statement:", "execute shardwise"))]
        assert found
        return [each for each in found if not _THE_TESTS_OWN.match(each)]


_THE_TESTS_OWN = re.compile(r"statement: (CREATE|INSERT|DROP|ALTER|SELECT count\(\*\) FROM canary)")


class SQLite(World):
    dialect = "sqlite"
    columns = "id INTEGER, s TEXT, b BLOB"

    def placed(self) -> list[str]:
        for shard in range(2):
            made = "CREATE TABLE canary (id INT); INSERT INTO canary VALUES (1);"
            with closing(sqlite3.connect(self.folder / f"{shard}.sqlite")) as con:
                con.executescript(f"{made} CREATE TABLE v (id INTEGER PRIMARY KEY, s TEXT, b BLOB)")
                con.executemany("INSERT INTO v VALUES (?, ?, ?)", self.of(shard))
                con.commit()
        return [f"URL 'sqlite:///{self.folder}/{shard}.sqlite'" for shard in range(2)]

    def run(self, shard: int, *statements: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.folder / f"{shard}.sqlite")) as con:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                rows = con.execute(statement).fetchall()
            con.commit()
        return rows


class DuckDB(World):
    """Files alone."""

    dialect = "duckdb"
    texts = TEXTS + NUL

    def placed(self) -> list[str]:
        for shard in range(2):
            with duckdb.connect(str(self.folder / f"{shard}.duckdb")) as con:
                con.execute("CREATE TABLE canary AS SELECT 1 AS id")
                con.execute("CREATE TABLE v (id BIGINT, s VARCHAR, b BLOB)")
                for row in self.of(shard):
                    con.execute("INSERT INTO v VALUES (?, ?, ?)", row)
        return [f"URL 'duckdb:///{self.folder}/{shard}.duckdb'" for shard in range(2)]

    def run(self, shard: int, *statements: str) -> list[tuple[Any, ...]]:
        self.cluster.close()
        with duckdb.connect(str(self.folder / f"{shard}.duckdb")) as con:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                rows = con.execute(statement).fetchall()
        self.cluster = self.opened(f"ATTACH TABLE v ({self.columns}) SHARD BY by_id (id);")
        return rows

    def more_literals(self, text: str) -> list[str]:
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        return [f"E'{escaped}'", f"$q${text}$q$"]

    def blob(self, value: bytes) -> str:
        return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"


class Mixed(World):
    """DuckDB's dialect over a shard each on the two servers, in a SQLite file and in one of DuckDB's."""

    dialect = "duckdb"
    name_may_end_blank = False
    takes_nul = False
    blob = DuckDB.blob
    more_literals = DuckDB.more_literals

    def placed(self) -> list[str]:
        kinds: tuple[type[World], ...] = (MySQL, PostgreSQL, SQLite, DuckDB)
        self.parts: list[World] = []
        for number, kind in enumerate(kinds):
            folder = self.folder / str(number)
            folder.mkdir()
            self.parts.append(_part(kind, folder, [row for row in self.rows if row[0] % 4 == number]))
        return [part.placed()[0] for part in self.parts]

    def run(self, shard: int, *statements: str) -> list[tuple[Any, ...]]:
        part = self.parts[shard]
        if not isinstance(part, DuckDB):
            return part.run(0, *statements)
        self.cluster.close()
        with duckdb.connect(str(part.folder / "0.duckdb")) as con:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                rows = con.execute(statement).fetchall()
        self.cluster = self.opened(f"ATTACH TABLE v ({self.columns}) SHARD BY by_id (id);")
        return rows

    def name(self, shard: int, name: str) -> str:
        return self.parts[shard].name(0, name)

    def check(self) -> None:
        for part in self.parts:
            if not isinstance(part, DuckDB):
                part.count = 1
                part.check()


def _part(kind: type[World], folder: Path, rows: list[Row]) -> World:
    """A world of one source that is a part of another's."""
    made = kind.__new__(kind)
    made.folder = folder
    made.rows = rows
    made.of = lambda shard: rows if shard == 0 else []  # type: ignore[method-assign]
    return made


WORLDS: dict[str, type[World]] = {
    "mysql": MySQL,
    "postgres": PostgreSQL,
    "sqlite": SQLite,
    "duckdb": DuckDB,
    "mixed": Mixed,
}
