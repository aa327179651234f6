"""The tables that indexes over shards are."""

import pytest
import sqlglot

from shardwise.catalog import parse
from shardwise.catalog.index_tables import KeyColumn, fingerprint, index_table, of, why_no_table
from shardwise.catalog.model import Built, IndexState, Scattered, Sharded, ShardKey, Spelling
from shardwise.errors import CatalogError, NotSupportedError

HEAD = (
    "CREATE CATALOG c DIALECT {dialect};"
    "CREATE SOURCE a URL '{url}a'; CREATE SOURCE b URL '{url}b'; CREATE SOURCE x URL '{url}x';"
    "CREATE SHARDING by_k USING MOD 2 (a = 0, b = 1);"
    "CREATE SHARDING by_t USING HASH(crc32) SLOTS 8 (b = 0-7);"
)
URLS = {"duckdb": "duckdb:///", "mysql": "mysql://h/", "postgres": "postgresql://h/", "sqlite": "sqlite:///"}


def catalog(text, dialect="duckdb"):
    return parse(HEAD.format(dialect=dialect, url=URLS[dialect]) + text)


def made(text, dialect="duckdb"):
    known = catalog(text, dialect)
    return index_table(known, known.indexes()[-1]), known


def columns(table):
    return [(c.name, c.type, c.nullable, c.collation) for c in table.columns]


INVOICES = (
    "ATTACH TABLE invoices (id BIGINT DEFAULT 7, k INT, no VARCHAR(20) COLLATE NOCASE, day DATE) "
    "SHARD BY by_k (k);"
)


def test_a_lookup_index_holds_the_searched_columns_and_the_key():
    found, known = made(INVOICES + "CREATE UNIQUE LOOKUP INDEX by_no ON invoices (NO)")
    table = found.table
    assert table.name == "by_no"
    assert columns(table) == [("no", "VARCHAR(20)", False, "NOCASE"), ("k", "INT", True, None)]
    assert (found.searched, table.unique) == (("no",), (("no",),))
    assert found.keys == (KeyColumn("k", sqlglot.exp.column("k")),)
    assert found.column_for("Invoices", "No") == "no"
    assert found.column_for("invoices", "day") is None
    assert table.placement == Sharded(sharding="lookup index by_no", keys=(ShardKey.of("no"),))
    sharding = known.sharding_of(table)
    assert sharding.shards() == ("a", "b")
    assert [known.partitions(table, shard) for shard in known.homes(table)] == [("by_no",), ("by_no",)]


def test_its_slots_are_spread_over_the_shards_of_the_base_table():
    for shards in (1, 2, 3, 7):
        sources = "".join(f"CREATE SOURCE s{n} URL 'duckdb:///s{n}';" for n in range(shards))
        known = parse(
            sources + f"CREATE SHARDING f USING MOD {shards * 3} AS n ON s{{n // 3}};"
            "ATTACH TABLE t (k INT, x INT) SHARD BY f (k) NAMED 't_{n}'; CREATE LOOKUP INDEX i ON t (x)"
        )
        sharding = known.sharding_of(index_table(known, known.index("I")).table)
        sizes = [sharding.slots_of(shard).bit_count() for shard in sharding.shards()]
        assert sharding.shards() == tuple(f"s{n}" for n in range(shards))
        assert sum(sizes) == 1024
        assert max(sizes) - min(sizes) <= 1


def test_what_is_told_apart_by_its_value_is_hashed_rather_than_text():
    found, _ = made(INVOICES + "CREATE LOOKUP INDEX i ON invoices (no, day)")
    assert found.table.placement.keys == (ShardKey.of("day"),)
    found, _ = made("ATTACH TABLE t (k INT, x DOUBLE) SHARD BY by_k (k); CREATE LOOKUP INDEX i ON t (x)")
    assert found.table.placement == Scattered(sharding="by_k")


def test_the_columns_of_a_key_that_is_an_expression():
    found, _ = made(
        "ATTACH TABLE p (id BIGINT, k INT, name VARCHAR) SHARD BY by_k ((id >> 46)) ALSO BY (k);"
        "CREATE LOOKUP INDEX i ON p (name)"
    )
    assert [c.name for c in found.table.columns] == ["name", "id"]
    assert [key.name for key in found.keys] == ["id"]


def test_a_searched_column_of_the_key_is_there_once():
    found, _ = made(INVOICES + "CREATE LOOKUP INDEX i ON invoices (k, id)")
    assert [c.name for c in found.table.columns] == ["k", "id"]
    assert [key.name for key in found.keys] == ["k"]


def test_a_table_that_the_application_keeps():
    found, _ = made(
        INVOICES + "ATTACH TABLE kept (num VARCHAR(20) COLLATE NOCASE, cust INT) ON x;"
        "ATTACH LOOKUP INDEX i ON invoices (no) USING TABLE kept (num, cust)"
    )
    assert found.table.name == "kept"
    assert found.searched == ("num",)
    assert found.keys == (KeyColumn("cust", sqlglot.exp.column("k")),)
    assert found.column_for("invoices", "no") == "num"


ORDERS = (
    "ATTACH TABLE orders (id BIGINT PRIMARY KEY, k INT, at TIMESTAMP) SHARD BY by_k (k);"
    "ATTACH TABLE s.lines (order_id BIGINT NOT NULL, n INT, name VARCHAR) SHARD BY by_t (name);"
)


def test_a_join_index_names_its_columns_by_their_tables():
    found, known = made(
        ORDERS + "CREATE JOIN INDEX j ON orders.id = s.lines.order_id "
        "INCLUDE (s.lines.n, orders.at, s.lines.N) SHARD BY by_k (orders.k)"
    )
    assert columns(found.table) == [
        ("orders_id", "BIGINT", False, None),
        ("orders_k", "INT", True, None),
        ("lines_n", "INT", True, None),
        ("orders_at", "TIMESTAMP", True, None),
    ]
    assert found.column_for("S.Lines", "ORDER_ID") == found.column_for("orders", "id") == "orders_id"
    assert found.table.placement == Sharded(sharding="by_k", keys=(ShardKey.of("orders_k"),))
    assert known.homes(found.table) == ("a", "b")


def test_equal_values_that_may_be_written_otherwise_are_both_kept():
    for left, right in (("INT", "BIGINT"), ("VARCHAR", "VARCHAR"), ("DOUBLE", "DOUBLE"), ("INT", "INT")):
        found, _ = made(
            f"ATTACH TABLE t (k {left}) ON a; ATTACH TABLE u (k {right}) ON a;"
            "CREATE JOIN INDEX j ON t.k = u.k SHARD BY by_t (u.k)"
        )
        one = left == right == "INT"
        assert [c.name for c in found.table.columns] == (["t_k"] if one else ["t_k", "u_k"])
        assert found.table.placement.keys == (ShardKey.of("t_k" if one else "u_k"),)
    found, _ = made(
        "ATTACH TABLE t (k INT) ON a; ATTACH TABLE u (k INT) ON a;"
        "CREATE JOIN INDEX j ON t.k = u.k SHARD BY by_t (u.k)",
        "sqlite",
    )
    assert [c.name for c in found.table.columns] == ["t_k", "u_k"]


def test_names_are_told_apart_and_not_too_long():
    long = "x" * 70
    found, _ = made(
        f"ATTACH TABLE a_t (b VARCHAR, k INT, {long} INT, {long}y INT) ON a; ATTACH TABLE a_t_b (b INT) ON a;"
        "ATTACH TABLE a_u (b_b INT, k VARCHAR) ON a; ATTACH TABLE s.a_t (b VARCHAR) ON a;"
        f"CREATE JOIN INDEX j ON a_t.b = s.a_t.b INCLUDE (a_t.{long}, a_t.{long}y) SHARD BY by_t (a_t.k)"
    )
    names = [c.name for c in found.table.columns]
    assert names[:3] == ["a_t_b", "a_t_b_2", "a_t_k"]
    assert len(set(names)) == 5
    assert max(map(len, names)) == 60


def test_types_that_number_rows_are_told_and_exact_stays():
    found, _ = made(
        "ATTACH TABLE t (id BIGSERIAL, k INT, c TEXT COLLATE x) SHARD BY by_k (k) EXACT LOWER (c);"
        "CREATE LOOKUP INDEX i ON t (id, c)",
        "postgres",
    )
    assert [c.type for c in found.table.columns] == ["BIGINT", "TEXT", "INT"]
    assert found.table.columns[1].spelling is Spelling.LOWER
    assert found.table.exact == (("c", Spelling.LOWER),)


def test_two_shards_in_one_database_have_tables_of_their_own():
    known = parse(
        "CREATE SOURCE a URL 'duckdb:///a'; CREATE SOURCE b URL 'duckdb:///a';"
        "CREATE SHARDING f USING MOD 2 AS n (a = 0, b = 1);"
        "ATTACH TABLE t (k INT, x INT) SHARD BY f (k) NAMED 't_{n}'; CREATE LOOKUP INDEX i ON t (x)"
    )
    table = index_table(known, known.index("i")).table
    assert [known.partitions(table, shard) for shard in ("a", "b")] == [("i_a",), ("i_b",)]


DIRECTORY = (
    "CREATE SOURCE f_{t} FOR EACH t URL 'duckdb:///{t}'; CREATE SHARDING d USING DIRECTORY AS t ON f_{t};"
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ATTACH TABLE t SHARD BY by_k (k); CREATE LOOKUP INDEX i ON t (x)", "columns of table"),
        (INVOICES + "ATTACH TABLE i ON x; CREATE LOOKUP INDEX i ON invoices (id)", 'is called "i" too'),
        (INVOICES + "CREATE JOIN INDEX i ON invoices.id = invoices.k SHARD BY by_k (invoices.k)", "itself"),
        (
            DIRECTORY + "ATTACH TABLE t (t TEXT, x INT) SHARD BY d (t); CREATE LOOKUP INDEX i ON t (x)",
            "DIRECTORY",
        ),
        (
            DIRECTORY + INVOICES + "ATTACH TABLE u (x INT) ON x;"
            "CREATE JOIN INDEX i ON invoices.id = u.x SHARD BY d (invoices.no)",
            "DIRECTORY",
        ),
    ],
)
def test_what_has_no_index_table(text, why):
    known = catalog(text)
    assert why in why_no_table(known, known.index("i"))
    with pytest.raises(NotSupportedError, match=why):
        index_table(known, known.index("i"))


def test_a_table_of_a_wildcard_is_not_an_index():
    known = catalog("ATTACH TABLE * ON a;" + INVOICES + "CREATE LOOKUP INDEX i ON invoices (id)")
    assert known.wildcard("I") is None
    assert known.wildcard("j") is not None
    assert known.table("i") is None
    assert known.stored("I").columns[0].name == "id"


def test_a_sharding_that_takes_the_name_of_an_index_s_own():
    with pytest.raises(CatalogError, match="as is the one that the index has for itself"):
        catalog(
            INVOICES + 'CREATE SHARDING "lookup index i" USING MOD 1 (a = 0);'
            "CREATE LOOKUP INDEX i ON invoices (id)"
        )


def test_states():
    known = catalog(INVOICES + "CREATE LOOKUP INDEX i ON invoices (id);")
    index = known.index("i")
    assert known.state_of(index) is None
    built = known.with_(IndexState(name="I", state=Built.VALID, fingerprint=fingerprint(known, index)))
    assert built.state_of(index).state is Built.VALID
    assert parse(built.to_sql()) == built
    assert "LOCK INDEX I VALID" in built.lock_to_sql()
    assert "LOCK" not in built.to_sql(locked=False)
    again = built.apply("DROP LOOKUP INDEX i; CREATE LOOKUP INDEX i ON invoices (id)")
    assert again.state_of(again.index("i")) is None


def test_a_fingerprint_is_of_what_an_index_rests_on():
    text = INVOICES + "CREATE LOOKUP INDEX i ON invoices (no)"
    seals = [
        fingerprint(known, known.index("i"))
        for known in (
            catalog(text),
            catalog(text.replace("day DATE", "day TIMESTAMP")),
            catalog(text.replace("VARCHAR(20)", "VARCHAR(30)")),
            catalog(text.replace("COLLATE NOCASE", "")),
            catalog(text.replace("k INT", "k BIGINT")),
            catalog(text.replace("by_k (k)", "by_t (no)")),
            catalog(text.replace("(no)", "(day)")),
        )
    ]
    assert seals[0] == seals[1]
    assert len(set(seals)) == len(seals) - 1


def test_of_folds_letter_case():
    assert of("S.T", "C") == of("s.t", "c")
