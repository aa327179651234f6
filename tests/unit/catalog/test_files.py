"""Files: the lock beside the catalog, INCLUDE, relative paths, what cannot be read."""

import pytest

from shardwise.catalog import load, lock_path, parse, save_lock
from shardwise.catalog.model import Secret
from shardwise.errors import CatalogError


@pytest.fixture
def cluster(tmp_path):
    path = tmp_path / "cluster.sql"
    path.write_text(
        "CREATE CATALOG shop;\nCREATE SOURCE a URL 'duckdb:///a.duckdb';\n"
        "ATTACH TABLE t ON a;\nINCLUDE 'sub/more.sql';"
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "more.sql").write_text(
        "CREATE SOURCE b URL 'sqlite:///b.db' PASSWORD FILE 'pw';\nINCLUDE '../other.sql';"
    )
    (tmp_path / "other.sql").write_text("CREATE SOURCE c URL 'sqlite:///c.db?mode=ro';\nATTACH TABLE u ON b")
    return path


def test_included_files_are_one_catalog_and_their_paths_are_relative_to_them(cluster):
    catalog = load(cluster)
    assert [each.name for each in catalog.sources()] == ["a", "b", "c"]
    assert catalog.source("b").url == "sqlite:///sub/b.db"
    assert catalog.source("b").password == Secret(file="sub/pw")
    assert catalog.source("c").url == "sqlite:///c.db?mode=ro"
    assert catalog.source("a").location(str(cluster.parent)) == f"duckdb:///{cluster.parent}/a.duckdb"
    assert catalog.source("b").password.file_location("/x") == "/x/sub/pw"
    assert parse(catalog.to_sql()) == catalog


def test_the_lock_file(cluster):
    locked = load(cluster).apply(
        "LOCK TABLE t (id BIGINT NOT NULL, PRIMARY KEY (id)) READ AT '2026-11-30T12:00:00Z'"
    )
    save_lock(locked, cluster)
    assert lock_path(cluster).name == "cluster.lock.sql"
    assert load(cluster, locked=False) == load(cluster).without(*locked.items[-1:])
    assert load(cluster) == locked
    assert load(cluster).table("t").columns[0].name == "id"
    assert sorted(each.name for each in cluster.parent.glob("*.sql*")) == [
        "cluster.lock.sql",
        "cluster.sql",
        "other.sql",
    ]


def test_an_error_names_the_file_that_it_is_in(cluster):
    (cluster.parent / "other.sql").write_text("\nATTACH TABLE u ON nowhere")
    with pytest.raises(CatalogError) as caught:
        load(cluster)
    assert str(caught.value).startswith(f'{cluster.parent}/other.sql:2:19: there is no shard "nowhere"')
    lock_path(cluster).write_text("LOCK TABLE")
    (cluster.parent / "other.sql").write_text("")
    with pytest.raises(CatalogError, match=r"cluster\.lock\.sql:1:11: expected a name, found the end"):
        load(cluster)


def test_includes_in_a_circle(cluster):
    (cluster.parent / "other.sql").write_text("INCLUDE 'sub/more.sql'")
    with pytest.raises(
        CatalogError,
        match=r'"sub/more.sql" includes itself. cluster.sql includes sub/more.sql includes other',
    ):
        load(cluster)


def test_a_file_may_not_include_the_first_one_again(cluster):
    (cluster.parent / "other.sql").write_text("INCLUDE 'cluster.sql'")
    with pytest.raises(CatalogError, match=r'"cluster.sql" includes itself'):
        load(cluster)


def test_an_included_file_has_no_header(cluster):
    (cluster.parent / "other.sql").write_text("CREATE CATALOG x")
    with pytest.raises(CatalogError, match="a catalog has one CREATE CATALOG"):
        load(cluster)


def test_files_that_cannot_be_read(cluster):
    with pytest.raises(CatalogError, match=r'there is no catalog file ".*nothing.sql"'):
        load(cluster.with_name("nothing.sql"))
    with pytest.raises(CatalogError, match="cannot read"):
        load(cluster.parent)
    (cluster.parent / "other.sql").unlink()
    with pytest.raises(CatalogError, match=r'sub/more.sql:2:9: cannot read "other.sql": No such file'):
        load(cluster)
    cluster.write_bytes(b"\xff")
    with pytest.raises(CatalogError, match="not UTF-8"):
        load(cluster)


def test_a_lock_file_at_odds_with_the_catalog_points_at_the_catalog(cluster):
    cluster.write_text(
        "CREATE SOURCE a DIALECT duckdb; CREATE SHARDING f USING MOD 2 ON a;\nATTACH TABLE t SHARD BY f (id)"
    )
    lock_path(cluster).write_text("LOCK TABLE t (x INT)")
    with pytest.raises(CatalogError, match=r'cluster\.sql:2:28: table "t" has no column "id"'):
        load(cluster)
    assert load(cluster, locked=False).table("t").columns is None


def test_a_lock_file_has_no_header(cluster):
    lock_path(cluster).write_text("CREATE CATALOG x")
    with pytest.raises(CatalogError, match=r"cluster\.lock\.sql:1:1: a catalog has one CREATE CATALOG"):
        load(cluster)
