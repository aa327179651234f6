"""What is not allowed says why, and what there is instead."""

from __future__ import annotations

import pytest

from shardwise.errors import NotSupportedError
from shardwise.planner.parse import parse


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT current_setting('threads')", "SHOW TABLES and SHOW SOURCES tell about this one"),
        ("SELECT * FROM duckdb_tables()", "SHOW TABLES and SHOW SOURCES tell about this one"),
        ("SELECT nextval('s')", "each statement here stands by itself"),
        ("SELECT * FROM read_csv('x.csv')", "Attach the data as a source of the catalog"),
        ("SELECT * FROM made_up(1)", "Attach the data as a source of the catalog"),
        ("SUMMARIZE a", "approx_count_distinct(x); DESCRIBE tells the columns"),
    ],
)
def test_hints(sql: str, hint: str) -> None:
    with pytest.raises(NotSupportedError) as caught:
        parse(sql)
    assert hint in str(caught.value)
