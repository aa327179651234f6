"""What was typed, in a file that nobody else may read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from prompt_toolkit.history import FileHistory

_SECRET: Final = re.compile(r"password|passwd|secret|token\b|://[^/\s:@']*:[^@\s']+@", re.IGNORECASE)


def history_path(environment: Mapping[str, str]) -> Path:
    """In the folder for state, as the XDG base directory specification has it."""
    state = environment.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "shardwise" / "shell_history"


class PrivateHistory(FileHistory):
    """Entries of any number of lines, each whole. What looks like a secret is kept for this session only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        super().__init__(str(path))

    def store_string(self, string: str) -> None:
        if not string.strip() or _SECRET.search(string):
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
            super().store_string(string)
        except OSError:
            """A full or read-only disk: the shell works without."""
