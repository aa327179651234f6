"""Indexes over shards: built, stopped and gone on with, compared, put right, dropped."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import pytest

import shardwise
from shardwise.catalog import load
from shardwise.catalog.model import JoinIndex
from shardwise.catalog.tables import Built
from shardwise.dbapi import Connection
from shardwise.errors import (
    Cancelled,
    CatalogError,
    DataError,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    UnknownName,
)
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.session.indexes import Asked, Progress, build, declare
from tests.integration.session.indexed import INDEXES, INVOICES_NO, VISITS, World

PRODUCTS = {
    "duckdb": (("duckdb",), "duckdb"),
    "sqlite": (("sqlite",), "duckdb"),
    "sqlite dialect": (("sqlite",), "sqlite"),
    "mixed": (("duckdb", "sqlite"), "duckdb"),
}


def _world(folder: Path, shards: int = 3, products: str = "duckdb", **more: object) -> World:
    sources, dialect = PRODUCTS[products]
    made = World(folder, shards, sources, dialect, **more)  # type: ignore[arg-type]
    made.make()
    return made


def _state(path: Path, index: str) -> Built | None:
    """As the lock file says: whoever opens the catalog next reads it."""
    catalog = load(path)
    found = catalog.index(index)
    state = catalog.state_of(found) if found is not None else None
    return state.state if state is not None else None


class Stopped(Exception):
    """What a test stops a build by."""


def _build(
    con: Connection, statement: str, *, stop_at: int | None = None, batch_rows: int = 20
) -> list[Progress]:
    """Builds in small batches; `stop_at` steps after the beginning it is stopped."""
    steps: list[Progress] = []

    def watch(progress: Progress) -> None:
        if len(steps) == stop_at:
            raise Stopped
        steps.append(progress)

    cluster = con.cluster
    asked = Asked(options=Options(), guard=Guard(Options()), watcher=watch, batch_rows=batch_rows)
    build(cluster, declare(cluster, statement), asked)
    return steps


@pytest.mark.parametrize(
    ("shards", "products"),
    [
        *((1, "duckdb"), (3, "duckdb"), (2, "mixed"), (7, "mixed"), (3, "sqlite")),
        *((n, "sqlite dialect") for n in (1, 2, 3, 7)),
    ],
)
def test_an_index_holds_what_its_tables_do(tmp_path: Path, shards: int, products: str) -> None:
    world = _world(tmp_path, shards, products)
    with closing(world.connect()) as con:
        for name, (statement, rows) in INDEXES.items():
            (made,) = con.execute(statement).fetchall()
            assert made[:2] == (name, len(rows(world)))
            assert con.execute(f"CHECK {_kind(con, name)} INDEX {name}").fetchall() == []
        con.close()
        for name, (_, rows) in INDEXES.items():
            with closing(world.connect()) as again:
                expected = world.expected(again, name, rows(world))
            assert world.found(name) == expected
            assert _state(tmp_path / "cluster.sql", name) is Built.VALID


@pytest.mark.parametrize("products", ["mixed", "sqlite dialect"])
def test_of_empty_tables_it_is_empty(tmp_path: Path, products: str) -> None:
    world = _world(tmp_path, 2, products, rows={"clicks": [], "pages": [], "invoices": []})
    with closing(world.connect()) as con:
        for name, (statement, _) in INDEXES.items():
            assert con.execute(statement).fetchall()[0][1] == 0
            assert con.execute(f"CHECK {_kind(con, name)} INDEX {name} REPAIR").fetchall() == []


@pytest.mark.parametrize("products", ["mixed", "sqlite dialect"])
def test_a_build_that_stopped_after_any_step_is_gone_on_with(tmp_path: Path, products: str) -> None:
    world = _world(tmp_path, 3, products)
    path = tmp_path / "cluster.sql"
    with closing(world.connect()) as con:
        steps = len(_build(con, VISITS))
        whole = con.execute("SHOW INDEXES").fetchall()[0][4]
        con.execute("DROP JOIN INDEX visits")
    for stop_at in range(steps):
        with closing(world.connect()) as con:
            with pytest.raises(Stopped):
                _build(con, VISITS, stop_at=stop_at)
            assert _state(path, "visits") is Built.BUILDING
        with closing(world.connect()) as con:
            written = _build(con, VISITS)[-1].written
            assert written <= whole
            assert _state(path, "visits") is Built.VALID
        with closing(world.connect()) as con:
            expected = world.expected(con, "visits", world.visits())
        assert world.found("visits") == expected
        with closing(world.connect()) as con:
            con.execute("DROP JOIN INDEX visits")
            assert _state(path, "visits") is None


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        steps = _build(con, VISITS)
        con.execute("DROP JOIN INDEX visits")
        with pytest.raises(Stopped):
            _build(con, VISITS, stop_at=len(steps) - 2)
        assert 0 < (_build(con, VISITS)[-1].to_write or 0) < (steps[-1].to_write or 0)


@pytest.mark.parametrize("stop_at", [5])
def test_a_process_that_is_killed_leaves_whole_batches(tmp_path: Path, stop_at: int) -> None:
    world = _world(tmp_path)
    path = tmp_path / "cluster.sql"
    program = f"""
        import os
        from tests.integration.session import test_indexes as tests
        import shardwise
        con = shardwise.connect({str(path)!r})
        steps = []
        def watch(progress):
            steps.append(progress)
            if len(steps) == {stop_at}:
                os._exit(9)
        guard = tests.Guard(tests.Options())
        asked = tests.Asked(options=tests.Options(), guard=guard, watcher=watch, batch_rows=20)
        tests.build(con.cluster, tests.declare(con.cluster, tests.VISITS), asked)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False, timeout=120)
    assert done.returncode == 9
    assert _state(path, "visits") is Built.BUILDING
    with closing(world.connect()) as con:
        assert con.execute("SHOW INDEXES").fetchall()[0][3] == "building"
        con.execute(VISITS)
        expected = world.expected(con, "visits", world.visits())
    assert world.found("visits") == expected


def test_a_build_is_cancelled_between_two_batches(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        cursor = con.cursor()
        con.on_index_progress = lambda progress: cursor.cancel() if progress.to_write is not None else None
        with pytest.raises(Cancelled):
            cursor.execute(VISITS)
        assert _state(tmp_path / "cluster.sql", "visits") is Built.BUILDING
        con.on_index_progress = None
        con.execute(VISITS)
        assert _state(tmp_path / "cluster.sql", "visits") is Built.VALID


@pytest.mark.parametrize("products", ["duckdb", "sqlite", "sqlite dialect"])
def test_damage_is_found_and_put_right(tmp_path: Path, products: str) -> None:
    world = _world(tmp_path, 3, products)
    with closing(world.connect()) as con:
        con.execute(VISITS)
        whole = world.expected(con, "visits", world.visits())
    rows = [row for shard, row in whole if shard == "s1" and row[1] != "p1"]
    page, _, customer, *_ = rows[0]
    where = f"WHERE clicks_page = '{page}' AND clicks_customer_id = {customer}"
    lost = int(world.run(1, f"SELECT count(*) FROM visits {where}")[0][0])
    world.run(1, f"DELETE FROM visits {where}")
    other = next(row for row in rows if (row[0], row[2]) != (page, customer))
    where = f"WHERE clicks_page = '{other[0]}' AND clicks_customer_id = {other[2]}"
    wrong = int(world.run(1, f"SELECT count(*) FROM visits {where}")[0][0])
    world.run(1, f"UPDATE visits SET pages_title = 'wrong' {where}")
    world.run(
        2,
        *2 * ["INSERT INTO visits VALUES ('p1', 'nowhere', 2, NULL, 't', 1.5)"],
    )
    elsewhere = next(row for shard, row in whole if shard == "s0" and None not in row)
    world.run(2, "INSERT INTO visits VALUES ('{}', '{}', {}, '{}', '{}', {!r})".format(*elsewhere))
    twice = next(row for shard, row in whole if shard == "s0" and None not in row and row[1] != "p1")
    world.run(0, "INSERT INTO visits VALUES ('{}', '{}', {}, '{}', '{}', {!r})".format(*twice))
    found = [
        ("s0", "superfluous", 1),
        ("s1", "missing", lost),
        ("s1", "wrong values", wrong),
        ("s2", "superfluous", 2),
        ("s2", "on the wrong shard", 1),
    ]
    with closing(world.connect()) as con:
        con.execute(INVOICES_NO)
        for statement, is_repaired in (("", False), (" REPAIR", True)):
            answer = con.execute(f"CHECK JOIN INDEX visits{statement}").fetchall()
            assert answer == [(*each, is_repaired) for each in found]
        assert con.execute("CHECK JOIN INDEX visits").fetchall() == []
        assert con.execute("CHECK LOOKUP INDEX invoices_no").fetchall() == []
    assert world.found("visits") == whole


def test_a_repair_that_is_stopped_leaves_an_index_that_nobody_uses(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        con.execute(VISITS)
    world.run(0, "DELETE FROM visits")
    with closing(world.connect()) as con:
        cursor = con.cursor()
        con.on_index_progress = lambda progress: cursor.cancel() if progress.to_write is not None else None
        with pytest.raises(Cancelled):
            cursor.execute("CHECK JOIN INDEX visits REPAIR")
        assert _state(tmp_path / "cluster.sql", "visits") is Built.BUILDING
        con.on_index_progress = None
        con.execute(VISITS)
        assert con.execute("CHECK JOIN INDEX visits").fetchall() == []


def test_rows_that_come_and_go_are_brought_up_to_date(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        con.execute(INVOICES_NO)
    world.run(0, "DELETE FROM invoices WHERE no < 20", "INSERT INTO invoices VALUES (6, 900, 'K9')")
    with closing(world.connect()) as con:
        found = con.execute("CHECK LOOKUP INDEX invoices_no REPAIR").fetchall()
        assert {what for _, what, *_ in found} == {"missing", "superfluous"}
        assert con.execute("CHECK LOOKUP INDEX invoices_no").fetchall() == []


# ------------------------------------------------------------------ what a person is told


def test_states_are_listed_and_an_index_that_a_statement_made_is_found_again(tmp_path: Path) -> None:
    world = _world(tmp_path, more=f"{INVOICES_NO};")
    with closing(world.connect()) as con:
        assert con.execute("SHOW INDEXES").fetchall() == [
            ("invoices_no", "lookup", "invoices (no)", "not built", None, None, "CREATE … INDEX builds it")
        ]
        ((_, rows, built_at, note),) = con.execute(VISITS).fetchall()
        assert note == f"put into the catalog's file: {VISITS};"
        ((*_, of_declared),) = con.execute(INVOICES_NO).fetchall()
        assert of_declared is None
    with closing(world.connect()) as con:
        listed = con.execute("SHOW INDEXES WHERE \"index\" = 'visits'").fetchall()
        assert listed == [("visits", "join", "clicks.page = pages.url", "valid", rows, built_at, None)]
        con.execute("DROP JOIN INDEX visits")
        con.execute("DROP LOOKUP INDEX invoices_no")
        assert [each[3] for each in con.execute("SHOW INDEXES").fetchall()] == ["not built"]
        con.execute("DROP JOIN INDEX IF EXISTS visits")
    assert isinstance(load(tmp_path / "cluster.sql").index("invoices_no"), object)
    assert load(tmp_path / "cluster.sql").index("visits") is None
    assert (
        world.run(0, "SELECT table_name FROM information_schema.tables WHERE table_name LIKE '%vi%s%'") == []
    )


def test_another_connection_sees_how_far_it_is(tmp_path: Path) -> None:
    world = _world(tmp_path)
    seen: list[tuple[str, str | None]] = []
    with closing(world.connect()) as con:
        other = con.cluster.connect()

        def watch(_: Progress) -> None:
            seen.extend((each[3], each[6]) for each in other.execute("SHOW INDEXES").fetchall())
            assert other.execute("SELECT count(*) FROM clicks").fetchone() == (122,)

        con.on_index_progress = watch
        con.execute(VISITS)
    assert {state for state, _ in seen} == {"building"}
    assert any("rows written" in (note or "") for _, note in seen)


def test_one_statement_at_a_time_works_on_indexes(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con, closing(world.connect()) as stranger:
        refused: list[str] = []

        def watch(progress: Progress) -> None:
            if progress.to_write is None:
                for other in (con.cluster.connect(), stranger):
                    with pytest.raises(OperationalError, match="worked on already") as error:
                        other.execute(INVOICES_NO)
                    refused.append(str(error.value))

        con.on_index_progress = watch
        con.execute(VISITS)
        assert len(refused) > 1
        stranger.execute(INVOICES_NO)


def test_what_the_catalog_says_otherwise_since_is_built_anew(tmp_path: Path) -> None:
    world = _world(tmp_path, more=f"{VISITS};")
    path = tmp_path / "cluster.sql"
    with closing(world.connect()) as con:
        con.execute(VISITS)
    changed = VISITS.replace(", pages.weight", "")
    path.write_text(path.read_text(encoding="utf-8").replace(VISITS, changed), encoding="utf-8")
    with closing(world.connect()) as con:
        assert con.execute("SHOW INDEXES").fetchall()[0][3] == "outdated"
        with pytest.raises(ProgrammingError, match="under another declaration"):
            con.execute("CHECK JOIN INDEX visits")
        with pytest.raises(ProgrammingError, match="declared otherwise"):
            con.execute(VISITS)
        con.execute(changed)
        expected = world.expected(con, "visits", [row[:5] for row in world.visits()])
    assert world.found("visits") == expected


def test_what_a_drop_left_is_dropped_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = _world(tmp_path)
    from shardwise.session.indexes.applying import Writing

    whole = Writing.drop

    def half(writing: Writing) -> None:
        raise Stopped

    with closing(world.connect()) as con:
        con.execute(VISITS)
        monkeypatch.setattr(Writing, "drop", half)
        with suppress(Stopped):
            con.execute("DROP JOIN INDEX visits")
        monkeypatch.setattr(Writing, "drop", whole)
        assert con.execute("SHOW INDEXES").fetchall()[0][3] == "dropping"
        with pytest.raises(ProgrammingError, match="not built"):
            con.execute("CHECK JOIN INDEX visits")
        con.execute("DROP JOIN INDEX visits")
        assert con.execute("SHOW INDEXES").fetchall() == []


# ------------------------------------------------------------------ what is refused


def test_duplicates_of_a_unique_index_are_an_error_that_shows_no_value(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        with pytest.raises(
            IntegrityError, match=r"4 values of invoices \(kind\) are in more than one row"
        ) as error:
            con.execute("CREATE UNIQUE LOOKUP INDEX kinds ON invoices (kind)")
        assert "K1" not in str(error.value)
        assert _state(tmp_path / "cluster.sql", "kinds") is Built.BUILDING
        con.execute("CREATE UNIQUE LOOKUP INDEX numbers ON invoices (no)")


def test_a_collations_duplicates_are_found(tmp_path: Path) -> None:
    world = World(tmp_path, 2, ("sqlite",), "sqlite")
    rows = [(1, 1, "ann"), (2, 2, "ANN"), (3, 3, None), (4, 4, None)]
    world.rows = {**world.rows, "invoices": rows}
    path = world.make()
    for shard in range(2):
        world.run(
            shard,
            "CREATE TABLE i (customer_id BIGINT, no BIGINT, kind TEXT COLLATE NOCASE)",
            "INSERT INTO i SELECT * FROM invoices",
            "DROP TABLE invoices",
            "ALTER TABLE i RENAME TO invoices",
        )
    text = path.read_text(encoding="utf-8").replace("kind TEXT", "kind TEXT COLLATE NOCASE")
    path.write_text(text, encoding="utf-8")
    with closing(world.connect()) as con:
        with pytest.raises(IntegrityError, match=r'1 value.*DROP LOOKUP INDEX "kinds", and create it'):
            con.execute("CREATE UNIQUE LOOKUP INDEX kinds ON invoices (kind)")
        with pytest.raises(ProgrammingError, match=r'declared otherwise.*or DROP LOOKUP INDEX "kinds" first'):
            con.execute("CREATE LOOKUP INDEX kinds ON invoices (kind)")
        con.execute('DROP LOOKUP INDEX "kinds"')
        con.execute("CREATE LOOKUP INDEX kinds ON invoices (kind)")
        assert con.execute("CHECK LOOKUP INDEX kinds").fetchall() == []
    assert [row for _, row in world.found("kinds")] == [("ANN", 2), ("ann", 1)] or len(
        world.found("kinds")
    ) == 2
    assert "NOCASE" in world.run(0, "SELECT sql FROM sqlite_master WHERE name = 'kinds'")[0][0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("s1.duckdb';", "s1.duckdb' READ ONLY;"), '"s1" is declared READ ONLY'),
        (("duckdb:///s1.duckdb'", "parquet:///lake'"), "is a folder of Parquet files"),
    ],
)
def test_a_source_that_is_not_to_be_written_to(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    world = _world(tmp_path)
    (tmp_path / "lake").mkdir()
    path = tmp_path / "cluster.sql"
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with closing(world.connect()) as con, pytest.raises(NotSupportedError, match=words):
        con.execute(VISITS)
    assert _state(path, "visits") is None


def test_a_reference_table_needs_no_index(tmp_path: Path) -> None:
    world = _world(tmp_path)
    path = tmp_path / "cluster.sql"
    text = path.read_text(encoding="utf-8").replace("SHARD BY by_url (url)", "REFERENCE ON by_customer")
    path.write_text(text, encoding="utf-8")
    with (
        closing(world.connect()) as con,
        pytest.raises(NotSupportedError, match='"pages" is a reference table'),
    ):
        con.execute(VISITS)


def test_a_table_of_that_name_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    world = _world(tmp_path)
    world.run(1, "CREATE TABLE visits (mine INTEGER)", "INSERT INTO visits VALUES (1)")
    with closing(world.connect()) as con:
        with pytest.raises(ProgrammingError, match='a table "visits" on shard "s1" already'):
            con.execute(VISITS)
        with pytest.raises(UnknownName):
            con.execute("DROP JOIN INDEX visits")
    assert world.run(1, "SELECT * FROM visits") == [(1,)]


def test_statements_that_do_not_read_so(tmp_path: Path) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        with pytest.raises(CatalogError, match='no table "nowhere"'):
            con.execute("CREATE LOOKUP INDEX i ON nowhere (a)")
        with pytest.raises(ProgrammingError, match="no parameters"):
            con.execute(VISITS, (1,))
        with pytest.raises(UnknownName, match='no join index "visit"'):
            con.execute("CHECK JOIN INDEX visit")
        for text in (
            "CREATE UNIQUE INDEX i ON clicks (page)",
            "CREATE INDEX i ON clicks (page)",
            "CHECK INDEX visits",
            "DROP INDEX visits",
        ):
            verb = text.split()[0]
            with pytest.raises(NotSupportedError, match=rf"{verb} is not supported .* {verb} LOOKUP INDEX"):
                con.execute(text)
        with pytest.raises(shardwise.ProgrammingError, match="CHECK JOIN INDEX name REPAIR"):
            con.execute("REPAIR JOIN INDEX visits")
        for text in (
            "CHECK JOIN visits",
            "DROP LOOKUP INDEX",
            "CHECK LOOKUP INDEX a b",
            "DROP JOIN INDEX a, b",
        ):
            with pytest.raises(shardwise.ProgrammingError, match=r"missing|does not read so"):
                con.execute(text)
        scoped = con.scoped(customer_id=3)
        with pytest.raises(ProgrammingError, match="has a scope"):
            scoped.execute(VISITS)


def test_a_reader_that_does_not_end_is_an_error_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        lease = con.cluster.pool.lease("s0")
        monkeypatch.setattr("shardwise.executor.pools.ALONE_WAIT_S", 0.1)
        with pytest.raises(OperationalError, match='"s0" was read without a pause'):
            con.execute(VISITS)
        lease.release()
        con.execute(VISITS)


def test_readers_wait_while_a_file_is_written_to(tmp_path: Path) -> None:
    world = _world(tmp_path)
    answers: list[object] = []
    with closing(world.connect()) as con:
        reader = threading.Thread(
            target=lambda: answers.extend(
                con.cluster.connect().execute("SELECT count(*) FROM invoices").fetchall()
            )
        )
        with con.cluster.pool.alone("s0"):
            reader.start()
            reader.join(0.3)
            assert reader.is_alive()
        reader.join(20)
    assert answers == [(60,)]


def test_a_reader_waits_no_longer_than_its_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = _world(tmp_path)
    with closing(world.connect()) as con:
        hasty = con.cluster.connect(deadline_s=0.3)
        with con.cluster.pool.alone("s0"):
            with pytest.raises(OperationalError, match="deadline"):
                hasty.execute("SELECT count(*) FROM invoices").fetchall()
            monkeypatch.setattr("shardwise.executor.pools.WRITTEN_WAIT_S", 0.2)
            with pytest.raises(OperationalError, match="being written into its file") as error:
                con.execute("SELECT count(*) FROM invoices").fetchall()
        assert "SHOW INDEXES" in (error.value.hint or "")
        assert con.execute("SELECT count(*) FROM invoices").fetchall() == [(60,)]


def _kind(con: Connection, name: str) -> str:
    return "JOIN" if isinstance(con.cluster.catalog.index(name), JoinIndex) else "LOOKUP"


def test_what_sqlite_would_keep_as_null_is_refused(tmp_path: Path) -> None:
    world = _world(tmp_path, 2, "mixed")
    world.run(0, "INSERT INTO pages VALUES ('p1', 't', 'nan')")
    with closing(world.connect()) as con, pytest.raises(DataError, match="NaN"):
        con.execute(VISITS)


def test_types_of_duckdb_and_names_that_must_be_quoted(tmp_path: Path) -> None:
    columns = (
        "h HUGEINT, ns TIMESTAMP_NS, u UUID, l INTEGER[], iv INTERVAL, e ENUM('a', 'b'), b BLOB, f DOUBLE"
    )
    for n in range(2):
        with duckdb.connect(str(tmp_path / f"s{n}.duckdb")) as engine:
            engine.execute(f'CREATE SCHEMA crm; CREATE TABLE crm."Con tacts" ("Te nant" BIGINT, {columns})')
            engine.execute(
                'INSERT INTO crm."Con tacts" SELECT x, x * 10::HUGEINT ** 30,'
                " TIMESTAMP_NS '2026-01-01 00:00:00.123456789', uuid(), [x, NULL], INTERVAL (x) MONTH, 'a',"
                " 'x'::BLOB, CASE WHEN x % 7 = 0 THEN 'nan' ELSE x / 3 END"
                f" FROM range(40) AS t(x) WHERE x % 2 = {n} UNION ALL SELECT 2 + {n},"
                " NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
            )
            engine.execute("CREATE TABLE others (n BIGINT, k DOUBLE)")
            engine.execute(f"INSERT INTO others SELECT x, x FROM range(9) AS t(x) WHERE x % 2 = {n}")
    path = tmp_path / "cluster.sql"
    path.write_text(
        "CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';\n"
        "CREATE SHARDING k USING MOD 2 AS n ON s{n};\n"
        "CREATE SHARDING low USING RANGE (s0 = LESS THAN 2);\n"
        'ATTACH TABLE crm."Con tacts" SHARD BY k ("Te nant");\nATTACH TABLE others SHARD BY k (n);\n',
        encoding="utf-8",
    )
    base = 'crm."Con tacts"'
    included = ", ".join(f"{base}.{name}" for name in ("h", "ns", "u", "l", "iv", "e", "b", "f"))
    statements = {
        'JOIN INDEX "odd ""j"': f'ON {base}."Te nant" = others.n INCLUDE ({included}) SHARD BY k (others.n)',
        "LOOKUP INDEX by_f": f"ON {base} (f)",
        "LOOKUP INDEX by_b": f"ON {base} (b)",
        "LOOKUP INDEX by_h": f"ON {base} (h, ns, u, e)",
    }
    with closing(shardwise.connect(path)) as con:
        for name, what in statements.items():
            ((_, rows, *_),) = con.execute(f"CREATE {name} {what}").fetchall()
            assert rows > 8
            assert con.execute(f"CHECK {name}").fetchall() == []
        with pytest.raises(NotSupportedError, match=r'"l" of "by_l" is INTEGER\[\], by which'):
            con.execute(f"CREATE LOOKUP INDEX by_l ON {base} (l)")
        with pytest.raises(DataError, match='that sharding "low" has no slot for'):
            con.execute(f'CREATE JOIN INDEX by_n ON {base}."Te nant" = others.n SHARD BY low (others.n)')
