from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.harness import Stage


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("oracle"))
    yield stage
    stage.close()
