"""The command line. `main` is the entry point; docs/cli.md is its reference.

Files in reading order: `app` (query, explain), `catalog` (check, import, format), `demo`; `output`
writes rows, `console` errors and exit codes, `progress` the bar, `parameters` reads --param.
"""

from shardwise.cli.app import main

__all__ = ["main"]
