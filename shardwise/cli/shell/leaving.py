"""How a text that is run ends early."""

from __future__ import annotations

from shardwise.cli.console import Exit


class Leave(Exception):
    """The user wants to leave the shell."""

    def __init__(self, code: int = Exit.OK) -> None:
        super().__init__(code)
        self.code = int(code)


class Stopped(Exception):
    """A file that was read failed, and told so; what read it stops, too."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
