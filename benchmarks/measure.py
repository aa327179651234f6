"""Measuring: pairs of runs, one right after the other, so that what disturbs one disturbs both."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


@dataclass(frozen=True)
class Pair:
    """Medians of the runs of both, and the median of the ratios of each pair."""

    ours_s: float
    theirs_s: float
    ratio: float
    rounds: int


def paired(
    ours: Callable[[], Any], theirs: Callable[[], Any], *, rounds: int, budget_s: float = 30.0
) -> Pair:
    """One warm-up of each, then `rounds` pairs in turn, each starting with the other one; at least 3."""
    first = seconds(theirs) + seconds(ours)
    rounds = max(3, min(rounds, int(budget_s / max(first, 1e-9))))
    times: list[tuple[float, float]] = []
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            if number % 2:
                mine = seconds(ours)
                times.append((mine, seconds(theirs)))
            else:
                other = seconds(theirs)
                times.append((seconds(ours), other))
    finally:
        gc.enable()
    return Pair(
        median(mine for mine, _ in times),
        median(other for _, other in times),
        median(mine / other for mine, other in times),
        rounds,
    )


def once(module: str, *arguments: str) -> dict[str, Any]:
    """Runs `python -m module …` in a process of its own; what that prints, as JSON, on its last line."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peak_bytes(module: str, *arguments: str) -> int:
    """The same, of a program that prints {"peak": bytes}."""
    return int(once(module, *arguments)["peak"])
