"""Locks on names, seen by all processes of this machine, on a file that is there already and only read.

On Linux a name is one byte of the file, far behind its end; elsewhere all names are the whole file, so that
who holds one seems to hold them all; on Windows there are none. A lock ends with its process at the latest.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import Final, Protocol

from shardwise.errors import OperationalError

if sys.platform != "win32":
    import fcntl


class NameLocks(Protocol):
    """How names are locked on an open file. Both raise OSError where the file system has no such locks."""

    def hold(self, file: FileIO, names: Iterable[str]) -> None:
        """From now on these are held, until `let_go` or until the file is closed in every process that has
        it open by this descriptor. Others may hold them, too."""

    def let_go(self, file: FileIO) -> None:
        """Also for processes that were forked meanwhile, and have the descriptor as well."""

    def is_held(self, file: FileIO, name: str) -> bool:
        """Whether another open file holds it, in this process or elsewhere."""


class ByteLocks:
    """Locks of open file descriptions, see fcntl(2): one byte for a name."""

    def hold(self, file: FileIO, names: Iterable[str]) -> None:
        for name in names:
            fcntl.fcntl(file, fcntl.F_OFD_SETLKW, _flock(fcntl.F_RDLCK, _byte_of(name), 1))

    def let_go(self, file: FileIO) -> None:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, _flock(fcntl.F_UNLCK, 0, 0))

    def is_held(self, file: FileIO, name: str) -> bool:
        found = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _flock(fcntl.F_WRLCK, _byte_of(name), 1))
        return bool(_FLOCK.unpack(found)[0] != fcntl.F_UNLCK)


class FileLocks:
    """flock(2) on the whole file: names are not told apart."""

    def hold(self, file: FileIO, names: Iterable[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_SH)

    def let_go(self, file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)

    def is_held(self, file: FileIO, name: str) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(file, fcntl.LOCK_UN)
        return False


def of_this_system() -> NameLocks | None:
    """None: there are no locks between processes here."""
    if sys.platform == "win32":
        return None
    return ByteLocks() if hasattr(fcntl, "F_OFD_SETLKW") else FileLocks()


def opened(file: Path) -> FileIO:
    """To be locked. Raises FileNotFoundError, else ours: nobody would wait for a holder that has no lock."""
    try:
        return FileIO(os.fspath(file))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise OperationalError(
            f'cannot open "{file}", by which readers of indexes are waited for: {error.strerror}'
        ) from error


_FLOCK: Final = struct.Struct("hhqqi")
"""C's `struct flock`: type, whence, start, length (0: to the end), process (0 for open file descriptions)."""


def _flock(kind: int, start: int, length: int) -> bytes:
    return _FLOCK.pack(kind, os.SEEK_SET, start, length, 0)


def _byte_of(name: str) -> int:
    """Names that share one are taken for each other; of 2^56 bytes that is of no consequence."""
    return int.from_bytes(hashlib.blake2b(name.casefold().encode(), digest_size=7).digest(), "big")
