"""Whether a member of an open family is there, exactly as named, and is the file that was opened.

A member is missing if its file is, and only then: if the family's folder is gone too a disk is not mounted,
and no rows would be a wrong answer. On file systems that do not tell upper from lower case, ACME.db opens
acme.db: a name that is not the entry's own is missing. Symbolic links are followed: whoever may place them
decides.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from shardwise.errors import ShardUnavailable
from shardwise.executor.backends.base import Location

Identity = tuple[int, int]
_NO_SUCH = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def identity_of(location: Location) -> Identity | None:
    """What tells a member's file from another of its name; None for sources that are no members.

    Raises ShardUnavailable, which `is_missing` where that is certain.
    """
    if location.family is None or location.family.folder is None:
        return None
    try:
        found = os.stat(location.path)  # noqa: PTH116  each request asks, and a Path takes three times as long
    except OSError as error:
        raise _objection(location, location.family.folder, error) from None
    identity = found.st_dev, found.st_ino
    if not _is_called_so(location.path, location.family.folder, identity):
        raise _missing(location)
    return identity


def _is_called_so(path: str, folder: str, identity: Identity) -> bool:
    """Whether the entries have just these names; looked up only where letter case seems not to count."""
    names = path[len(folder) :]
    try:
        other = os.stat(folder + names.swapcase())  # noqa: PTH116
    except OSError:
        return True
    if names == names.swapcase() or (other.st_dev, other.st_ino) != identity:
        return True
    at = Path(folder or "/")
    for name in names.strip("/").split("/"):
        if name not in (entry.name for entry in at.iterdir()):
            return False
        at /= name
    return True


def _objection(location: Location, folder: str, error: OSError) -> ShardUnavailable:
    if error.errno not in _NO_SUCH:
        return ShardUnavailable(
            f'source "{location.source}": "{location.path}" cannot be read: {error.strerror}',
            hint="Check the permissions of the file and its folder",
        )
    if not Path(folder or "/").is_dir():
        return ShardUnavailable(
            f'source "{location.source}": folder "{folder}" does not exist',
            hint="Mount or make it: a member that is missing has no rows, a missing folder is an error",
        )
    return _missing(location)


def _missing(location: Location) -> ShardUnavailable:
    return ShardUnavailable(
        f'source "{location.source}": "{location.path}" does not exist',
        hint="Check the source's URL in the catalog; opening never makes a file",
        is_missing=True,
    )
