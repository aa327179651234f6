"""JSON columns of the mysql dialect, put into another JSON where rows of several shards meet."""

from __future__ import annotations

from contextlib import closing

import pytest

from shardwise.errors import Error
from tests.oracle.mysql_world import MySQLWorld


def test_a_json_put_into_another_is_refused_in_the_merge() -> None:
    with closing(MySQLWorld(2)) as world:
        for sql in (
            "SELECT json_arrayagg(j) FROM o",
            "SELECT json_object('j', a.j) FROM o a JOIN o c ON a.id = c.id - 1",
        ):
            with pytest.raises(Error, match="put into another JSON"):
                world.found(sql)
        on_shards = "SELECT id, json_object('j', j) FROM o ORDER BY id"
        assert world.found(on_shards) == world.expected(on_shards)
