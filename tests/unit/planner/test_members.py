"""Which members a statement names, and when a listing is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.errors import DataError, Reason
from shardwise.planner import Context, MembersNeeded, Planner

CATALOG = parse(
    """
    CREATE SOURCE file_{t} FOR EACH t URL 'duckdb:////srv/{t}.duckdb';
    CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
    ATTACH TABLE notes (id BIGINT, body TEXT) SHARD BY by_file (tenant TEXT VIRTUAL);
    ATTACH TABLE users (id BIGINT, tenant TEXT NOT NULL) SHARD BY by_file (tenant);
    ATTACH TABLE loose (id BIGINT, tenant TEXT) SHARD BY by_file (tenant);
    ATTACH TABLE numbered (id BIGINT) SHARD BY by_file (number BIGINT VIRTUAL);
    ATTACH TABLE plans (id BIGINT) REFERENCE ON by_file;
    """
)


def plan(sql: str, params: Sequence[Any] | None = None, members: Sequence[str] | None = None) -> Any:
    known = {} if members is None else {"by_file": tuple(members)}
    return Planner(CATALOG).prepare(sql).plan(params, context=Context(members=known))


@pytest.mark.parametrize(
    ("where", "members"),
    [
        ("tenant = 'a'", "a"),
        ("'a' = tenant", "a"),
        ("tenant IN ('b', 'a')", "a b"),
        ("tenant = 'a' OR tenant = 'b'", "a b"),
        ("tenant = 'a' AND body <> 'x'", "a"),
        ("(tenant = 'a' OR id = 1) AND tenant IN ('a', 'b')", "a b"),
        ("tenant IN ('a', 'b') AND tenant <> 'a'", "b"),
        ("tenant = 'a' AND tenant = 'b'", ""),
        ("false", ""),
        ("tenant LIKE 'abc'", "abc"),
        ("_shard = 'file_a'", "a"),
        ("_source IN ('file_a', 'file_b')", "a b"),
        ("_shard = 'elsewhere'", ""),
        ("(tenant, id) IN (('a', 1), ('b', 2))", "a b"),
    ],
)
def test_named_members_are_all_that_is_asked(where: str, members: str) -> None:
    shards = tuple(f"file_{name}" for name in members.split())
    assert plan(f"SELECT id, tenant FROM notes WHERE {where}").shards == shards


@pytest.mark.parametrize(
    "where",
    [
        "true", "tenant = 'a' OR id = 1", "tenant <> 'a'", "tenant > 'a'", "tenant LIKE 'a%'", "tenant IS NULL",  # noqa: E501
        "lower(tenant) = 'a'", "NOT tenant = 'a'", "tenant = body", "_shard <> 'file_a'",
        "tenant = (SELECT max(body) FROM notes WHERE tenant = 'a')",
    ],
)  # fmt: skip
def test_all_else_needs_a_listing(where: str) -> None:
    with pytest.raises(MembersNeeded) as caught:
        plan(f"SELECT id FROM notes WHERE {where}")
    assert (caught.value.sharding, caught.value.reason) == ("by_file", Reason.MEMBERS_NEEDED)


@pytest.mark.parametrize(
    ("sql", "is_named"),
    [
        ("SELECT 1 FROM notes a JOIN users b ON a.tenant = b.tenant WHERE b.tenant = 'a'", True),
        ("SELECT 1 FROM notes a LEFT JOIN users b ON a.tenant = b.tenant WHERE a.tenant = 'a'", True),
        ("SELECT 1 FROM notes a LEFT JOIN users b ON a.tenant = b.tenant WHERE b.tenant IS NULL", False),
        ("SELECT 1 FROM notes a, users b WHERE a.tenant = 'a'", False),
        (
            "SELECT 1 FROM notes a WHERE tenant = 'a' AND EXISTS (SELECT 1 FROM users b WHERE b.id = a.id)",
            False,
        ),
        (
            "SELECT 1 FROM notes a WHERE tenant = 'a' AND id IN (SELECT id FROM users WHERE tenant = 'b')",
            True,
        ),
        ("WITH n AS (SELECT * FROM notes) SELECT 1 FROM n WHERE tenant = 'a'", True),
        ("SELECT * FROM (SELECT * FROM notes LIMIT 3) n WHERE tenant = 'a'", False),
        ("SELECT 1 FROM notes WHERE tenant = 'a' UNION ALL SELECT 1 FROM users WHERE tenant = 'b'", True),
        ("SELECT 1 FROM notes n, plans p WHERE n.tenant = 'a'", False),
        ("SELECT 1 FROM plans", False),
    ],
)
def test_every_scan_must_be_limited(sql: str, *, is_named: bool) -> None:
    if is_named:
        assert set(plan(sql).shards) <= {"file_a", "file_b"}
    else:
        with pytest.raises(MembersNeeded):
            plan(sql)


def test_parameters_name_members() -> None:
    assert plan("SELECT 1 FROM notes WHERE tenant = ?", ["a"]).shards == ("file_a",)
    assert plan("SELECT 1 FROM numbered WHERE number = ?", [7]).shards == ("file_7",)
    with pytest.raises(DataError, match="cannot be a member"):
        plan("SELECT 1 FROM notes WHERE tenant = ?", ["../a"])


def test_a_listing_is_pruned() -> None:
    names = ("a", "ab", "b")
    assert plan("SELECT 1 FROM notes WHERE tenant LIKE 'a%'", members=names).shards == ("file_a", "file_ab")
    assert plan("SELECT 1 FROM notes WHERE tenant <> 'a'", members=names).shards == ("file_ab", "file_b")
    assert plan("SELECT 1 FROM notes WHERE tenant = 'z'", members=names).shards == ()
    assert plan("SELECT 1 FROM plans", members=names).shards == ("file_a",)


def test_groups_of_a_member_are_whole() -> None:
    names = ("a", "b")
    whole = plan("SELECT tenant, count(*) FROM notes GROUP BY tenant", members=names)
    assert "SUM" not in whole.merge.sql.upper()
    loose = plan("SELECT tenant, count(*) FROM loose GROUP BY tenant", members=names)
    assert "SUM" in loose.merge.sql.upper()  # NULL's group may be on every member
    joined = plan("SELECT a.id FROM notes a JOIN users b ON a.tenant = b.tenant", members=names)
    assert "JOIN" in joined.fragments[0].sql


def test_a_member_that_is_no_value_of_the_column_is_refused() -> None:
    with pytest.raises(
        DataError, match=r'"x" is a member of "by_file", and column "number" of "numbered" is BIGINT'
    ):
        plan("SELECT 1 FROM numbered", members=("7", "x"))
    assert plan("SELECT 1 FROM notes", members=("7", "x")).shards == ("file_7", "file_x")


def test_requests_say_what_may_be_missing() -> None:
    (request,) = plan("SELECT id FROM notes WHERE tenant = 'a'").start().ready()
    assert request.may_be_missing
    (request,) = plan("SELECT id FROM plans", members=("a",)).start().ready()
    assert not request.may_be_missing


def test_planning_does_not_grow_with_the_members() -> None:
    many = tuple(f"t{n:05}" for n in range(5000))
    found = plan("SELECT tenant, count(*) FROM notes GROUP BY tenant", members=many)
    assert len(found.shards) == 5000
    texts = [request.sql for request in found.start().ready()]
    assert len(set(texts)) == 5000
