from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz import harness


@pytest.fixture(autouse=True)
def _close_worlds() -> Iterator[None]:
    """What a test asked ends with it."""
    yield
    harness.close()
