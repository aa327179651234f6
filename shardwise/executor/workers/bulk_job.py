"""What goes to and fro between `bulk.py` and a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa


class BulkJob(NamedTuple):
    """A statement on a file; `state` is what the file must still be like: its identity and schema version."""

    path: str
    immutable: bool
    state: tuple[int, int, int]
    sql: str
    params: Mapping[str, Any]
    columns: tuple[tuple[str, str], ...]
    time_zone: str


class NextBatch(NamedTuple):
    """More of the statement that the worker has open."""


class EndBulk(NamedTuple):
    """No more of it."""


class BulkReply(NamedTuple):
    """A batch, or none at the end; or what was wrong: `misfit` is column, value, why, hint."""

    batch: pa.RecordBatch | None = None
    is_refused: bool = False
    misfit: tuple[str, object, str, str | None] | None = None
    failure: str | None = None
