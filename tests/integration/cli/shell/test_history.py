"""What was typed is kept, whole, and for its user alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from shardwise.cli.shell.history import PrivateHistory, history_path


def test_where_it_is(tmp_path: Path) -> None:
    assert history_path({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "shardwise" / "shell_history"
    assert history_path({}) == Path("~/.local/state/shardwise/shell_history").expanduser()


def test_entries_of_many_lines_come_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "history"
    history = PrivateHistory(path)
    history.append_string("SELECT 1,\n\n  'ü';")
    history.append_string(".tables")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(PrivateHistory(path).load_history_strings()) == [".tables", "SELECT 1,\n\n  'ü';"]


@pytest.mark.parametrize(
    "text",
    ["SET PASSWORD 'x';", "CREATE SECRET s;", "URL 'mysql://u:pw@h/db'", "SELECT token;", "  \n"],
)
def test_secrets_are_not_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / "history"
    history = PrivateHistory(path)
    history.append_string(text)
    history.append_string("SELECT 1;")
    assert list(PrivateHistory(path).load_history_strings()) == ["SELECT 1;"]
    assert text in history.get_strings()  # for this session


def test_a_disk_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    PrivateHistory(tmp_path / "file" / "history").append_string("SELECT 1;")
