"""docs/how-to-sharded-mysql.md, done as it says: the commands print what the page shows."""

from __future__ import annotations

import os
import random
import re
import shlex
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import mariadb
from tests.servers.mariadb_server import MariaDB

PAGE = Path(__file__).parents[2] / "docs" / "how-to-sharded-mysql.md"
SERVERS = ("10.0.0.20", "10.0.0.21")
PASSWORD = "the password"
_ORDERS = (
    "id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, total DECIMAL(10,2) NOT NULL, placed DATETIME NOT NULL"
)
_ITEMS = "id BIGINT PRIMARY KEY, order_id BIGINT NOT NULL, sku VARCHAR(20) NOT NULL, quantity INT NOT NULL"


def lay_out(servers: list[MariaDB], prefix: str) -> None:
    """800 users' orders in 16 tables over four databases on two servers; an order's id ends as its user's."""
    for n in range(4):
        server, database = servers[n // 2], f"{prefix}_{n:02}"
        server.run(f"CREATE DATABASE {database}", f"GRANT SELECT ON {database}.* TO report_{prefix}@'%'")
        for slot in range(4 * n, 4 * n + 4):
            server.run(f"CREATE TABLE orders_{slot:02} ({_ORDERS})", database=database)
            server.run(f"CREATE TABLE order_items_{slot:02} ({_ITEMS})", database=database)
            orders = [
                (
                    (user * 7 + k * 5_600) * 16 + slot,
                    user,
                    f"{user % 50 + k}.50",
                    f"2025-{user % 12 + 1:02}-0{k + 1}",
                )
                for user in range(slot, 800, 16)
                for k in range(3)
            ]
            items = [(i * 1_000 + k, i, f"sku {i % 7}", k + 1) for i, *_ in orders for k in range(2)]
            server.insert(database, f"orders_{slot:02}", orders)
            server.insert(database, f"order_items_{slot:02}", items)
        server.run(
            "CREATE TABLE provinces (code VARCHAR(4) PRIMARY KEY, name VARCHAR(20))", database=database
        )
        server.insert(database, "provinces", [("A", "Alpha"), ("B", "Beta")])


@pytest.fixture
def shop() -> Iterator[dict[str, str]]:
    """What stands in the page, and what it is here."""
    servers = [mariadb(0), mariadb(1)]
    prefix = "".join(random.choices(string.ascii_lowercase, k=4))
    for server in servers:
        server.run(f"CREATE USER report_{prefix}@'%' IDENTIFIED BY '{PASSWORD}'")
    lay_out(servers, prefix)
    addresses = {f"@{there}": f"@{s.host}:{s.port}" for there, s in zip(SERVERS, servers, strict=True)}
    yield {**addresses, "report@": f"report_{prefix}@", "shop_": f"{prefix}_"}
    for n in range(4):
        servers[n // 2].run(f"DROP DATABASE {prefix}_{n:02}")
    for server in servers:
        server.run(f"DROP USER report_{prefix}@'%'")


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of the page, and the output that it shows."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.strip()


@pytest.mark.slow
def test_the_page(shop: dict[str, str], tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for there, here in shop.items():
        text = text.replace(there, here)
    environment = {**os.environ, "SHARDWISE_PASSWORD": PASSWORD, "NO_COLOR": "1", "COLUMNS": "200"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    (shown,) = re.findall(r"```sql\n(CREATE CATALOG.*?)```", text, re.DOTALL)
    ran = 0
    for command, output in commands(text):
        if not command.startswith("shardwise "):
            continue
        done = subprocess.run(
            command.replace("shardwise ", f"{shlex.quote(sys.executable)} -m shardwise.cli ", 1),
            shell=True,
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        ran += 1
        if output:
            assert (done.stdout + done.stderr).strip() == output, command
        if " infer " in command:
            assert (tmp_path / "cluster.sql").read_text(encoding="utf-8").strip() == shown.strip()
    assert ran >= 5
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
