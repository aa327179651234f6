"""The code in docs/catalog.md runs."""

import re
from pathlib import Path

from shardwise.catalog import parse

PAGE = (Path(__file__).parents[3] / "docs" / "catalog.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_all_sql_of_the_page_is_one_catalog():
    catalog = parse("\n".join(blocks("sql")), "catalog.md")
    assert parse(catalog.to_sql()) == catalog
    changed = catalog
    for statement in "\n".join(blocks("sql apply")).split(";"):
        changed = changed.apply(statement)
    assert changed.table("paid") is None
    assert changed.version > catalog.version


def test_every_statement_is_on_the_page():
    text = "\n".join(blocks("sql")) + "\n".join(blocks("sql apply"))
    words = (
        "CREATE CATALOG, CREATE SOURCE, CREATE SHARD, CREATE SHARDING, CREATE TABLE, ATTACH TABLE, "
        "CREATE VIEW, LOOKUP INDEX, JOIN INDEX, CREATE SEQUENCE, LOCK TABLE, DROP, FOR EACH, REPLICAS, "
        "EXCEPT, KEY IN, HASH, MOD, RANGE, LIST, RING, INTERVAL, DIRECTORY, ALSO BY SLOT, SHARD WITH, "
        "SCATTERED ON, REFERENCE ON, DRIFT"
    )
    assert [each for each in words.split(", ") if each not in text] == []


def test_the_python_of_the_page_runs():
    exec(compile(blocks("python")[1], "catalog.md", "exec"), {"parse": parse})
