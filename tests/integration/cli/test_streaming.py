"""Large results pass in flat memory; a reader that has seen enough ends the command quietly."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import shardwise

pytestmark = pytest.mark.slow

MEASURED = """
import sys
from shardwise.cli import main
code = main(sys.argv[1:])
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print("PEAK", peak, file=sys.stderr)
sys.exit(code)
"""
SQL = "SELECT c.id, x, c.name || ' and some more text ' || x AS t FROM customers c, range({n}) r(x)"
GROWTH_MAX_KB = 80_000


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(shardwise.__file__).parents[1])}


def peak_kb(folder: Path, form: str, n: int, output: str) -> int:
    """The most memory that the command ever had, with 300 · `n` rows written."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "query", SQL.format(n=n), "-f", form, "-o", output],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return int(done.stderr.split("PEAK", 1)[1])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_memory_does_not_grow_with_the_result(imported: Path, form: str) -> None:
    """1.5 million rows, about 60 MB as text, against 300,000."""
    few = peak_kb(imported, form, 1_000, "few")
    many = peak_kb(imported, form, 5_000, "many")
    assert (imported / "many").stat().st_size > 4 * (imported / "few").stat().st_size
    assert many - few < GROWTH_MAX_KB, f"{few:,} kB for 300,000 rows, {many:,} kB for 1,500,000"


@pytest.mark.parametrize("form", ["csv", "jsonl", "tsv", "arrow", "table"])
def test_a_closed_pipe_ends_quietly(imported: Path, form: str) -> None:
    python = shlex.quote(sys.executable)
    command = f"{python} -m shardwise query '{SQL.format(n=500)}' -f {form} | head -c 1000 | wc -c"
    command = command.replace("' and some more text '", "'\"'\"' and some more text '\"'\"'")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=imported,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "1000", "")
