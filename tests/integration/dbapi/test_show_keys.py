"""SHOW TABLES: a key stands as the catalog's language has it, in whichever dialect the catalog is."""

from __future__ import annotations

from pathlib import Path

import pytest

import shardwise

CATALOG = """
CREATE CATALOG c DIALECT {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-1 URL '{url}';
CREATE SHARDING by_hour USING MOD 2 AS n ON s{{n}};
ATTACH TABLE visits (at BIGINT, id BIGINT, "odd name" BIGINT)
  SHARD BY by_hour (at) ALSO BY ({part}) ALSO BY ("odd name");
"""


@pytest.mark.parametrize(
    ("dialect", "url", "part"),
    [
        ("mysql", "mysql://u@h/d{n}", "id DIV 100"),
        ("postgres", "postgresql://u@h/d{n}", "DIV(id, 100)"),
        ("duckdb", "duckdb:///d{n}.duckdb", "id // 100"),
    ],
)
def test_keys(tmp_path: Path, dialect: str, url: str, part: str) -> None:
    path = tmp_path / "cluster.sql"
    path.write_text(CATALOG.format(dialect=dialect, url=url, part=part))
    with shardwise.connect(path) as con:
        ((_, _, placement, *_),) = con.execute("SHOW TABLES").fetchall()
    assert placement == f'SHARD BY by_hour (at) ALSO BY ({part}) ALSO BY ("odd name")'
