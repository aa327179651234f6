"""catalog import and check on live servers, with a user who may SELECT and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shardwise
from shardwise.catalog import load
from shardwise.catalog.model import Table
from shardwise.catalog.shardings import hash_function
from shardwise.cli.catalog import app
from tests.servers import mariadb, postgres
from tests.servers.running import Server, new_name

MYSQL = (
    (
        "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT UNSIGNED NOT NULL DEFAULT 3, name VARCHAR(20), "
        "code VARCHAR(20) COLLATE utf8mb4_bin UNIQUE, kind ENUM('b','a'), price DECIMAL(9,2), "
        "at DATETIME(3), seen TIMESTAMP NULL, flag TINYINT(1), raw BLOB, doc JSON, KEY k (n))"
    ),
    "CREATE TABLE lists (id INT PRIMARY KEY, word CHAR(3))",
    "INSERT INTO lists VALUES (1, 'a'), (2, NULL)",
)
POSTGRES = (
    "CREATE TYPE mood AS ENUM ('sad', 'happy')",
    (
        "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT NOT NULL DEFAULT 3, name VARCHAR(20), "
        'code TEXT COLLATE "C" UNIQUE, kind mood, price NUMERIC(9,2), at TIMESTAMP(3), seen TIMESTAMPTZ, '
        "flag BOOLEAN, raw BYTEA, doc JSONB)"
    ),
    "CREATE INDEX ON t (n)",
    "CREATE UNIQUE INDEX ON t (lower(name))",
    "CREATE TABLE lists (id INT PRIMARY KEY, word CHAR(3))",
    "INSERT INTO lists VALUES (1, 'a'), (2, NULL)",
)


@pytest.fixture(params=["mysql", "postgres"])
def server(request: pytest.FixtureRequest) -> Server:
    return mariadb() if request.param == "mysql" else postgres()


class World:
    """Three databases, rows by id modulo 3, a reader, and a catalog that lists no columns."""

    def __init__(self, server: Server, folder: Path, dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server = server
        self.is_mysql = server.product == "mariadb"
        prefix = new_name("look")
        self.reader = new_name("reader")[:30]
        self.has_reader = False
        self.names = [
            server.database(*(MYSQL if self.is_mysql else POSTGRES), name=f"{prefix}_{number}")  # type: ignore[attr-defined]
            for number in range(3)
        ]
        for number, name in enumerate(self.names):
            self.run(
                number,
                *(
                    f"INSERT INTO t (id, name, code) VALUES ({i}, 'n{i}', 'c{i}')"
                    for i in range(number, 30, 3)
                ),
            )
            self._grant(name)
        monkeypatch.setenv("LOOK_PW", "let me in")
        self.path = folder / "cluster.sql"
        url = server.url(f"{prefix}_{{n}}", user=self.reader)
        self.path.write_text(f"""
            CREATE CATALOG c DIALECT {dialect};
            CREATE SOURCE d{{n}} FOR n IN 0-2 URL '{url}' PASSWORD ENV 'LOOK_PW' READ ONLY;
            CREATE SHARDING by_id USING MOD 3 AS n ON d{{n}};
            ATTACH TABLE t SHARD BY by_id (id) UNIQUE ACROSS SHARDS (code);
            ATTACH TABLE lists REFERENCE ON by_id;
        """)

    def run(self, number: int, *statements: str) -> None:
        self.server.run(*statements, database=self.names[number])  # type: ignore[attr-defined]

    def _grant(self, name: str) -> None:
        number = self.names.index(name)
        if self.is_mysql:
            self.run(
                number,
                f"CREATE USER IF NOT EXISTS {self.reader}@'%' IDENTIFIED BY 'let me in'",
                f"GRANT SELECT ON `{name}`.* TO {self.reader}@'%'",
            )
            return
        if not self.has_reader:
            self.run(number, f"CREATE USER {self.reader} PASSWORD 'let me in'")
            self.has_reader = True
        self.run(number, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {self.reader}")

    def catalog(self, *arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, [*arguments, "-c", str(self.path)], catch_exceptions=False)
        assert "let me in" not in result.output
        return result.exit_code, " ".join(result.output.split())

    def close(self) -> None:
        for name in self.names:
            self.server.run(f"DROP DATABASE {name}")  # type: ignore[attr-defined]


@pytest.fixture
def own(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """In the server's own dialect."""
    return World(server, tmp_path, "mysql" if server.product == "mariadb" else "postgres", monkeypatch)


def columns(path: Path, name: str) -> dict[str, str]:
    table = load(path).table(name)
    assert isinstance(table, Table)
    assert table.columns is not None
    return {
        c.name: f"{c.type}{'' if c.nullable else ' !'}{f' {c.collation}' if c.collation else ''}"
        for c in table.columns
    }


def test_import_in_the_servers_own_dialect(own: World) -> None:
    code, said = own.catalog("import")
    assert (code, "2 tables, 32 rows" in said) == (0, True), said
    found = columns(own.path, "t")
    table = load(own.path).table("t")
    assert isinstance(table, Table)
    assert table.primary_key == ("id",)
    assert ("code",) in table.unique
    assert ("name",) not in table.unique
    if own.is_mysql:
        assert found["id"] == "bigint(20) !"
        assert found["n"] == "int(10) unsigned !"
        assert found["name"] == "varchar(20) utf8mb4_general_ci"
        assert found["code"] == "varchar(20) utf8mb4_bin"
        assert found["kind"] == "enum('b','a') utf8mb4_general_ci"
        assert found["at"] == "datetime(3)"
    else:
        assert found["id"] == "bigint !"
        assert found["name"] == "character varying(20)"
        assert found["code"] == "text C"
        assert found["kind"] == "ENUM('sad', 'happy')"
        assert found["price"] == "numeric(9,2)"
        assert found["at"] == "timestamp(3) without time zone"
    assert own.catalog("check", "--rows") == (0, "2 tables checked, all rows: all as the catalog says")


def test_import_in_the_duckdb_dialect(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(server, tmp_path, "duckdb", monkeypatch)
    code, said = world.catalog("import")
    assert code == 0, said
    found = columns(world.path, "t")
    assert found["id"] == "BIGINT !"
    assert found["n"] == ("UINTEGER !" if world.is_mysql else "INTEGER !")
    assert found["name"] == "VARCHAR"
    assert found["price"] == "DECIMAL(9,2)"
    assert found["at"] == "TIMESTAMP"
    assert found["seen"] == "TIMESTAMPTZ"
    assert found["raw"] == "BLOB"
    assert world.catalog("check", "--rows") == (0, "2 tables checked, all rows: all as the catalog says")
    with shardwise.connect(str(world.path)) as con:
        assert con.execute("SELECT count(*), max(name) FROM t WHERE id IN (4, 5)").fetchone() == (2, "n5")


def test_columns_that_nobody_listed_are_learned(own: World) -> None:
    with shardwise.connect(str(own.path)) as con:
        assert con.execute("SELECT name FROM t WHERE id = 7").fetchall() == [("n7",)]


@pytest.mark.parametrize(
    ("what", "statements", "finding"),
    [
        (
            "type",
            ["ALTER TABLE t MODIFY n BIGINT UNSIGNED NOT NULL", "ALTER TABLE t ALTER n TYPE BIGINT"],
            "column-type: t.n on shard d1",
        ),
        (
            "null",
            ["ALTER TABLE t MODIFY n INT UNSIGNED NULL", "ALTER TABLE t ALTER n DROP NOT NULL"],
            "nullability: t.n on shard d1",
        ),
        (
            "collation",
            [
                "ALTER TABLE t MODIFY name VARCHAR(20) COLLATE utf8mb4_bin",
                'ALTER TABLE t ALTER code TYPE TEXT COLLATE "POSIX"',
            ],
            "collation: t.",
        ),
        ("column", ["ALTER TABLE t DROP COLUMN price"] * 2, "missing-column: t.price on shard d1"),
        ("more", ["ALTER TABLE t ADD COLUMN extra INT"] * 2, "extra-column: t.extra on shard d1"),
        ("table", ["DROP TABLE lists"] * 2, 'missing-table: lists on shard d1: expected "lists"'),
        ("shard", ["INSERT INTO t (id, code) VALUES (300, 'z')"] * 2, "wrong-shard: t.id on shard d1"),
        ("key", ["UPDATE t SET code = 'c0' WHERE id = 4"] * 2, "duplicate-key: t.code"),
        ("copy", ["UPDATE lists SET word = 'b' WHERE id = 1"] * 2, "reference-differs: lists on shard d1"),
    ],
    ids=lambda each: each if isinstance(each, str) and " " not in each else "",
)
def test_check_finds(own: World, what: str, statements: list[str], finding: str) -> None:
    assert own.catalog("import")[0] == 0
    own.run(1, statements[0 if own.is_mysql else 1])
    code, said = own.catalog("check", "--rows")
    assert finding in said
    assert code == (0 if what == "more" else 4)


def test_a_table_whose_shards_disagree_is_not_imported(own: World) -> None:
    own.run(
        1,
        "ALTER TABLE t MODIFY name VARCHAR(20) COLLATE utf8mb4_bin"
        if own.is_mysql
        else 'ALTER TABLE t ALTER code TYPE TEXT COLLATE "POSIX"',
    )
    code, said = own.catalog("import")
    assert code == 4
    assert "collation: t." in said
    assert "1 table, 2 rows" in said


def test_a_server_that_refuses_is_a_finding(own: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert own.catalog("import")[0] == 0
    monkeypatch.setenv("LOOK_PW", "wrong one")
    code, said = own.catalog("check")
    assert code != 0
    assert "wrong one" not in said


def test_tables_that_a_star_stands_for(own: World) -> None:
    own.path.write_text(own.path.read_text() + "ATTACH TABLE * ON d2;")
    own.run(2, "CREATE TABLE more (id INT PRIMARY KEY, word VARCHAR(9))")
    own._grant(own.names[2])
    code, said = own.catalog("import")
    assert (code, "3 tables, 32 rows" in said) == (0, True), said
    assert list(columns(own.path, "more")) == ["id", "word"]


def test_keys_that_differ_in_letter_case(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are two keys to the sharding, though MySQL takes them for one."""
    world = World(server, tmp_path, "mysql" if server.product == "mariadb" else "postgres", monkeypatch)
    world.path.write_text(
        world.path.read_text() + "CREATE SHARDING by_word USING HASH(crc32) SLOTS 3 AS n ON d{n};"
        "ATTACH TABLE words SHARD BY by_word (word);"
    )
    function = hash_function("crc32", 3)
    for number in range(3):
        words = [w for w in ("ann", "ANN", "Ann", "aNN", "bob", "BOB") if function.slot((w,)) == number]
        world.run(number, "CREATE TABLE words (word VARCHAR(9))")
        world.run(number, *(f"INSERT INTO words VALUES ('{word}')" for word in words))
        world._grant(world.names[number])
    assert world.catalog("check", "--rows", "words") == (
        0,
        "1 table checked, all rows: all as the catalog says",
    )
    (wrong,) = [n for n in range(3) if n == (function.slot(("ANN",)) + 1) % 3]
    world.run(wrong, "INSERT INTO words VALUES ('ANN')")
    assert "wrong-shard: words.word" in world.catalog("check", "--rows", "words")[1]


def test_a_schema_for_each_tenant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = postgres()
    statements = [
        statement
        for tenant in ("acme", "globex", "7")
        for statement in (
            f"CREATE SCHEMA tenant_{tenant}",
            f"CREATE TABLE tenant_{tenant}.orders (id INT PRIMARY KEY, total NUMERIC(9,2) NOT NULL)",
            f"INSERT INTO tenant_{tenant}.orders VALUES (1, 2.50), (2, 3)",
        )
    ]
    name = server.database(*statements)
    monkeypatch.setenv("LOOK_PW", server.password)
    path = tmp_path / "cluster.sql"
    path.write_text(f"""
        CREATE CATALOG c DIALECT postgres;
        CREATE SOURCE pg URL '{server.url(name)}' PASSWORD ENV 'LOOK_PW' READ ONLY;
        CREATE SHARDING by_schema USING DIRECTORY AS tenant ON pg;
        ATTACH TABLE erp.* SHARD BY by_schema (tenant TEXT VIRTUAL) NAMED 'tenant_{{tenant}}.{{table}}';
    """)
    result = CliRunner().invoke(app, ["import", "-c", str(path)], catch_exceptions=False)
    assert (result.exit_code, "1 table, 6 rows" in result.output) == (0, True), result.output
    result = CliRunner().invoke(app, ["check", "--rows", "-c", str(path)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    with shardwise.connect(str(path)) as con:
        found = con.execute(
            "SELECT tenant, sum(total) FROM erp.orders GROUP BY tenant ORDER BY tenant"
        ).fetchall()
    assert [(tenant, str(total)) for tenant, total in found] == [
        ("7", "5.50"),
        ("acme", "5.50"),
        ("globex", "5.50"),
    ]


class Tenants:
    """Two tables by a text key, on three MariaDB databases; `places` is what the catalog says of them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        server, prefix = mariadb(), new_name("tenants")
        column = "tenant VARCHAR(40) COLLATE utf8mb4_general_ci"
        ddl = [f"CREATE TABLE {table} ({column})" for table in ("a", "b")]
        self.names = [server.database(*ddl, name=f"{prefix}_{n}") for n in range(3)]
        self.server, self.path = server, folder / "cluster.sql"
        self.prefix = prefix
        monkeypatch.setenv("LOOK_PW", server.password)

    def check(
        self, places: str, *rows: str, of_a: str | None = None, options: tuple[str, ...] = ("--rows",)
    ) -> tuple[int, list[str]]:
        """What is found where table b has `rows` beside thirty that are spelled alike in both, a "acme"."""
        function = hash_function("crc32", 3)
        common = [f"t-{n}" for n in range(30)]
        for table, texts in (("a", [*common, "acme"]), ("b", [*common, *rows])):
            for number, name in enumerate(self.names):
                mine = [(text,) for text in texts if function.slot((text,)) == number]
                self.server.run(f"DELETE FROM {table}", database=name)
                self.server.insert(name, table, mine)
        url = self.server.url(f"{self.prefix}_{{n}}")
        self.path.write_text(f"""
            CREATE CATALOG c DIALECT mysql;
            CREATE SOURCE d{{n}} FOR n IN 0-2 URL '{url}' PASSWORD ENV 'LOOK_PW' READ ONLY;
            CREATE SHARDING by_tenant USING HASH(crc32) SLOTS 3 AS n ON d{{n}};
            ATTACH TABLE a SHARD BY by_tenant (tenant) {places if of_a is None else of_a};
            ATTACH TABLE b SHARD BY by_tenant (tenant) {places};
        """)
        result = CliRunner().invoke(app, ["check", *options, "-c", str(self.path)], catch_exceptions=False)
        return result.exit_code, result.output.splitlines()


@pytest.fixture
def tenants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tenants]:
    found = Tenants(tmp_path, monkeypatch)
    yield found
    for name in found.names:
        found.server.run(f"DROP DATABASE {name}")


@pytest.mark.parametrize(
    ("spelling", "rows", "says"),
    [
        ("LOWER", ("acme", ""), None),
        ("LOWER", ("Acme",), "values otherwise, such as 'Acme'"),
        ("LOWER", ("ácme",), "values otherwise, such as 'ácme'"),
        ("UPPER", (), "values otherwise, such as 't-"),
        ("", ("Ann", "北京", "ZOE"), None),
        ("", ("Ann ",), "values otherwise, such as 'Ann '"),
        ("", ("Acme",), "otherwise, such as 'Acme', which is 'acme' in a"),
        ("", ("T-7",), "otherwise, such as 'T-7', which is 't-7' in a"),
        ("", ("Zoë", "zoe"), "1 of 14 otherwise, such as 'Zoë', which is 'zoe' in b"),
        ("", ("🍣", "🍺"), "in b"),
    ],
)
def test_exact_columns_are_spelled_as_promised(
    tenants: Tenants, spelling: str, rows: tuple[str, ...], says: str | None
) -> None:
    code, said = tenants.check(f"EXACT {spelling} (tenant)", *rows)
    found = [line for line in said if line.startswith("spelling: ")]
    if says is None:
        assert (code, found) == (0, []), said
    else:
        assert code == 4
        assert any(says in line for line in found), said


@pytest.mark.parametrize(
    ("rows", "proposed"),
    [
        (("acme",), "EXACT LOWER (tenant)"),
        (("Acme",), "EXACT (tenant)"),
        (("Acme", "ACME"), None),
        (("acme ",), None),
    ],
)
def test_a_text_key_that_could_be_exact_is_told(
    tenants: Tenants, rows: tuple[str, ...], proposed: str | None
) -> None:
    code, said = tenants.check("", *rows)
    assert code == 0
    of_b = [line for line in said if line.startswith("not-exact: b.tenant: ")]
    if proposed is None:
        assert of_b == []
    else:
        (line,) = of_b
        wanted = f"it could be {proposed}, for all 31 values are spelled so. If that stays true, declare it: "
        assert line.endswith(f"{wanted}then queries by it ask one shard")
    assert said[-1] == "2 tables checked, all rows: all as the catalog says"


def test_columns_of_another_spelling_are_not_joined_on_their_shards(tenants: Tenants) -> None:
    """So their values may differ."""
    assert tenants.check("EXACT (tenant)", "Acme", of_a="EXACT LOWER (tenant)")[0] == 0


def test_what_is_proposed_is_found_to_hold(tenants: Tenants) -> None:
    tenants.check("EXACT LOWER (tenant)", "acme")
    code, said = tenants.check("EXACT LOWER (tenant)", "acme", options=())
    assert (code, said) == (0, ["2 tables checked, a sample of the rows: all as the catalog says"])
