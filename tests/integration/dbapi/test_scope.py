"""Scopes from Python and from SQL: what they may be, what they cover, what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

import shardwise
from shardwise.catalog import parse
from shardwise.errors import NotSupportedError, ProgrammingError, Reason, SQLSyntaxError
from shardwise.planner import Context, Planner, scope_of
from shardwise.planner.scopes.scope import Scope
from tests.integration import tenants

COUNT = "SELECT count(*) FROM orders"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[shardwise.Cluster]:
    with shardwise.open(tenants.make(tmp_path_factory.mktemp("tenants"), "hash")) as opened:
        yield opened


@pytest.fixture
def con(cluster: shardwise.Cluster) -> Iterator[shardwise.Connection]:
    with cluster.connect() as connection:
        yield connection


def count(con: shardwise.Connection, sql: str = COUNT) -> int:
    (found,) = con.execute(sql).fetchone() or ()
    assert isinstance(found, int)
    return found


def shown(con: shardwise.Connection) -> list[tuple[Any, ...]]:
    return con.execute("SHOW SCOPE").fetchall()


# -- setting it -------------------------------------------------------------------------------------


def test_statements_set_show_and_reset_the_scope(con: shardwise.Connection) -> None:
    assert count(con) == 24
    assert con.execute("SET SCOPE tenant = 'acme'").description is None
    assert (count(con), shown(con)) == (4, [("tenant", "acme", False)])
    con.execute("set scope Tenant IN ('acme', 'globex')")
    assert (count(con), shown(con)) == (8, [("Tenant", "acme", False), ("Tenant", "globex", False)])
    con.execute("SET SCOPE shard = h0")
    assert shown(con)[-1] == ("shard", "h0", False)
    con.execute("RESET SCOPE;")
    assert (count(con), shown(con)) == (24, [])


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SET SCOPE tenant = ?", ["acme"]),
        ("SET SCOPE tenant = :t", {"t": "acme"}),
        ("SET SCOPE tenant = $t", {"t": "acme"}),
        ("SET SCOPE tenant IN (?)", [["acme"]]),
        ('SET SCOPE "TENANT" = ?, shard IN (?, ?)', ["acme", "h0", "h1"]),
        ("SET SCOPE by_tenant = 'acme'", None),
        ("SET SCOPE name = 'acme'", None),
        ("-- a comment\nSET /* and one */ SCOPE tenant = 'acme' -- and one", None),
    ],
)
def test_ways_to_write_it(con: shardwise.Connection, sql: str, params: Any) -> None:
    con.execute(sql, params)
    assert count(con) == 4


class Tenant(str, Enum):  # noqa: UP042  as programs have them
    """What `str()` makes of a member is another text."""

    ACME = "acme"


def test_a_value_of_a_subclass_is_the_text_that_it_is(con: shardwise.Connection) -> None:
    assert count(con.scoped(tenant=Tenant.ACME)) == 4
    con.execute("SET SCOPE tenant = ?", [Tenant.ACME])
    assert count(con) == 4


@pytest.mark.parametrize(
    "sql",
    [
        "SET SCOPE",
        "SET SCOPE tenant",
        "SET SCOPE tenant =",
        "SET SCOPE tenant = acme",
        "SET SCOPE tenant = 'acme' tenant = 'globex'",
        "SET SCOPE tenant = 'acme' OR 1 = 1",
        "SET SCOPE tenant = (SELECT 'acme')",
        "SET SCOPE tenant = 'a' || 'cme'",
        "SET SCOPE tenant IN ()",
        "SET SCOPE tenant IN ('acme'",
        "SET SCOPE 'tenant' = 'acme'",
        "SET SCOPE tenant = 'acme'; SET SCOPE tenant = 'globex'",
        "RESET SCOPE tenant",
        "SHOW SCOPE tenant",
    ],
)
def test_what_does_not_read_is_a_syntax_error(con: shardwise.Connection, sql: str) -> None:
    with pytest.raises(SQLSyntaxError) as caught:
        con.execute(sql)
    assert caught.value.position is not None
    assert not con.scope


@pytest.mark.parametrize("params", [[], ["acme", "b"], {"t": "acme"}])
def test_parameters_must_fit(con: shardwise.Connection, params: Any) -> None:
    with pytest.raises(ProgrammingError) as caught:
        con.execute("SET SCOPE tenant = ?", params)
    assert caught.value.reason is Reason.PARAMETERS


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tenat": "acme"}, 'Did you mean "tenant"'),
        ({"page": None}, "cannot be NULL"),
        ({"tenant": []}, "no values"),
        ({"tenant": object()}, "of type object"),
        ({"tenant": {"a": 1}}, "of type dict"),
        ({"tenant": "\ud800"}, "no valid text"),
        ({"tenant": True}, "which is VARCHAR"),
        ({"tenant": 1.5}, "which is VARCHAR"),
        ({"shard": "mian"}, 'Did you mean "main"'),
        ({"shard": 1}, "no shard of type int"),
    ],
)
def test_names_and_values_are_checked_when_they_are_set(
    cluster: shardwise.Cluster, given: Any, says: str
) -> None:
    with pytest.raises(ProgrammingError, match=says) as caught:
        cluster.connect(scope=given)
    assert caught.value.reason is Reason.SCOPE
    assert "acme" not in str(caught.value)


def test_a_value_is_never_text_of_a_statement(cluster: shardwise.Cluster) -> None:
    for value in ("' OR 1=1 --", "acme' OR 'x'='x", '" OR 1=1', "acme\0", "%", "$1", "?", "Acme", "acme "):
        with cluster.connect(scope={"tenant": value}, pinned=True) as con:
            assert count(con) == 0
            assert count(con, "SELECT count(*) FROM items") == 0


# -- values and types -------------------------------------------------------------------------------


def fitting(type_text: str, value: Any) -> Any:
    """The parameter that a value becomes."""
    catalog = parse(f"""
        CREATE SOURCE s{{n}} FOR n IN 0-1 DIALECT duckdb;
        CREATE SHARDING by_k USING HASH(crc32) SLOTS 4 ON s{{slot % 2}};
        CREATE TABLE t (k {type_text}, v INTEGER) SHARD BY by_k (k);
    """)
    scope = scope_of(catalog, {"k": value})
    plan = Planner(catalog).prepare("SELECT v FROM t").plan((), context=Context(scope=scope))
    ((only,),) = [tuple(fragment.params.values()) for fragment in plan.fragments]
    return only


@pytest.mark.parametrize(
    ("type_text", "value", "becomes"),
    [
        ("BIGINT", "5", 5),
        ("BIGINT", -5, -5),
        ("BIGINT", Decimal(5), 5),
        ("BIGINT", 5.0, 5),
        ("INTEGER", "-2147483648", -2147483648),
        ("VARCHAR", 5, "5"),
        ("VARCHAR", "05", "05"),
        ("DECIMAL(12,2)", "1.50", Decimal("1.5")),
        ("DATE", "2025-01-31", date(2025, 1, 31)),
        ("UUID", "12345678-1234-5678-1234-567812345678", UUID("12345678-1234-5678-1234-567812345678")),
    ],
)
def test_values_become_the_columns_type(type_text: str, value: Any, becomes: Any) -> None:
    found = fitting(type_text, value)
    assert (type(found), found) == (type(becomes), becomes)


@pytest.mark.parametrize(
    ("type_text", "value"),
    [
        ("BIGINT", "05"),
        ("BIGINT", "5.0"),
        ("BIGINT", " 5"),
        ("BIGINT", "five"),
        ("BIGINT", "5 OR 1=1"),
        ("BIGINT", 5.5),
        ("BIGINT", True),
        ("BIGINT", float("nan")),
        ("BIGINT", 1 << 63),
        ("TINYINT", 128),
        ("DECIMAL(12,2)", "NaN"),
        ("DATE", "yesterday"),
        ("UUID", "acme"),
    ],
)
def test_a_value_that_would_lose_something_is_an_error(type_text: str, value: Any) -> None:
    with pytest.raises(ProgrammingError, match=r"none of t\.k") as caught:
        fitting(type_text, value)
    assert str(value) not in str(caught.value).replace(type_text, "")


def test_scopes_are_values(cluster: shardwise.Cluster) -> None:
    one = scope_of(cluster.catalog, {"tenant": "acme"})
    assert one == scope_of(cluster.catalog, {"tenant": ["acme"]})
    assert hash(one) == hash(scope_of(cluster.catalog, {"tenant": ["acme", "acme"]}))
    assert one != scope_of(cluster.catalog, {"tenant": "globex"})
    assert not Scope()


# -- what it covers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT count(*) FROM tenants", 1),
        ("SELECT count(*) FROM items", 8),
        ("SELECT count(*) FROM every_order", 4),
        ("SELECT count(*) FROM cities", 2),
        ("SELECT count(*) FROM cities LEFT JOIN orders ON TRUE", 8),
        ("SELECT count(*) FROM clicks", 6),
        ("SELECT count(*) FROM items WHERE note > ''", 8),
    ],
)
def test_each_table_of_the_sharding_and_no_other(con: shardwise.Connection, sql: str, rows: int) -> None:
    with con.scoped(tenant="acme") as acme:
        assert count(acme, sql) == rows
        assert (
            len(acme.execute("EXPLAIN (ROUTE) SELECT * FROM items JOIN orders ON id = order_id").fetchall())
            == 1
        )


def test_a_table_without_a_key_is_refused_rather_than_read_whole(con: shardwise.Connection) -> None:
    with con.scoped(tenant="acme") as acme, pytest.raises(NotSupportedError, match="SCATTERED") as caught:
        acme.execute("SELECT count(*) FROM audit")
    assert caught.value.reason is Reason.SCOPE
    assert caught.value.position is not None
    assert "RESET SCOPE" in str(caught.value)


PARTLY = """
    CREATE SOURCE s{n} FOR n IN 0-3 DIALECT duckdb;
    CREATE SHARDING by_user USING MOD 4 AS n ON s{n};
    CREATE SHARDING by_day USING MOD 2 AS i, MOD 2 AS j ON s{i * 2 + j};
    CREATE TABLE users (id BIGINT PRIMARY KEY) SHARD BY by_user (id);
    CREATE TABLE orders (no BIGINT, user_id BIGINT) SHARD BY by_user (user_id) ALSO BY SLOT (no % 4);
    CREATE TABLE photos (id BIGINT) SHARD BY by_user ((id >> 46));
    CREATE TABLE lines (no BIGINT) SHARD WITH orders ON no = orders.no;
    CREATE TABLE days (a BIGINT, b BIGINT) SHARD BY by_day (a, b);
"""


@pytest.mark.parametrize(
    ("given", "sql", "says"),
    [
        ({"user_id": 5}, "FROM photos", "its shard key is"),
        ({"by_user": 5}, "FROM photos", "its shard key is"),
        ({"user_id": 5}, "FROM lines", "not declared unique"),
        ({"n": 1}, "", "number of a slot"),
        ({"by_day": 1}, "", "no shard key"),
        ({"no": 1}, "", "no shard key"),
    ],
)
def test_what_a_value_does_not_decide_is_refused(given: Any, sql: str, says: str) -> None:
    catalog = parse(PARTLY)
    with pytest.raises(shardwise.Error, match=says):
        Planner(catalog).prepare(sql or "SELECT 1").plan((), context=Context(scope=scope_of(catalog, given)))


@pytest.mark.parametrize(
    ("given", "sql", "shards"),
    [
        ({"user_id": 5}, "FROM users", ("s1",)),
        ({"user_id": "5"}, "FROM orders", ("s1",)),
        ({"user_id": [5, 6]}, "FROM orders JOIN users ON id = user_id", ("s1", "s2")),
        ({"a": 1}, "FROM days", ("s2", "s3")),
        ({"a": 1, "b": 0}, "FROM days", ("s2",)),
        ({"b": 0}, "FROM days JOIN days d USING (a, b)", ("s0", "s2")),
        ({"user_id": 5, "shard": ["s1", "s3"]}, "FROM orders", ("s1",)),
        ({"shard": ["s3", "s1"]}, "FROM orders", ("s1", "s3")),
        ({"shard": ["s3", "s1"]}, "FROM photos", ("s1", "s3")),
    ],
)
def test_a_scope_routes(given: Any, sql: str, shards: tuple[str, ...]) -> None:
    catalog = parse(PARTLY)
    for pinned in (False, True):
        scope = scope_of(catalog, given, pinned=pinned)
        plan = Planner(catalog).prepare(sql).plan((), context=Context(scope=scope))
        assert plan.fragments[0].route.shards == shards


def test_a_scope_of_shards_and_keys_that_do_not_meet_has_no_rows(con: shardwise.Connection) -> None:
    (home,) = {row[0] for row in con.execute("SELECT _shard FROM orders WHERE tenant = 'acme'").fetchall()}
    (other,) = {"h0", "h1"} - {home}
    with con.scoped(tenant="acme", shard=other) as acme:
        assert count(acme) == 0
        assert count(acme, "SELECT count(*) FROM items") == 0
        assert count(acme, "SELECT count(*) FROM cities") == 2


# -- pinned -----------------------------------------------------------------------------------------


def test_a_pinned_scope_cannot_be_changed(cluster: shardwise.Cluster) -> None:
    with cluster.connect(scope={"tenant": "acme"}, pinned=True) as con:
        for change in (
            lambda: con.execute("SET SCOPE tenant = 'acme'"),
            lambda: con.execute("RESET SCOPE"),
            lambda: con.scoped(tenant="acme"),
            con.reset_scope,
        ):
            with pytest.raises(ProgrammingError, match="pinned") as caught:
                change()
            assert caught.value.reason is Reason.SCOPE
        assert shown(con) == [("tenant", "acme", True)]


def test_a_pinned_scope_reads_further_tables_only_by_leave(cluster: shardwise.Cluster) -> None:
    with cluster.connect(scope={"tenant": "acme"}, pinned=True) as con:
        with pytest.raises(NotSupportedError, match='also_read=\\["clicks"\\]'):
            con.execute("SELECT * FROM clicks")
        with pytest.raises(NotSupportedError, match="also_read"):
            con.execute("SELECT * FROM audit")
    with cluster.connect(scope={"tenant": "acme"}, pinned=True, also_read=["Clicks"]) as con:
        assert count(con, "SELECT count(*) FROM clicks") == 6
        with pytest.raises(NotSupportedError):
            con.execute("SELECT * FROM audit")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"pinned": True}, "none was given"),
        ({"scope": {"tenant": "acme"}, "pinned": True, "also_read": ["orders"]}, "needs no leave"),
        ({"scope": {"tenant": "acme"}, "pinned": True, "also_read": ["cities"]}, "needs no leave"),
        ({"scope": {"tenant": "acme"}, "pinned": True, "also_read": ["clix"]}, "Did you mean"),
        ({"scope": {"tenant": "acme"}, "also_read": ["clicks"]}, "needs no leave"),
    ],
)
def test_what_connect_refuses(cluster: shardwise.Cluster, arguments: Any, says: str) -> None:
    with pytest.raises(ProgrammingError, match=says):
        cluster.connect(**arguments)


def test_connect_of_the_module_takes_a_scope(tmp_path: Path) -> None:
    path = tenants.make(tmp_path, "list")
    with shardwise.connect(path, scope={"tenant": "acme"}, pinned=True, rows_max=1000) as con:
        assert count(con) == 4
    with pytest.raises(ProgrammingError):
        shardwise.connect(path, scope={"tenat": "acme"})


def test_a_value_without_a_place_is_not_pinned_to(tmp_path: Path) -> None:
    """It has no shard: where reference tables are read would tell the name of another's."""
    with shardwise.open(tenants.make(tmp_path, "list")) as cluster:
        with cluster.connect(scope={"tenant": "nobody"}) as con:
            assert count(con) == 0
        with pytest.raises(ProgrammingError, match="no shard can hold"):
            cluster.connect(scope={"tenant": "nobody"}, pinned=True)


def test_shards_may_be_pinned_too(cluster: shardwise.Cluster) -> None:
    with cluster.connect(scope={"shard": ["h1"]}, pinned=True) as con:
        shards = con.execute("SELECT DISTINCT _shard FROM orders").fetchall()
        assert shards == [("h1",)]
        assert {row[0] for row in con.execute("SELECT _shard FROM audit").fetchall()} <= {"h1"}
        assert con.execute("SELECT DISTINCT _shard FROM cities").fetchall() == [("h1",)]


# -- connections beside it --------------------------------------------------------------------------


def test_a_scoped_connection_leaves_the_other_as_it_is(con: shardwise.Connection) -> None:
    con.register("mine", pa.table({"id": [0, 10]}))
    with con.scoped(tenant="acme") as acme:
        assert (count(acme), count(con)) == (4, 24)
        assert count(acme, "SELECT count(*) FROM orders JOIN mine USING (id)") == 1
        with acme.scoped(tenant="globex") as globex:
            assert globex.execute("SELECT DISTINCT tenant FROM orders").fetchall() == [("globex",)]
    assert count(con, "SELECT count(*) FROM orders JOIN mine USING (id)") == 2


def test_a_running_statement_keeps_its_scope(con: shardwise.Connection) -> None:
    con.execute("SET SCOPE tenant = 'acme'")
    cursor = con.execute("SELECT tenant FROM orders")
    con.execute("RESET SCOPE")
    assert set(cursor.fetchall()) == {("acme",)}


def test_the_same_text_in_two_scopes_gives_two_answers(cluster: shardwise.Cluster) -> None:
    """What is kept of a statement from one time to the next must not carry a scope over."""
    found = []
    for tenant in ("acme", "globex", "acme"):
        with cluster.connect(scope={"tenant": tenant}, pinned=True) as con:
            found += con.execute("SELECT min(tenant), count(*) FROM orders WHERE id >= ?", [0]).fetchall()
    assert found == [("acme", 4), ("globex", 4), ("acme", 4)]


def test_only_the_connection_runs_statements() -> None:
    """A call past it would forget the scope."""
    package = Path(shardwise.__file__).parent
    for path in [*(package / "dbapi").rglob("*.py"), *(package / "cli").rglob("*.py")]:
        if path.name != "connection.py":
            text = path.read_text(encoding="utf-8")
            assert "cluster.run(" not in text, path
            assert "cluster.plan(" not in text, path
