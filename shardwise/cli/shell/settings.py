"""What the shell's commands set: how rows are shown, and what is done beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from shardwise.cli.output import Format

Explaining = Literal["off", "on", "only", "analyze"]


@dataclass(slots=True)
class Settings:
    """One command each. `rows_max` and `width`: None is the terminal's, 0 no limit."""

    form: Format = Format.TABLE
    is_expanded: bool = False
    headers: bool = True
    null: str | None = None
    width: int | None = None
    rows_max: int | None = None
    pager: Sequence[str] = ()
    is_paged: bool = True
    timer: bool = False
    explain: Explaining = "off"
    echo: bool = False
    bail: bool = False
    progress: bool = True
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Target:
    """Where results go instead of the screen: a file that stays open, or one that takes a single result."""

    path: Path
    file: BinaryIO | None = None
    form: Format | None = None
    is_once: bool = False
