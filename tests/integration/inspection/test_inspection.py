"""catalog import and catalog check, over DuckDB files opened directly."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shardwise.catalog.language import parse
from shardwise.catalog.model import Catalog, Sharding
from shardwise.errors import NotSupportedError, ShardUnavailable
from shardwise.inspection import Extent, Finding, Kind, check, import_tables
from shardwise.inspection.drift import normal_type

CATALOG = """
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 2 AS n ON s{n};
CREATE SHARDING by_name USING HASH(crc32) SLOTS 4 AS n ON s{n // 2};
ATTACH TABLE users SHARD BY by_id (id) UNIQUE ACROSS SHARDS (email);
ATTACH TABLE pets SHARD BY by_name (name) NAMED 'pets_{n}';
ATTACH TABLE notes SHARD WITH users ON user_id = users.id;
ATTACH TABLE kinds REFERENCE ON by_id;
ATTACH TABLE * ON s0;
"""

USERS = """
CREATE TABLE users (
    id BIGINT PRIMARY KEY, email VARCHAR COLLATE nocase, city VARCHAR NOT NULL, UNIQUE (city, id)
)"""


class Reader:
    """An open DuckDB file."""

    dialect = "duckdb"

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise ShardUnavailable(f'the file of "{path.stem}" is missing', shard=path.stem)
        self.connection = duckdb.connect(str(path), read_only=True)

    def rows(self, sql: str, params: Any = None, wanted: Any = None) -> Sequence[tuple[Any, ...]]:
        return self.connection.sql(sql, params=params).fetchall()

    def close(self) -> None:
        self.connection.close()


class World:
    """Two files as the catalog wants them, and what may be done to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalog: Catalog = parse(CATALOG)

    def build(self) -> None:
        pets = self.catalog.sharding("by_name")
        for n in range(2):
            with duckdb.connect(str(self.folder / f"s{n}.duckdb")) as connection:
                self._fill(connection, n, pets)

    def _fill(self, connection: duckdb.DuckDBPyConnection, n: int, pets: Sharding) -> None:
        run = connection.execute
        run(USERS)
        run(f"INSERT INTO users SELECT i, 'u' || i, 'Oslo' FROM range({n}, 20, 2) t(i)")
        run("CREATE TABLE notes (user_id BIGINT, body VARCHAR)")
        run(f"INSERT INTO notes SELECT i, 'hi' FROM range({n}, 20, 2) t(i)")
        run("CREATE TABLE kinds (k VARCHAR, v INTEGER)")
        run(f"INSERT INTO kinds SELECT * FROM (VALUES ('a', 1), ('b', 2)) ORDER BY 1 {'DESC' if n else ''}")
        for slot in (2 * n, 2 * n + 1):
            run(f"CREATE TABLE pets_{slot} (name VARCHAR)")
            for name in ("rex", "tom", "ivy", "lou", None):
                if pets.function.slot((name,)) == slot:
                    run(f"INSERT INTO pets_{slot} VALUES (?)", [name])
        if n == 0:
            run("CREATE TABLE \"Extra\" (x DECIMAL(9,2), m ENUM('a', 'B'))")

    def sql(self, shard: int, text: str, params: Sequence[Any] = ()) -> None:
        with duckdb.connect(str(self.folder / f"s{shard}.duckdb")) as connection:
            connection.execute(text, params)

    def open(self, name: str) -> Reader:
        return Reader(self.folder / f"{name}.duckdb")

    def check(self, **extent: Any) -> list[Finding]:
        return list(check(self.catalog, self.open, Extent(**extent)))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    World(folder).build()
    return folder


@pytest.fixture
def world(built: Path, tmp_path: Path) -> World:
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return World(tmp_path)


def test_import_reads_columns_keys_collations_and_counts(world: World) -> None:
    imported = import_tables(world.catalog, world.open, read_at="2026-01-02T03:04:05Z")
    assert imported.findings == ()
    tables = {table.name: table for table in imported.tables}
    assert list(tables) == ["users", "pets", "notes", "kinds", "Extra"]
    users = tables["users"]
    assert [(c.name, c.type, c.nullable, c.collation) for c in users.columns] == [
        ("id", "BIGINT", False, None),
        ("email", "VARCHAR", True, "nocase"),
        ("city", "VARCHAR", False, None),
    ]
    assert users.primary_key == ("id",)
    assert ("city", "id") in users.unique
    assert (users.rows, tables["pets"].rows, tables["kinds"].rows) == (20, 5, 2)


def test_what_was_imported_is_read_back(world: World) -> None:
    imported = import_tables(world.catalog, world.open, read_at="2026-01-02T03:04:05Z")
    catalog = world.catalog.with_(*imported.tables)
    lock = catalog.lock_to_sql()
    assert "2026-01-02T03:04:05Z" in lock
    assert parse(CATALOG + lock) == catalog
    extra = catalog.table("extra")
    assert extra is not None
    assert extra.columns[1].type == "ENUM('a', 'B')"


def test_only_some_tables(world: World) -> None:
    told: list[str] = []
    imported = import_tables(world.catalog, world.open, only=["PETS"], on_table=told.append)
    assert [table.name for table in imported.tables] == told == ["pets"]


def test_import_leaves_out_a_table_whose_shards_disagree(world: World) -> None:
    world.sql(1, "ALTER TABLE notes ALTER body TYPE INTEGER USING 1")
    imported = import_tables(world.catalog, world.open)
    assert "notes" not in [table.name for table in imported.tables]
    (finding,) = imported.findings
    assert str(finding) == "column-type: notes.body on shard s1: expected VARCHAR, found INTEGER"


@pytest.mark.parametrize(("shard", "table", "altered"), [(1, "notes", "notes"), (1, "pets", "pets_3")])
def test_a_column_that_only_some_have_is_told_and_not_taken(
    world: World, shard: int, table: str, altered: str
) -> None:
    before = import_tables(world.catalog, world.open, only=[table])
    world.sql(shard, f"ALTER TABLE {altered} ADD COLUMN mood VARCHAR")
    imported = import_tables(world.catalog, world.open, only=[table])
    assert [str(f) for f in imported.findings] == [f"extra-column: {table}.mood on shard s1: found VARCHAR"]
    assert not imported.findings[0].is_error
    assert imported.tables == before.tables


def test_a_column_that_others_miss_keeps_the_former_entry(world: World) -> None:
    before = world.catalog.with_(*import_tables(world.catalog, world.open).tables)
    world.sql(0, "ALTER TABLE notes ADD COLUMN mood VARCHAR")
    imported = import_tables(before, world.open)
    assert [str(f) for f in imported.findings] == ["missing-column: notes.mood on shard s1: expected VARCHAR"]
    assert before.with_(*imported.tables).table("notes") == before.table("notes")


def test_import_takes_the_wider_nullability(world: World) -> None:
    world.sql(1, "ALTER TABLE kinds ALTER k SET NOT NULL")
    world.sql(0, "ALTER TABLE kinds ALTER v SET NOT NULL")
    imported = import_tables(world.catalog, world.open, only=["kinds"])
    assert [c.nullable for c in imported.tables[0].columns] == [True, True]


def test_import_of_a_missing_file_says_which_shard(world: World) -> None:
    (world.folder / "s1.duckdb").unlink()
    with pytest.raises(ShardUnavailable) as raised:
        import_tables(world.catalog, world.open)
    assert raised.value.shard == "s1"


def test_a_clean_cluster_has_no_findings(world: World) -> None:
    assert world.check() == []
    assert world.check(sample_rows=None, keys=True) == []


@pytest.mark.parametrize(
    ("shard", "sql", "expected"),
    [
        (1, "ALTER TABLE kinds ADD COLUMN z INTEGER", "extra-column: kinds.z on shard s1: found INTEGER"),
        (1, "ALTER TABLE kinds DROP COLUMN v", "missing-column: kinds.v on shard s1: expected INTEGER"),
        (1, "DROP TABLE notes", 'missing-table: notes on shard s1: expected "notes"'),
        (
            0,
            "ALTER TABLE notes ALTER body SET NOT NULL",
            "nullability: notes.body on shard s1: expected NOT NULL, found NULL allowed",
        ),
        (
            1,
            "DELETE FROM kinds",
            "reference-differs: kinds on shard s1: expected the 2 rows of shard s0, found 0 rows",
        ),
        (
            1,
            "UPDATE kinds SET v = 7",
            (
                "reference-differs: kinds on shard s1: expected the 2 rows of shard s0, "
                "found other values in as many rows"
            ),
        ),
        (
            1,
            "INSERT INTO users VALUES (100, 'new', 'Rome')",
            (
                "wrong-shard: users.id on shard s1: expected slots 1 of by_id, "
                "found 1 of 11 rows elsewhere, such as id = 100"
            ),
        ),
        (
            0,
            "INSERT INTO users VALUES (30, 'u1', 'Rome')",
            (
                "duplicate-key: users.email: expected unique across shards, "
                "found 1 values more than once, such as u1"
            ),
        ),
        (
            0,
            "INSERT INTO notes VALUES (1, 'elsewhere')",
            (
                "wrong-shard: notes.user_id on shard s0: expected a row of users with that id on the same "
                "shard, found 1 of 11 rows without"
            ),
        ),
    ],
)
def test_check_finds(world: World, shard: int, sql: str, expected: str) -> None:
    world.sql(shard, sql)
    assert expected in [str(finding) for finding in world.check(sample_rows=None, keys=True)]


def test_check_finds_rows_in_the_wrong_partition(world: World) -> None:
    slot = world.catalog.sharding("by_name").function.slot(("rex",))
    other = slot ^ 1  # its neighbour, on the same shard
    world.sql(other // 2, f"INSERT INTO pets_{other} VALUES ('rex')")
    (finding,) = world.check(sample_rows=None)
    assert (finding.kind, finding.table, finding.shard) == (Kind.WRONG_SHARD, "pets", f"s{other // 2}")
    assert finding.expected == f"slots {other} of by_name"
    assert finding.found is not None
    assert finding.found.endswith("such as name = rex")


def test_check_goes_on_past_a_missing_shard(world: World) -> None:
    (world.folder / "s1.duckdb").unlink()
    findings = world.check()
    assert [f.kind for f in findings] == [Kind.SHARD_UNAVAILABLE]
    assert findings[0].shard == "s1"


@pytest.mark.parametrize(
    ("written", "duckdb_writes"),
    [
        ("varchar(40)", "VARCHAR"),
        ("text", "VARCHAR"),
        ("int", "INTEGER"),
        ("decimal(12, 2)", "DECIMAL(12,2)"),
        ("NUMERIC", "DECIMAL(18,3)"),
        ("decimal(5)", "DECIMAL(5,0)"),
        ("timestamptz", "TIMESTAMP WITH TIME ZONE"),
        ("ENUM('a', 'B')", "ENUM('a', 'B')"),
    ],
)
def test_types_are_compared_as_duckdb_has_them(written: str, duckdb_writes: str) -> None:
    assert normal_type(written) == normal_type(duckdb_writes)


def test_enums_with_other_members_differ() -> None:
    assert normal_type("ENUM('a')") != normal_type("ENUM('A')")


ASKED = (lambda c: import_tables(c, no_source), lambda c: list(check(c, no_source, Extent())))


@pytest.mark.parametrize("ask", ASKED)
def test_a_source_of_another_product_is_refused_before_it_is_read(ask: Callable[[Catalog], object]) -> None:
    """Its tables would be read in words that no query of the catalog's dialect understands."""
    catalog = parse("CREATE CATALOG c DIALECT postgres; CREATE SOURCE a URL 'mysql://u@h/d';")
    with pytest.raises(NotSupportedError) as caught:
        ask(catalog)
    assert str(caught.value) == (
        "a catalog of the postgres dialect has sources of postgres only, not of mysql. "
        "Write CREATE CATALOG … DIALECT mysql; or DIALECT duckdb to ask sources of several products at once"
    )


def no_source(name: str) -> Reader:
    raise AssertionError(f"{name} was opened")
