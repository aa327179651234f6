"""Reading and writing `.plan` files.

A file is cases with a blank line between them:

    -- Prose, if there is any to say.
    -- catalog: shop
    -- params: [5, "a"]
    -- scope: {"customer_id": 5}
    -- options: {"trust_indexes": true}
    -- expect: push_limit
    -- never: push_limit, split_aggregates
    -- force: group_before_joins
    -- todo: what is wrong today
    SELECT …
    ----
    the plan as EXPLAIN prints it, or "error: " and the message

`catalog` holds until another one is named. `expect` and `never` name passes that must, or must not,
have changed the tree; `force` what is done whatever is estimated. The plan of a `todo` case is written by
hand, as it should be; the day it comes out so, the case fails until the line is taken away. Comments before
the first case that end in a blank line are the file's own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_DIRECTIVE = re.compile(r"-- (catalog|params|scope|options|expect|never|force|todo): *(.*)")
_BORDER = "----"


@dataclass
class Case:
    """One statement and its plan. `head` is all that stands before the border, as it was written."""

    file: Path
    number: int
    head: list[str]
    plan: str
    catalog: str = "shop"
    params: Any = ()
    scope: Any = field(default_factory=dict)
    options: Any = field(default_factory=dict)
    expect: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    todo: str = ""
    sql: str = ""

    def __str__(self) -> str:
        return f"{self.file.stem}:{self.number}"


@dataclass
class PlanFile:
    path: Path
    prose: list[str] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)

    def write(self) -> None:
        """Rewrites the file, if its text has changed."""
        parts = ["\n".join(self.prose)] if self.prose else []
        parts += ["\n".join([*case.head, _BORDER, case.plan]) for case in self.cases]
        text = "\n\n".join(parts) + "\n"
        if text != self.path.read_text(encoding="utf-8"):
            self.path.write_text(text, encoding="utf-8")


def read(path: Path) -> PlanFile:
    """The file's cases. A plan has no blank line in it."""
    out = PlanFile(path)
    catalog = "shop"
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip("\n")):
        lines = block.splitlines()
        if _BORDER not in lines:
            if out.cases or not all(line.startswith("--") for line in lines):
                raise ValueError(f"{path.name}: a case without {_BORDER}:\n{block}")
            out.prose += ([""] if out.prose else []) + lines
            continue
        border = lines.index(_BORDER)
        case = Case(path, len(out.cases) + 1, lines[:border], "\n".join(lines[border + 1 :]), catalog)
        _directives(case)
        catalog = case.catalog
        out.cases.append(case)
    return out


def _directives(case: Case) -> None:
    sql = []
    for line in case.head:
        if found := _DIRECTIVE.fullmatch(line):
            name, value = found.groups()
            if name == "catalog":
                case.catalog = value.strip()
            elif name == "todo":
                case.todo = value
            elif name in ("params", "scope", "options"):
                setattr(case, name, json.loads(value))
            else:
                names = tuple(part.strip() for part in value.split(","))
                setattr(case, name, getattr(case, name) + names)
        elif not line.startswith("--"):
            sql.append(line)
    case.sql = "\n".join(sql)
    if not case.sql:
        raise ValueError(f"{case}: no SQL")


def files() -> list[PlanFile]:
    return [read(path) for path in sorted(HERE.glob("*.plan"))]
