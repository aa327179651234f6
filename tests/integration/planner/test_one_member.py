"""A plan that was kept for one tenant is another's: what is sent is what planning anew would send."""

from __future__ import annotations

from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.planner import Context, scope_of
from tests.integration.planner.cached import Twins

CATALOG = parse("""
CREATE CATALOG c DIALECT duckdb;
CREATE SOURCE file_{t} FOR EACH t URL 'sqlite:////srv/{t}.db';
CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
CREATE SOURCE number_{n} FOR EACH n URL 'sqlite:////srv/numbers/{n}.db';
CREATE SHARDING by_number USING DIRECTORY AS number ON number_{number};
CREATE SOURCE main URL 'duckdb:////srv/main.duckdb';
CREATE SHARDING by_schema USING DIRECTORY AS org ON main;
CREATE SHARDING by_id USING MOD 4 ON main;
ATTACH TABLE notes (id BIGINT, body TEXT) SHARD BY by_file (tenant TEXT VIRTUAL);
ATTACH TABLE tags (id BIGINT, tag TEXT) SHARD BY by_file (tenant TEXT VIRTUAL);
ATTACH TABLE users (id BIGINT, tenant TEXT NOT NULL) SHARD BY by_file (tenant);
ATTACH TABLE numbered (id BIGINT) SHARD BY by_number (number BIGINT VIRTUAL);
ATTACH TABLE items (id BIGINT) SHARD BY by_schema (org TEXT VIRTUAL) NAMED '{org}.items';
ATTACH TABLE settings (k TEXT, v TEXT) ON file_acme;
ATTACH TABLE orders (id BIGINT, customer BIGINT) SHARD BY by_id (customer);
""")
NAMES = ["acme", "globex", "it's", "ünï", "a b", "acme", "%41"]


@pytest.fixture
def twins() -> Twins:
    return Twins(CATALOG)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, body FROM notes WHERE tenant = ?",
        "SELECT * FROM notes WHERE tenant = ? AND id = 5",
        "SELECT tenant, _shard, _source, count(*) FROM notes WHERE ? = tenant GROUP BY ALL LIMIT 3",
        "SELECT * FROM users WHERE tenant = ? ORDER BY id",
        "SELECT * FROM notes n JOIN tags t ON t.id = n.id AND t.tenant = n.tenant WHERE n.tenant = ?",
        "WITH w AS (SELECT * FROM notes WHERE tenant = $1) SELECT * FROM w, tags t WHERE t.tenant = $1",
        "SELECT * FROM notes WHERE tenant IN (?)",
        "SELECT (SELECT max(id) FROM notes WHERE tenant = $1) AS m, count(*) FROM tags WHERE tenant = $1",
    ],
)
def test_other_tenants_take_no_planning(twins: Twins, sql: str) -> None:
    hits = [twins.check(sql, [name]) for name in NAMES]
    assert hits == [False, *[True] * (len(NAMES) - 1)]


@pytest.mark.parametrize(
    ("sql", "sets"),
    [
        ("SELECT id FROM notes WHERE tenant = ? AND tenant <> 'acme'", [["globex"], ["acme"], ["globex"]]),
        ("SELECT id FROM notes WHERE tenant = ? AND tenant <> 'acme'", [["acme"], ["globex"], ["acme"]]),
        ("SELECT id FROM notes WHERE tenant = ? AND _shard = 'file_acme'", [["acme"], ["globex"], ["acme"]]),
        ("SELECT id FROM notes WHERE tenant = ? AND _source = 'file_acme'", [["globex"], ["acme"], ["x"]]),
        (
            "SELECT id FROM notes WHERE tenant IN (?, ?)",
            [["a", "a"], ["a", "b"], ["b", "b"], ["c", "d"], ["d", "c"]],
        ),
        ("SELECT id FROM notes WHERE tenant IN ?", [[["a"]], [["a", "b"]], [["b"]], [[]]]),
        ("SELECT id FROM notes WHERE tenant = ? AND tenant = ?", [["a", "a"], ["a", "b"], ["b", "b"]]),
        ("SELECT id FROM notes WHERE tenant = ? OR id = ?", [["a", 1], ["b", 2]]),
        ("SELECT n.id FROM notes n, settings s WHERE n.tenant = ?", [["acme"], ["globex"], ["acme"]]),
        ("SELECT n.id FROM notes n, orders o WHERE n.tenant = ? AND o.customer = ?", [["a", 1], ["b", 2]]),
        (
            "SELECT n.id FROM notes n, tags t WHERE n.tenant = ? AND t.tenant = ?",
            [["a", "a"], ["a", "b"], ["b", "b"]],
        ),
        ("SELECT n.id FROM notes n, tags t WHERE n.tenant = ? AND t.tenant = 'a'", [["a"], ["b"], ["a"]]),
        ("SELECT id FROM notes WHERE tenant = ? LIMIT ?", [["a", 1], ["b", 1], ["b", 2], ["c", 2]]),
        (
            "SELECT id FROM numbered WHERE number = ?",
            [[1], [2], [2**70], ["3"], ["03"], ["x"], [1.5], [None]],
        ),
        ("SELECT id FROM items WHERE org = ?", [["a"], ["b"], ["a"]]),
        (
            "SELECT id FROM notes n, items i WHERE n.tenant = ? AND i.org = ?",
            [["a", "x"], ["b", "x"], ["b", "y"]],
        ),
        ("SELECT id FROM notes WHERE tenant = ?", [["a"], [None], [1], [""], ["b"]]),
        ("SELECT id FROM notes WHERE tenant LIKE ?", [["a"], ["b"], ["a%"]]),
    ],
)
def test_what_is_not_alike_is_planned_anew(twins: Twins, sql: str, sets: list[Any]) -> None:
    for params in (*sets, *sets, *reversed(sets)):
        twins.check(sql, params)


@pytest.mark.parametrize("name", ["..", "a/b", "../etc", "/etc/passwd", "", ".", "a\0b", "a\\b", "x" * 300])
def test_names_that_lead_elsewhere_are_refused_whoever_was_before(twins: Twins, name: str) -> None:
    sql = "SELECT id FROM notes WHERE tenant = ?"
    for given in ("acme", name, "globex", name):
        twins.check(sql, [given])
    assert not twins.check(sql, [name])


def test_a_thousand_tenants_are_planned_once(twins: Twins) -> None:
    sql = "SELECT id, tenant FROM notes WHERE tenant = ? AND id = ?"
    prepared = twins.remembers.prepare(sql)
    for turn in range(2):
        for number in range(1_500):
            plan = prepared.plan([f"t{number}", turn])
            (fragment,) = plan.fragments
            assert fragment.route.shards == (f"file_t{number}",)
            assert f"'t{number}'" in fragment.text(f"file_t{number}")
            assert fragment.params["p1"] == f"t{number}"
    assert twins.cache.figures().planned == 1


# -- scopes -------------------------------------------------------------------------------------


def scoped(value: Any, *, key: str = "tenant", pinned: bool = True) -> Context:
    return Context(scope=scope_of(CATALOG, {key: value}, pinned=pinned))


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, body FROM notes WHERE id = 5",
        "SELECT *, _shard FROM notes",
        "SELECT count(*) FROM users u JOIN notes n ON n.id = u.id",
        "SELECT id FROM notes WHERE body = ? UNION ALL SELECT id FROM tags",
    ],
)
def test_other_scopes_take_no_planning(twins: Twins, sql: str, pinned: bool) -> None:
    params = ["x"] if "?" in sql else None
    hits = [twins.check(sql, params, scoped(name, pinned=pinned)) for name in NAMES]
    assert hits == [False, *[True] * (len(NAMES) - 1)]
    assert not twins.check(sql, params, scoped("acme", pinned=not pinned))


@pytest.mark.parametrize(
    ("sql", "scopes"),
    [
        ("SELECT id FROM notes WHERE tenant = 'acme'", ["acme", "globex", "acme"]),
        ("SELECT id FROM notes", ["a", ["a", "b"], ["b", "a"], ["c"], "b", ["b", "c"]]),
        ("SELECT n.id FROM notes n, settings s", ["acme", "globex", "acme"]),
        ("SELECT n.id FROM notes n, items i WHERE i.org = 'a'", ["acme", "globex"]),
    ],
)
def test_scopes_that_are_not_alike(twins: Twins, sql: str, scopes: list[Any]) -> None:
    for value in (*scopes, *scopes):
        for pinned in (False, True):
            twins.check(sql, None, scoped(value, pinned=pinned))
    twins.check(sql, None, None)


def test_a_scope_s_value_is_of_the_column_s_type(twins: Twins) -> None:
    hits = [
        twins.check("SELECT id, number FROM numbered", None, scoped(value, key="number"))
        for value in ("1", "2", 3, 4, -5, "1")
    ]
    assert hits == [False, True, False, True, True, True]


def test_scopes_of_keys_that_are_placed_keep_their_plans_apart(twins: Twins) -> None:
    for turn in range(3):
        for value in range(20):
            context = Context(scope=scope_of(CATALOG, {"customer": value}, pinned=True))
            hit = twins.check("SELECT * FROM orders WHERE id = ?", [turn], context)
            assert hit is (turn > 0)
