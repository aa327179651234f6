"""Where a session's files are: in memory, where the machine has room, so that no test waits for a disk.

MariaDB waits for the disk ten times to make one table, and a world of the oracle is hundreds; DuckDB and
SQLite wait at each commit. The files end with the session; with TMPDIR in the environment they
are there, and stay.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
_ROOM_BYTES = 12 << 30
"""A whole run has half of this."""
_KEPT: list[Path] = []


def in_memory() -> None:
    """Has this process, and those that it starts, make their temporary files in memory."""
    if "TMPDIR" in os.environ or not _has_room():
        return
    folder = Path(tempfile.mkdtemp(prefix="shardwise-tests-", dir=MEMORY))
    folder.chmod(0o1777)  # as of any such folder: servers are other users'
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    _KEPT.append(folder)


def forget() -> None:
    """Removes them."""
    while _KEPT:
        shutil.rmtree(_KEPT.pop(), ignore_errors=True)
        os.environ.pop("TMPDIR", None)
        tempfile.tempdir = None


def _has_room() -> bool:
    """Whether there is a file system in memory, and the memory that it would need."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        left = {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in lines)}
        room = min(shutil.disk_usage(MEMORY).free, left["MemAvailable"])
        return room >= _ROOM_BYTES and os.access(MEMORY, os.W_OK)
    except (OSError, KeyError, ValueError):
        return False
