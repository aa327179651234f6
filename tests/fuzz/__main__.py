"""`make fuzz`: random worlds and statements until the time is over; what fails is printed as a small test."""

from __future__ import annotations

import argparse
import sys
import time
import warnings

from tests.fuzz.run import Fuzzer
from tests.servers import are_there, stop_all


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="the first world's; else the clock says")
    parser.add_argument(
        "--dialect", default="duckdb", choices=["duckdb", "mysql", "postgres", "sqlite", "all"]
    )
    parser.add_argument("--failures", type=int, default=5, help="end after so many")
    parser.add_argument("--reduce", type=float, default=90.0, help="seconds to make one small")
    parser.add_argument("--files", action="store_true", help="duckdb: no world on servers, though some run")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seed = given.seed if given.seed is not None else int(time.time()) % 10_000_000
    dialects = ("duckdb", "sqlite", "postgres", "mysql") if given.dialect == "all" else (given.dialect,)
    may_be = "duckdb" in dialects and not given.files and are_there()
    fuzzer = Fuzzer(reduce_s=given.reduce, failures_max=given.failures, say=say, may_be_on_servers=may_be)
    try:
        fuzzer.run(seed, dialects, given.seconds)
    finally:
        stop_all()
        say(fuzzer.told())
    return 1 if fuzzer.failures else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
