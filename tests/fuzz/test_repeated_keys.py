"""Subqueries that are keys of GROUP BY and are written again, where the binder alone cannot make them one."""

from __future__ import annotations

import pytest

from tests.fuzz.harness import agree
from tests.fuzz.test_found import _REPEATED, _repeated_world


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize("one", _REPEATED)
def test_a_subquery_that_is_written_again_is_the_key_of_a_statement_kept_whole(
    dialect: str, one: str
) -> None:
    """PostgreSQL: subquery uses ungrouped column "q.id" from outer query. Its tables were others there."""
    rows = "WITH RECURSIVE r1 AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r1 WHERE a < 4) SELECT"
    among = "FROM t5 q JOIN r1 ON a = q.id GROUP BY"
    agree(
        _repeated_world(2, dialect),
        f"{rows} {one} AS x, count(*) AS n {among} {one}",
        f"{rows} count(*) AS n {among} {one}, {one} HAVING {one} IS NOT NULL ORDER BY 1",
        f"{rows} count(*) AS n {among} {one} ORDER BY {one}, 1",
    )


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize("keys", ["{}", "ROLLUP ({})"])
def test_grouping_of_a_subquery_is_refused(dialect: str, keys: str) -> None:
    """PostgreSQL answers it; of ours its error came, that no key is so."""
    sql = f"SELECT GROUPING({_REPEATED[0]}) AS x FROM t5 q GROUP BY {keys.format(_REPEATED[0])}"
    with pytest.raises(AssertionError, match="NotSupportedError: GROUPING of a subquery"):
        agree(_repeated_world(2, dialect), sql)
