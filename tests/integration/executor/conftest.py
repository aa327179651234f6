"""A small laboratory: three shards."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.executor.lab import Lab

MakeLab = Callable[..., Lab]


@pytest.fixture
def make_lab(tmp_path: Path) -> Iterator[MakeLab]:
    """Makes laboratories that are closed at the end."""
    made: list[Lab] = []

    def make(**how: int) -> Lab:
        folder = tmp_path / f"lab {len(made)}"
        folder.mkdir()
        made.append(Lab(folder, **how))
        return made[-1]

    yield make
    for lab in made:
        lab.close()


@pytest.fixture(scope="session")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of three shards, a hundred rows of t on each: to be copied, which is quicker than making them."""
    made = Lab(tmp_path_factory.mktemp("numbers"))
    made.numbers(100)
    made.close()
    return made.folder


@pytest.fixture
def lab(make_lab: MakeLab, numbers: Path) -> Lab:
    """Three shards, a hundred rows of t on each."""
    lab = make_lab()
    shutil.copytree(numbers, lab.folder, dirs_exist_ok=True)
    return lab
