"""Dot and backslash commands, as users of duckdb's, sqlite3's and psql's shells know them.

In reading order: `registry` (what a command is, how its line is read), then a file per kind: `looking` at the
catalog, `showing` results, `running` texts and files. To add one: a function with `@command` and a docstring,
which is its line of help.
"""

from __future__ import annotations

from shardwise.cli.shell.commands import looking, running, showing
from shardwise.cli.shell.commands.registry import COMMANDS, NAMES, Completes, Known, run

__all__ = ["COMMANDS", "NAMES", "Completes", "Known", "looking", "run", "running", "showing"]
