from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.harness import Stage


@pytest.fixture(scope="session")
def whole_stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("oracle"))


@pytest.fixture(scope="module")
def stage(whole_stage: Stage) -> Iterator[Stage]:
    """The session's worlds; what was opened is closed after each file of tests, for it holds a gigabyte."""
    yield whole_stage
    whole_stage.close()
