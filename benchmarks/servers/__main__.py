"""`make bench-servers`: measures, and writes docs/benchmarks-servers.json and docs/benchmarks-servers.md."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.servers import bulk, faults, joins, mixed, pages, points, report, tpch
from benchmarks.servers.places import PASSWORD, Placed, Product, placed
from tests.servers import mariadb, postgres, stop_all

DOCS = Path(__file__).parents[2] / "docs"
PARTS = "bulk points faults tpch joins pages mixed"
PRODUCTS: tuple[Product, ...] = ("mysql", "postgres")


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the servers are stopped all the same
    rounds = int(os.environ.get("ROUNDS", "5"))
    scale = float(os.environ.get("SCALE", "0.1"))
    parts = os.environ.get("PARTS", PARTS).split()
    products = [p for p in PRODUCTS if p in os.environ.get("PRODUCTS", " ".join(PRODUCTS)).split()]
    results: dict[str, Any] = {"machine": machine()}
    try:
        for product in products:
            print(f"{product}: loading TPC-H at scale {scale:g}", flush=True)
            with placed(product, scale) as place:
                results[product] = {"scale": scale, **measured(place, parts, rounds)}
            write(results)
        if "mixed" in parts:
            print(f"mixed: loading TPC-H at scale {scale:g}", flush=True)
            results["mixed"] = {"scale": scale, **mixed.measure(scale, rounds=min(3, rounds))}
        print(write(results))
    finally:
        stop_all()


def measured(place: Placed, parts: list[str], rounds: int) -> dict[str, Any]:
    os.environ[PASSWORD] = place.server().password
    found: dict[str, Any] = {}
    if "bulk" in parts:
        found["bulk"] = bulk.measure(place, rounds=rounds, rows=int(min(1.0, place.scale * 10) * 100_000))
        found["alone"] = bulk.alone(place, found["bulk"]["missing"])
    if "points" in parts:
        found["points"] = points.measure(place, rounds=rounds)
    if "faults" in parts:
        found["faults"] = faults.measure(place)
    if "tpch" in parts:
        found["tpch"] = tpch.measure(place, rounds=min(3, rounds))
    if "joins" in parts and place.product == "mysql":
        found["joins"] = joins.measure(place, rounds=min(3, rounds))
    if "pages" in parts and place.product == "mysql":
        found["pages"] = pages.measure(place, rounds=min(3, rounds))
    return found


def machine() -> dict[str, Any]:
    maria, post = mariadb(), postgres()
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "date": datetime.now(UTC).date().isoformat(),
        "load": os.getloadavg()[0],
        "mysql": f"MariaDB {maria.run('SELECT version()')[0][0].partition('-')[0]}",
        "postgres": f"PostgreSQL {post.run('SHOW server_version')[0][0].partition(' ')[0]}",
        **{name: version(name) for name in ("duckdb", "pyarrow", "PyMySQL", "psycopg")},
    }


def write(results: dict[str, Any]) -> str:
    """Into files, so that what was measured is kept should the rest fail; gives the page."""
    target = Path(os.environ.get("BENCH_DOCS", DOCS))
    target.mkdir(exist_ok=True)
    (target / "benchmarks-servers.json").write_text(json.dumps(results, indent=1) + "\n")
    page = report.page(results)
    (target / "benchmarks-servers.md").write_text(page)
    return page


if __name__ == "__main__":
    main()
