"""`make bench`: measures, and writes docs/benchmarks.json and docs/benchmarks.md.

pytest-benchmark runs all rounds of one function before the next, so a ratio of two would compare two
moments of the machine; `measure.paired` alternates them. (SCALES=0.01 ROUNDS=3 make bench is a quick look.)
"""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks import hot_path, many_files, planning, report, sqlite_bulk, tpch

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
    for scale in scales:
        print(f"TPC-H at scale {scale}", flush=True)
        results["tpch"][scale] = tpch.measure(float(scale), rounds=rounds, memory=float(scale) >= 1)
    target = Path(os.environ.get("BENCH_DOCS", DOCS))
    target.mkdir(exist_ok=True)
    (target / "benchmarks.json").write_text(json.dumps(results, indent=1) + "\n")
    (target / "benchmarks.md").write_text(report.page(results))
    print((target / "benchmarks.md").read_text())


if __name__ == "__main__":
    main()
