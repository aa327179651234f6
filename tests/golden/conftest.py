"""`pytest tests/golden --accept` (or `make accept`) writes the plans as they are now; CI never does."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite the golden plans; read the diff")


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Whether to rewrite. The option is unknown where pytest was started above this folder."""
    asked = request.config.getoption("--accept", default=False) or os.environ.get("SHARDWISE_ACCEPT") == "1"
    if asked and os.environ.get("CI"):
        pytest.fail("plans are accepted by people, not by CI")
    if asked and os.environ.get("PYTEST_XDIST_WORKER"):
        pytest.fail("plans are accepted in one process: add -n 0")
    return bool(asked)
