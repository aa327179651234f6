"""The lock file keeps indexes that statements made, until the catalog's own file declares them."""

from __future__ import annotations

import threading
from pathlib import Path

from shardwise.catalog import Catalog, load, lock_path, save_lock
from shardwise.catalog.files import update_lock
from shardwise.catalog.model import LookupIndex
from shardwise.catalog.tables import Built, IndexState

_CATALOG = """
CREATE SOURCE a URL 'duckdb:///a.duckdb';
CREATE SOURCE b URL 'duckdb:///b.duckdb';
CREATE SHARDING k USING MOD 2 (a = 0, b = 1);
CREATE TABLE t (id BIGINT, no BIGINT, name VARCHAR) SHARD BY k (id);
"""
_MADE = LookupIndex(name="by no", table="t", columns=("no",))


def _file(folder: Path, more: str = "") -> Path:
    path = folder / "cluster.sql"
    path.write_text(_CATALOG + more, encoding="utf-8")
    return path


def test_an_index_that_a_statement_made_is_found_again(tmp_path: Path) -> None:
    path = _file(tmp_path)
    state = IndexState(name="by no", state=Built.BUILDING)
    update_lock(path, lambda catalog: catalog.with_(_MADE, state))
    found = load(path)
    assert found.index("BY NO") == _MADE
    assert found.state_of(_MADE) == state
    assert load(path, locked=False).indexes() == ()
    save_lock(found, path)
    assert load(path) == found


def test_what_the_file_declares_goes_before_it_and_is_not_kept_twice(tmp_path: Path) -> None:
    path = _file(tmp_path)
    update_lock(path, lambda catalog: catalog.with_(_MADE))
    _file(tmp_path, 'CREATE UNIQUE LOOKUP INDEX "by no" ON t (no);')
    found = load(path).index("by no")
    assert isinstance(found, LookupIndex)
    assert found.unique
    update_lock(path, lambda catalog: catalog)
    assert "LOOKUP INDEX" not in lock_path(path).read_text(encoding="utf-8")


def test_who_keep_something_at_once_take_turns(tmp_path: Path) -> None:
    path = _file(tmp_path)

    def add(number: int) -> None:
        def change(catalog: Catalog) -> Catalog:
            return catalog.with_(IndexState(name=f"i{number}", state=Built.VALID))

        update_lock(path, change)

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    text = lock_path(path).read_text(encoding="utf-8")
    assert sorted(n for n in range(8) if f"LOCK INDEX i{n} VALID" in text) == list(range(8))
