"""A page far down an order over four MariaDB databases, beside the naive plan: PARTS=pages PRODUCTS=mysql."""

from __future__ import annotations

from typing import Any

from benchmarks import deep_page
from benchmarks.servers.mixed import one_duckdb
from benchmarks.servers.places import Placed
from tests.oracle.compare import answer_of


def measure(place: Placed, *, rounds: int) -> list[dict[str, Any]]:
    """In DuckDB's dialect over MariaDB, whose answers are compared with one DuckDB's."""
    with (
        place.cluster("duckdb") as cluster,
        cluster.connect() as seeking,
        cluster.connect(disable_passes=deep_page.NAIVE) as naive,
        one_duckdb(place.scale) as duck,
    ):
        return deep_page.measured(
            seeking,
            naive,
            lambda sql: answer_of(duck.execute(sql)),
            rounds=rounds,
            rows=int(1_500_000 * place.scale),
        )
