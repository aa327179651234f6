"""Files that get their name only once they are whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from shardwise.errors import OperationalError


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, in place of what is there; if the block fails nothing is left of it.

    It is written beside its place, under another name. What is no plain file (`/dev/stdout`) is written to.
    """
    with writing(path):
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield device
            return
        part = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
        try:
            with part.open("xb") as file:
                yield file
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """An error of the system while `path` is written is said as one of ours."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OperationalError(f"cannot write {path}: {error.strerror or error}") from error
