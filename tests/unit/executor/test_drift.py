"""A statement that a shard cannot bind, though it fits the catalog's types, hints at the check."""

from __future__ import annotations

import pytest

from shardwise.errors import Error
from tests.unit.executor.lab import Lab, whole


@pytest.mark.parametrize("sql", ["SELECT abs(g) AS x FROM t", "SELECT id FROM t WHERE g BETWEEN 1 AND id"])
def test_a_type_that_a_function_does_not_take(lab: Lab, sql: str) -> None:
    lab.fill("ALTER TABLE t ALTER g TYPE BOOLEAN[] USING [b]", shards=["s1"])
    with pytest.raises(Error) as caught, lab.execute(whole(lab.fragment("f1", sql, ["s1"]))) as result:
        result.fetchall()
    assert caught.value.shard == "s1"
    assert "shardwise catalog check" in str(caught.value.hint)
