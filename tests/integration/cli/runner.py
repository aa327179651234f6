"""Runs the command line in this process."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import NamedTuple

from shardwise.cli import main


class Ran(NamedTuple):
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


def run(*arguments: str, stdin: str = "") -> Ran:
    """Exit code, standard output, standard error."""
    with _stream() as out, _stream() as err, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        before, sys.stdin = sys.stdin, io.StringIO(stdin)
        try:
            code = main(arguments)
        finally:
            sys.stdin = before
        out.flush()
        err.flush()
        return Ran(int(code), out.buffer.getvalue(), err.buffer.getvalue().decode())  # type: ignore[attr-defined]


@contextlib.contextmanager
def _stream() -> Iterator[io.TextIOWrapper]:
    with io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) as stream:
        yield stream
