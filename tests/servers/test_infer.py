"""catalog infer on live servers: layouts as other middleware leaves them, and what was found, asked."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shardwise
from shardwise.catalog import Catalog, parse
from shardwise.catalog.shardings import hash_function
from shardwise.cli.catalog import app
from tests.servers import mariadb, postgres
from tests.servers.running import Server, new_name

pytestmark = pytest.mark.slow


def infer(
    server: Server, pattern: str, monkeypatch: pytest.MonkeyPatch, *more: Server
) -> tuple[str, Catalog]:
    """What the command prints for the databases of a pattern, on one server or several."""
    monkeypatch.setenv("SHARDWISE_PASSWORD", server.password)
    urls = [each.url(pattern) for each in (server, *more)]
    result = CliRunner().invoke(app, ["infer", *urls], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert server.password not in result.output
    text = result.stdout
    return text, parse(text)


def check(text: str, folder: Path) -> str:
    """`catalog check --rows` of a catalog's text."""
    path = folder / "cluster.sql"
    path.write_text(text)
    result = CliRunner().invoke(app, ["check", "--rows", "-c", str(path)], catch_exceptions=False)
    return result.output


def statement(text: str, start: str) -> str:
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    statements = [" ".join(each.split()) for each in lines.split(";")]
    (found,) = [each for each in statements if f"{start} " in f"{each} "]
    return found


def test_eight_databases_of_eight_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Orders carry their user's last six bits in id and order_no; order_items have their parcel only."""
    servers, prefix, chance = [mariadb(0), mariadb(1)], new_name("shop"), random.Random(1)
    rows: dict[int, dict[str, list[tuple[object, ...]]]] = {slot: {} for slot in range(64)}
    for n in range(2000):
        user = chance.randrange(1, 1 << 40)
        slot = user % 64
        number = chance.randrange(1 << 20) * 64 + slot
        order = (number, user, f"A{chance.randrange(10**8):08}{slot:02}", n % 5)
        made: dict[str, list[tuple[object, ...]]] = {
            "users": [(user, f"u{n}")],
            "orders": [order],
            "parcels": [(n, user)],
            "order_items": [(2 * n, n, "x"), (2 * n + 1, n, "y")],
        }
        for table, new in made.items():
            rows[slot].setdefault(table, []).extend(new)
    definitions = {
        "users": "id BIGINT PRIMARY KEY, name VARCHAR(20)",
        "orders": "id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, order_no VARCHAR(20), status INT",
        "parcels": "id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL",
        "order_items": "id BIGINT PRIMARY KEY, parcel BIGINT, sku CHAR(1)",
    }
    for database in range(8):
        server = servers[database // 4]
        name = server.database(
            *(
                f"CREATE TABLE {table}_{slot:02} ({columns})"
                for slot in range(database * 8, database * 8 + 8)
                for table, columns in definitions.items()
            ),
            "CREATE TABLE cities (id INT PRIMARY KEY, name VARCHAR(20))",
            "INSERT INTO cities VALUES (1, 'a'), (2, 'b'), (3, 'c')",
            name=f"{prefix}_{database:02}",
        )
        for slot in range(database * 8, database * 8 + 8):
            for table, values in rows[slot].items():
                server.insert(name, f"{table}_{slot:02}", values)
    text, _ = infer(servers[0], f"{prefix}_*", monkeypatch, servers[1])
    assert statement(text, "CREATE SHARDING") == (
        f"CREATE SHARDING by_user_id USING MOD 64 AS n ON {prefix}_{{n // 8:02}}"
    )
    assert statement(text, "TABLE orders") == (
        "ATTACH TABLE orders SHARD BY by_user_id (user_id) ALSO BY (id) "
        "ALSO BY (CAST(RIGHT(order_no, 2) AS SIGNED)) NAMED 'orders_{n:02}'"
    )
    assert statement(text, "TABLE order_items") == (
        "ATTACH TABLE order_items SHARD WITH parcels ON parcel = parcels.id NAMED 'order_items_{n:02}'"
    )
    assert statement(text, "TABLE cities") == "ATTACH TABLE cities REFERENCE ON by_user_id"
    assert "2,000 of 2,000 keys fit user_id by MOD 64" in text
    assert "all as the catalog says" in check(text, tmp_path)
    with shardwise.connect(str(tmp_path / "cluster.sql")) as con:
        assert con.execute("SELECT count(*) FROM order_items").fetchone() == (4000,)


def test_cobar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a user who may SELECT there and nothing else."""
    server, prefix, chance = mariadb(1), new_name("cobar"), random.Random(2)
    function = hash_function("cobar_string", 1024, {"slice": "0:8"})
    rows: list[list[tuple[object, ...]]] = [[], [], []]
    for n in range(6000):
        login = "".join(chance.choices("abcdefghij", k=chance.randrange(4, 12)))
        slot = function.slot((login,))
        rows[0 if slot < 512 else 1 + (slot - 512) // 256].append((n, login))
    for number, values in enumerate(rows):
        name = server.database(
            "CREATE TABLE member (id INT PRIMARY KEY, login VARCHAR(20) COLLATE utf8mb4_bin)",
            name=f"{prefix}_{number}",
        )
        server.insert(name, "member", values)
    reader = f"r{prefix[-10:]}"
    server.run(f"CREATE USER {reader}@'%' IDENTIFIED BY 'read only'")
    for number in range(3):
        server.run(f"GRANT SELECT ON `{prefix}_{number}`.* TO {reader}@'%'")
    text, _ = infer(replace(server, user=reader, password="read only"), f"{prefix}_*", monkeypatch)
    assert statement(text, "CREATE SHARDING") == (
        "CREATE SHARDING by_login USING HASH(cobar_string, slice = '0:8') SLOTS 1024 AS n "
        f"({prefix}_0 = 0-511, {prefix}_1 = 512-767, {prefix}_2 = 768-1023)"
    )
    assert "all as the catalog says" in check(text, tmp_path)
    server.insert(f"{prefix}_0", "member", [(100_000, rows[1][0][1])])
    assert "wrong-shard: member.login on shard" in check(text, tmp_path)


def test_citus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sixteen shard tables on two workers in turn, each of one range of PostgreSQL's own hash."""
    server, prefix, chance = postgres(), new_name("worker"), random.Random(3)
    workers = [
        server.database(
            *(
                f"CREATE TABLE visits_{102008 + shard} (id BIGINT PRIMARY KEY, site INT, at TIMESTAMPTZ)"
                for shard in range(worker, 16, 2)
            ),
            name=f"{prefix}_{worker}",
        )
        for worker in range(2)
    ]
    hashed: dict[int, list[tuple[object, ...]]] = {}
    for n in range(1600):
        site = chance.randrange(-(1 << 30), 1 << 30)
        ((number,),) = server.run(f"SELECT hashint4({site})")
        shard = (number + 2**31) // (2**32 // 16)
        hashed.setdefault(shard, []).append((n, site, "2026-01-01 00:00:00+00"))
    for shard, values in hashed.items():
        server.insert(workers[shard % 2], f"visits_{102008 + shard}", values)
    text, _ = infer(server, f"{prefix}_*", monkeypatch)
    assert statement(text, "CREATE SHARDING") == (
        f"CREATE SHARDING by_site USING HASH(postgres) SLOTS 16 AS n ON {prefix}_{{n % 2}}"
    )
    assert (
        statement(text, "TABLE visits")
        == "ATTACH TABLE visits SHARD BY by_site (site) NAMED 'visits_{n + 102008}'"
    )
    assert "all as the catalog says" in check(text, tmp_path)
    with shardwise.connect(str(tmp_path / "cluster.sql")) as con:
        assert con.execute("SELECT count(*), min(id) FROM visits").fetchone() == (1600, 0)


def test_names_whose_letter_case_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """PostgreSQL folds what is not quoted; the key is a part of the number."""
    server, prefix, hours = postgres(), new_name("Clinic"), range(1, 6000)
    for n in range(3):
        made = server.database(
            'CREATE TABLE "Visits" (id BIGINT PRIMARY KEY, "patientId" BIGINT NOT NULL)', name=f"{prefix} {n}"
        )
        patients = {hour: 100 + hour % 1900 for hour in hours}
        server.insert(made, "Visits", [(h, p) for h, p in patients.items() if p // 100 % 3 == n])
    text, _ = infer(server, f"{prefix}*", monkeypatch)
    assert "(DIV(patientid, 100))" in statement(text, "TABLE Visits")
    assert "all as the catalog says" in check(text, tmp_path)
    with shardwise.connect(str(tmp_path / "cluster.sql")) as con:
        found = con.execute('SELECT count(*) FROM "Visits" WHERE "patientId" = 1502', scatter="refuse")
        assert found.fetchone() == (3,)


def test_a_schema_per_tenant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tables of other schemas are not left out in silence; tenants' are one table."""
    server, tenants = postgres(), ("acme", "globex", "Umbrella Corp")
    database = server.database(
        "CREATE TABLE plans (code TEXT PRIMARY KEY)",
        *(f'CREATE SCHEMA "t_{tenant}"' for tenant in tenants),
        *(f'CREATE TABLE "t_{tenant}".invoices (id INT PRIMARY KEY, total INT)' for tenant in tenants),
        *(f'INSERT INTO "t_{tenant}".invoices VALUES (1, 10), (2, 20)' for tenant in tenants),
        "CREATE SCHEMA stats",
        "CREATE TABLE stats.days (day DATE)",
    )
    text, _ = infer(server, database, monkeypatch)
    assert statement(text, "TABLE invoices") == (
        "ATTACH TABLE invoices SHARD BY by_schema (tenant TEXT VIRTUAL) NAMED 't_{tenant}.{table}'"
    )
    assert "stats.days" in text
    assert "all as the catalog says" in check(text, tmp_path)
    with shardwise.connect(str(tmp_path / "cluster.sql")) as con:
        found = con.execute("SELECT tenant, SUM(total) FROM invoices GROUP BY tenant")
        assert sorted(found.fetchall()) == sorted((tenant, 30) for tenant in tenants)


def test_a_wrong_password_is_told_without_a_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none yet, whose source or PASSWORD a message could name."""
    for server in (mariadb(0), postgres()):
        monkeypatch.setenv("SHARDWISE_PASSWORD", "not it")
        result = CliRunner().invoke(app, ["infer", server.url("any")])
        assert result.exit_code == 3
        assert "error: " in result.output
        assert "source" not in result.output
        assert "the password that SHARDWISE_PASSWORD, --password-env or --password-file" in result.output
        monkeypatch.delenv("SHARDWISE_PASSWORD")
        result = CliRunner().invoke(app, ["infer", server.url("any")])
        assert "ive one by SHARDWISE_PASSWORD, --password-env or --password-file" in result.output


def test_what_is_written_and_what_to_do_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = postgres()
    database = server.database("CREATE TABLE a (id INT PRIMARY KEY)")
    monkeypatch.setenv("SHARDWISE_PASSWORD", server.password)
    monkeypatch.chdir(tmp_path)
    for name, option in (("cluster.sql", ""), ("my own.sql", " -c 'my own.sql'")):
        result = CliRunner().invoke(app, ["infer", server.url(database), "-o", name])
        assert result.stderr == (
            f"wrote {name}: 1 table on 1 source. Read its comments, then:\n"
            f"  shardwise catalog import{option}\n  shardwise catalog check --rows{option}\n"
        )


def test_what_is_refused() -> None:
    for url, message in (
        ("sqlite:///a.db", "no kind of server"),
        ("mysql://app:secret@db", "password is refused"),
    ):
        result = CliRunner().invoke(app, ["infer", url])
        assert result.exit_code != 0
        assert message in " ".join(result.output.split())
        assert "secret" not in result.output
