"""`make bench`: measures, and writes docs/benchmarks.json and docs/benchmarks.md.

pytest-benchmark runs all rounds of one function before the next, so a ratio of two would compare two
moments of the machine; `measure.paired` alternates them. (SCALES=0.01 ROUNDS=3 make bench is a quick look.)
`planning`, `strategies`, `deep_page` and `spilling` can be run alone: python -m benchmarks.strategies.
"""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    deep_page,
    hot_path,
    many_files,
    planning,
    report,
    spilling,
    sqlite_bulk,
    strategies,
    tpch,
)

STRATEGIES_SCALE = 0.1
DOCS = Path(__file__).parents[1] / "docs"


def main() -> None:
    rounds = int(os.environ.get("ROUNDS", "9"))
    scales = os.environ.get("SCALES", "0.1 1").split()
    print("planning", flush=True)
    results = {
        "machine": {
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "date": datetime.now(UTC).date().isoformat(),
            **{name: version(name) for name in ("duckdb", "sqlglot", "pyarrow")},
        },
        "planning": planning.measure(rounds=rounds),
        "tpch": {},
    }
    print("the hot path", flush=True)
    results["hot"] = hot_path.measure(rounds=rounds)
    print("many SQLite files", flush=True)
    results["files"] = many_files.measure(rounds=rounds)
    print("a large SQLite file", flush=True)
    results["bulk"] = sqlite_bulk.measure(rounds=rounds)
    print(f"TPC-H at scale {STRATEGIES_SCALE:g} by every strategy", flush=True)
    results["strategies"] = strategies.measure(STRATEGIES_SCALE)
    print("a join that spills", flush=True)
    results["spilling"] = spilling.measure(10_000_000 if "1" in scales else 1_000_000)
    results["pages"] = {}
    for scale in scales:
        print(f"deep pages at scale {scale}", flush=True)
        results["pages"][scale] = deep_page.measure(float(scale), rounds=min(5, rounds))
        print(f"TPC-H at scale {scale}", flush=True)
        results["tpch"][scale] = tpch.measure(float(scale), rounds=rounds, memory=float(scale) >= 1)
    target = Path(os.environ.get("BENCH_DOCS", DOCS))
    target.mkdir(exist_ok=True)
    (target / "benchmarks.json").write_text(json.dumps(results, indent=1) + "\n")
    (target / "benchmarks.md").write_text(report.page(results))
    print((target / "benchmarks.md").read_text())


if __name__ == "__main__":
    main()
