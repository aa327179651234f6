"""Dialects whose statements may be kept whole have views in the place of their names, however they nest."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlglot import exp

from shardwise.catalog import parse
from shardwise.planner.dialects import query_dialect

_CATALOG = """
CREATE CATALOG c DIALECT {dialect};
CREATE SOURCE a URL '{url}';
ATTACH TABLE t (id INTEGER, x INTEGER) ON a;
CREATE VIEW inner_one AS SELECT id, x FROM t;
CREATE VIEW outer_one (a, b) AS SELECT id, x FROM inner_one;
"""
_URLS = {"sqlite": "sqlite:///a.db", "mysql": "mysql://u@h/a", "postgres": "postgresql://u@h/a"}


class Now:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def value_of(self, call: exp.Expr) -> exp.Expr | None:
        return None


@pytest.mark.parametrize("name", _URLS)
def test_a_view_with_names_of_its_own_over_a_view(name: str) -> None:
    catalog = parse(_CATALOG.format(dialect=name, url=_URLS[name]))
    dialect = query_dialect(name)
    (tree,) = dialect.trees("SELECT a FROM outer_one")
    fixed = dialect.fixed(tree, Now(), catalog)
    read = {table.name for table in fixed.find_all(exp.Table)} - {
        item.alias for item in fixed.find_all(exp.CTE)
    }
    assert read == {"t"}
