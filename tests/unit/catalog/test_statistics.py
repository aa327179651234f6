"""STATISTICS of the catalog's language: read back equal, looked up without letter case, kept in the lock."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardwise.catalog import load, parse, save_lock
from shardwise.catalog.model import Catalog, Column, LockedTable, Single, Source, Table
from shardwise.catalog.statistics import ColumnStatistics, TableStatistics
from shardwise.errors import CatalogError

HEAD = (
    "CREATE SOURCE a URL 'duckdb:///a.duckdb'; ATTACH TABLE orders ON a; ATTACH TABLE crm.\"or ders\" ON a;"
)


def test_a_statement_of_all_figures():
    catalog = parse(
        HEAD + "STATISTICS Orders ROWS 150000 FROM SCAN AT '2026-12-01T00:10:00Z' ("
        "o_orderkey (DISTINCT 150000, NULLS 0, WIDTH 8, BOUNDS ('1', '600000')),"
        "\"it's\" (COMMON ('O''B' 0.5, '' 0.25), NULLS 0.125, DISTINCT 1.5e3), scan (WIDTH 1))"
    )
    found = catalog.statistics_of(catalog.table("ORDERS"))
    assert found == TableStatistics(
        name="Orders",
        rows=150000,
        source="scan",
        read_at="2026-12-01T00:10:00Z",
        columns={
            "o_orderkey": ColumnStatistics(distinct=150000, width=8, bounds=("1", "600000")),
            "it's": ColumnStatistics(distinct=1500, nulls=0.125, common=(("O'B", 0.5), ("", 0.25))),
            "scan": ColumnStatistics(width=1),
        },
    )
    assert found.columns["O_ORDERKEY"].distinct == 150000
    assert list(found.columns) == ["o_orderkey", "it's", "scan"]
    assert catalog.statistics_of(catalog.table("or ders", "crm")) is None
    assert parse(catalog.to_sql()) == catalog


def test_each_word_may_be_a_columns_name():
    words = (
        "distinct",
        "NULLS",
        "width",
        "bounds",
        "common",
        "statistics",
        "scan",
        "sample",
        "sources",
        "at",
    )
    statistics = TableStatistics(
        name="statistics",
        schema="rows",
        rows=1,
        source="sample",
        columns=dict.fromkeys(words, ColumnStatistics()),
    )
    catalog = Catalog(items=[statistics])
    assert parse(catalog.to_sql()) == catalog


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6)
shares = st.floats(0, 1)
counts = st.floats(0, 1e300)
figures = st.builds(
    ColumnStatistics,
    distinct=st.none() | counts,
    nulls=shares,
    width=st.none() | counts,
    bounds=st.lists(texts, max_size=3).map(tuple),
    common=st.lists(st.tuples(texts, shares), max_size=3).map(tuple),
)
columns = st.dictionaries(st.sampled_from(["a", "B c", 'q"', "é", "NULL", "{x}"]), figures, max_size=4)


@settings(max_examples=60, deadline=None)
@given(
    statistics=st.builds(
        TableStatistics,
        name=st.sampled_from(["t", "T u", "a.b"]),
        schema=st.none() | st.sampled_from(["s", "S s"]),
        rows=st.integers(0, 10**20),
        source=st.sampled_from(["scan", "sample", "sources"]),
        read_at=texts,
        columns=columns,
    )
)
def test_any_statistics_read_back(statistics):
    catalog = Catalog(items=[statistics])
    text = catalog.to_sql()
    assert parse(text) == catalog
    assert parse(text).to_sql() == text
    assert hash(parse(text)) == hash(catalog)
    assert parse(catalog.to_sql(locked=False)) != catalog


def test_of_a_catalog_made_in_python():
    """The lock's rows are all there is to know until ANALYZE knows more; a `*` table is found too."""
    catalog = Catalog(
        items=[
            Source(name="a", url="duckdb:///a.duckdb"),
            Table(name="*", placement=Single(on="a")),
            LockedTable(
                name="Seen", schema="s", columns=(Column(name="x", type="INT"),), rows=7, read_at="2026"
            ),
            LockedTable(name="unseen", columns=(Column(name="x", type="INT"),)),
        ]
    )
    seen = catalog.table("seen", "S")
    assert catalog.statistics_of(seen) == TableStatistics(
        name="Seen", schema="s", rows=7, source="sources", read_at="2026"
    )
    assert catalog.statistics_of(catalog.table("unseen")) is None
    more = TableStatistics(name="SEEN", schema="s", rows=8, source="scan")
    assert catalog.with_(more).statistics_of(seen) == more
    assert catalog.with_(more).with_(replace(more, rows=9)).statistics_of(seen).rows == 9
    assert catalog.with_(more).with_members({}).statistics_of(seen) == more


def test_they_are_kept_in_the_lock_file(tmp_path):
    file = tmp_path / "cluster.sql"
    file.write_text(HEAD)
    known = load(file).apply(
        "STATISTICS orders ROWS 5 FROM SOURCES AT '2026'; LOCK TABLE orders (x INT) ROWS 3;"
        "STATISTICS crm.\"or ders\" ROWS 6 FROM SAMPLE AT '2026' (\"x y\" (COMMON ('\N{SNOWMAN}\n;' 1)))"
    )
    save_lock(known, file)
    assert load(file) == known
    assert load(file, locked=False) == parse(HEAD)
    assert "STATISTICS" not in known.to_sql(locked=False)
    later = known.apply("STATISTICS ORDERS ROWS 6 FROM SCAN AT '2027'")
    assert later.statistics_of(later.table("orders")).rows == 6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": -1}, "count fewer than no rows"),
        ({"source": "guess"}, 'come from scan or sample or sources, not "guess"'),
        ({"columns": {"x": ColumnStatistics(nulls=-0.1)}}, 'column "x" a share that is not between 0 and 1'),
        ({"columns": {"x": ColumnStatistics(nulls=float("nan"))}}, "a share that is not between"),
        ({"columns": {"x": ColumnStatistics(distinct=float("inf"))}}, 'column "x" a count that is none'),
    ],
)
def test_what_no_text_can_say_is_refused_in_python_too(changes, message):
    with pytest.raises(CatalogError, match=message):
        Catalog(items=[replace(TableStatistics(name="t", rows=1, source="scan"), **changes)])
