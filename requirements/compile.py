"""Write the hashed locks from pyproject.toml's ranges: `make lock`.

lock.txt is what a user gets, dev-lock.txt adds the development group and the extras that
tests use, duckdb15.txt is what turns a dev environment into the smoke run
on DuckDB 1.5: the extra of that name. Only names, versions and hashes are kept: no index, host or path.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The build backend is pinned too, so that installing from this folder fetches nothing unpinned.
BUILD = ("hatchling", "editables")
# Locked on purpose below the ranges' ends.
PINS = ("duckdb>=2.0,<2.1",)


def compile_lock(
    wanted: list[str], target: Path, constraints: Path | None = None, *, deps: bool = True
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "in.txt"), Path(folder, "out.txt")
        source.write_text("\n".join(wanted) + (f"\n-c {constraints}\n" if constraints else "\n"))
        options = [
            "--generate-hashes",
            "--no-emit-index-url",
            "--no-emit-trusted-host",
            "--no-emit-find-links",
        ]
        options += ["--no-header", "--no-annotate", "--allow-unsafe", "--strip-extras", "--quiet"]
        command = [sys.executable, "-m", "piptools", "compile", *options, "-o", str(out), str(source)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        text = out.read_text()
    blocks = re.findall(
        r"^(\S+==.*(?:\\\n(?: +--hash=sha256:[0-9a-f]{64} ?)?)*(?:\n? +--hash=.*)*)", text, re.M
    )
    if not deps:
        names = tuple(re.match(r"[\w.-]+", line)[0] + "==" for line in wanted)
        blocks = [block for block in blocks if block.startswith(names)]
    body = "\n".join(block.rstrip() for block in blocks) + "\n"
    assert "://" not in body
    assert body.count("==") == len(blocks)
    target.write_text("# Written by `make lock` from pyproject.toml; do not edit.\n" + body)
    print(f"{target.name}: {len(blocks)} packages")


def main() -> None:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())
    runtime = list(project["project"]["dependencies"])
    development = list(project["dependency-groups"]["dev"])
    compile_lock([*runtime, *BUILD, *PINS], HERE / "lock.txt")
    compile_lock([*runtime, *development, *PINS], HERE / "dev-lock.txt", HERE / "lock.txt")
    compile_lock(project["project"]["optional-dependencies"]["duckdb15"], HERE / "duckdb15.txt", deps=False)


if __name__ == "__main__":
    main()
