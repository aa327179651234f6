"""A file or a schema for each tenant, against one database in which the tenant is a column."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

import shardwise
from tests.oracle.cases import Case, read
from tests.oracle.compare import answer_of, difference, same_count
from tests.oracle.directories import DirectoryWorld
from tests.oracle.harness import DUCKDB, report, run

OURS = read("directories")
OTHERS = [
    case
    for topic in ("members", "forty", "regressions", "subqueries", "queries", "joins", "aggregates")
    for case in read(topic)
    if case.world == "members" and case.refused is None and case.at_least <= DUCKDB
]
WORLDS = (("duckdb", 1, "TEXT"), ("schemas", 2, "BIGINT"), ("sqlite", 3, "DATE"), ("sqlite", 7, "TEXT"))


@pytest.fixture(scope="module", params=WORLDS, ids=lambda world: "{} {} {}".format(*world))
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DirectoryWorld]:
    product, members, type_ = request.param
    made = DirectoryWorld(tmp_path_factory.mktemp("members"), members, product=product, type_=type_)
    yield made
    made.close()


@pytest.mark.parametrize("case", OURS, ids=lambda case: case.id)
def test_the_tenant_is_a_column_like_others(world: DirectoryWorld, case: Case) -> None:
    first, last = (member.replace("'", "''") for member in (world.members[0], world.members[-1]))
    compare(world, case, case.sql.replace("'X'", f"'{first}'").replace("'Y'", f"'{last}'"))


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.id)
def test_other_statements(world: DirectoryWorld, case: Case) -> None:
    compare(world, case, case.sql)


def compare(world: DirectoryWorld, case: Case, sql: str) -> None:
    try:
        given = world.one.execute(sql, case.params) if case.params else world.one.execute(sql)
        expected = answer_of(given)
    except duckdb.Error:
        with pytest.raises(shardwise.Error):
            run(world.cluster.connect(), sql, case.params)
        return
    with world.cluster.connect() as con:
        actual = run(con, sql, case.params)
    check = same_count if case.any else None
    problem = difference(actual, expected, ordered=case.ordered, order_keys=case.order_keys, check=check)
    report(problem, sql, len(world.members), "shard", actual, expected, f", {world.product}")
