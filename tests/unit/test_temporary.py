"""The tests' own files in memory: gone with the session, and where it was killed, with the next one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import temporary

BEGIN = """
import sys, tempfile
from pathlib import Path
from tests import temporary
temporary.MEMORY, temporary._ROOM_BYTES = Path(sys.argv[1]), 0
temporary.in_memory()
print(tempfile.gettempdir(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in its place, and a session that has not begun."""
    monkeypatch.setattr(temporary, "MEMORY", tmp_path)
    monkeypatch.setattr(temporary, "_ROOM_BYTES", 0)
    monkeypatch.setattr(temporary, "_KEPT", [])
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", "")
    monkeypatch.delenv("TMPDIR")
    return tmp_path


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="its memory is unknown")
def test_what_a_killed_session_left_is_removed_and_what_another_has_is_not(memory: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    with subprocess.Popen(
        [sys.executable, "-c", BEGIN, str(memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        temporary.in_memory()
        ours = Path(tempfile.gettempdir())
        assert ours.parent == theirs.parent == memory
        assert theirs.exists()
        temporary.forget()
        assert not ours.exists()
        other.kill()
        other.wait()
    temporary.in_memory()
    assert not theirs.exists()
    temporary.forget()
    assert list(memory.iterdir()) == []
