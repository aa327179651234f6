"""A tiny cluster in a folder with a space in its name: the working directory of every test here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration import tiny


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    tiny.make(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the cluster, its columns not imported."""
    copy = tmp_path / "a cluster"
    shutil.copytree(made, copy)
    monkeypatch.chdir(copy)
    monkeypatch.delenv("SHARDWISE_CATALOG", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return copy


@pytest.fixture
def imported(folder: Path) -> Path:
    """The same, columns written into the catalog."""
    (folder / "cluster.sql").write_text(tiny.WITH_COLUMNS, encoding="utf-8")
    return folder
