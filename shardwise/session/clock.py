"""The time, as the lock file has it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """In UTC, to the second: 2026-12-01T08:30:00Z."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
