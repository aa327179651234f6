"""The members' world with a file for each tenant, who is a VIRTUAL column, last in every split table."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb

import shardwise
from tests.oracle.cluster import Alone, Everywhere, Table
from tests.oracle.worlds import MEMBERS

NAMES = {
    "TEXT": ("acme", "Zed", "o'neill", "b_c", "10", "9", "é"),
    "BIGINT": ("7", "-3", "10", "9", "0", "123456789012", "8"),
    "DATE": (
        "2025-01-31",
        "2024-02-29",
        "1999-12-31",
        "2025-02-01",
        "2030-06-15",
        "0001-01-01",
        "2025-01-01",
    ),
    "UUID": tuple(f"{n:08x}-0000-4000-8000-{n * 7919:012x}" for n in (1, 255, 16, 4096, 7, 3, 10**9)),
}
"""Members by the type of the column; they sort otherwise as texts than as values."""


class DirectoryWorld:
    """`one` has all rows, `cluster` has them in `members` files, or in schemas of one file."""

    def __init__(self, folder: Path, members: int, *, product: str = "duckdb", type_: str = "TEXT") -> None:
        self.product = product
        self.members = NAMES[type_][:members]
        folder.mkdir(parents=True, exist_ok=True)
        self.one = duckdb.connect()
        self.one.execute("SET TimeZone = 'UTC'")
        self.texts = {table.name: self._rows(table) for table in MEMBERS.tables}
        for table in MEMBERS.tables:
            self._fill_one(table, type_)
        for view in VIEWS:
            self.one.execute(f"CREATE VIEW {view}")
        self._write(folder)
        path = folder / "cluster.sql"
        path.write_text(self._catalog(type_), encoding="utf-8")
        self.cluster = shardwise.open(path)

    def close(self) -> None:
        self.cluster.close()
        self.one.close()

    def _rows(self, table: Table) -> dict[str, list[tuple[object, ...]]]:
        """Rows by member; what is not split is at ''. The third of seven tenants has few."""
        if isinstance(table.place, Everywhere | Alone):
            return {"": [tuple(row) for row in table.rows]}
        found: dict[str, list[tuple[object, ...]]] = {name: [] for name in self.members}
        for number, row in enumerate(table.rows):
            found[self.members[(number * number + len(table.name)) % len(self.members)]].append(tuple(row))
        return found

    def _fill_one(self, table: Table, type_: str) -> None:
        split = not isinstance(table.place, Everywhere | Alone)
        self.one.execute(f"CREATE TABLE {table.name} ({table.columns}{f', tenant {type_} NOT NULL' * split})")
        for member, rows in self.texts[table.name].items():
            for row in rows:
                values = (*row, member) if split else row
                self.one.execute(f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(values))})", values)

    def _write(self, folder: Path) -> None:
        if self.product == "schemas":
            with duckdb.connect(str(folder / "all.duckdb")) as con:
                for member in self.members:
                    con.execute(f'CREATE SCHEMA "t_{member}"')
                    self._fill(con, member, f'"t_{member}".')
        for member in self.members if self.product != "schemas" else ():
            (folder / "files").mkdir(exist_ok=True)
            path = folder / "files" / f"{member}.{self.product}"
            if self.product == "sqlite":
                lite = sqlite3.connect(path)
                self._fill(lite, member)
                lite.commit()
                lite.close()
            else:
                with duckdb.connect(str(path)) as con:
                    self._fill(con, member)
        (folder / "files").mkdir(exist_ok=True)
        with duckdb.connect(str(folder / "main.duckdb")) as con:
            for table in MEMBERS.tables:
                if isinstance(table.place, Alone) or (
                    self.product == "schemas" and "" in self.texts[table.name]
                ):
                    self._fill_table(con, table, "", "")

    def _fill(
        self, con: duckdb.DuckDBPyConnection | sqlite3.Connection, member: str, schema: str = ""
    ) -> None:
        for table in MEMBERS.tables:
            if not isinstance(table.place, Alone):
                self._fill_table(con, table, member, schema)

    def _fill_table(
        self, con: duckdb.DuckDBPyConnection | sqlite3.Connection, table: Table, member: str, schema: str
    ) -> None:
        con.execute(f"CREATE TABLE {schema}{table.name} ({table.columns})")
        rows = self.texts[table.name].get(member) or self.texts[table.name].get("") or []
        for row in rows:
            con.execute(f"INSERT INTO {schema}{table.name} VALUES ({', '.join('?' * len(row))})", row)

    def _catalog(self, type_: str) -> str:
        schemas = self.product == "schemas"
        text = "CREATE CATALOG tenants DIALECT duckdb;\n"
        text += "CREATE SOURCE main URL 'duckdb:///main.duckdb' READ ONLY;\n"
        if schemas:
            text += "CREATE SOURCE lake URL 'duckdb:///all.duckdb' READ ONLY;\n"
            text += "CREATE SHARDING by_file USING DIRECTORY AS tenant ON lake;\n"
        else:
            url = f"{self.product}:///files/{{tenant}}.{self.product}"
            text += (
                f"CREATE SOURCE file_{{tenant}} FOR EACH tenant URL '{url}' READ ONLY WITH (open_max = 4);\n"
            )
            text += "CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};\n"
        for table in MEMBERS.tables:
            where = f"SHARD BY by_file (tenant {type_} VIRTUAL)" + " NAMED 't_{tenant}.{table}'" * schemas
            if isinstance(table.place, Everywhere):
                where = "ON main" if schemas else "REFERENCE ON by_file"
            if isinstance(table.place, Alone):
                where = "ON main"
            text += f"ATTACH TABLE {table.name} ({table.columns}) {where};\n"
        return text + "".join(f"CREATE VIEW {view};\n" for view in VIEWS)


VIEWS = (
    "every_u AS SELECT * FROM u",
    "per_tenant AS SELECT tenant, count(*) AS n, max(id) AS top FROM u GROUP BY tenant",
    "um AS SELECT u.tenant AS t, u.name, m.amt FROM u JOIN m ON u.tenant = m.tenant AND u.id = m.uid",
)
