"""Where a session's files are: in memory, where the machine has room, so that no test waits for a disk.

MariaDB waits for the disk ten times to make one table, and a world of the oracle is hundreds; DuckDB and
SQLite wait at each commit. The files end with the session; with TMPDIR in the environment they
are there, and stay.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import TextIO

MEMORY = Path("/dev/shm")
_ROOM_BYTES = 12 << 30
"""A whole run has half of this."""
_PREFIX = "shardwise-tests-"
_KEPT: list[tuple[Path, TextIO]] = []
"""The folder, and its lock, which ends with this process, however it ends."""


def in_memory() -> None:
    """Has this process, and those that it starts, make their temporary files in memory."""
    if "TMPDIR" in os.environ:
        return
    _remove_what_others_left()
    if not _has_room():
        return
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=MEMORY))
    folder.chmod(0o1777)  # as of any such folder: servers are other users'
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    lock = (folder / "new").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / "new").rename(folder / "lock")  # nobody finds it before it is held
    _KEPT.append((folder, lock))


def forget() -> None:
    """Removes them."""
    while _KEPT:
        folder, lock = _KEPT.pop()
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()
        os.environ.pop("TMPDIR", None)
        tempfile.tempdir = None


def _remove_what_others_left() -> None:
    """The folders of sessions that were killed: nobody holds their locks."""
    for path in MEMORY.glob(f"{_PREFIX}*/lock"):
        try:
            with path.open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path.parent, ignore_errors=True)
        except OSError:
            continue


def _has_room() -> bool:
    """Whether there is a file system in memory, and the memory that it would need."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        left = {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in lines)}
        room = min(shutil.disk_usage(MEMORY).free, left["MemAvailable"])
        return room >= _ROOM_BYTES and os.access(MEMORY, os.W_OK)
    except (OSError, KeyError, ValueError):
        return False
