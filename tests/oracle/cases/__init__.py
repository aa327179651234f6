"""Cases as SQL files: blocks between blank lines, their comments first.

-- what it shows
-- @ordered                the rows are a sequence        (else a multiset)
-- @sorted 1 3             positions of the sort keys: rows that tie in them may come in any order
-- @any                    one database does not determine the rows: names, types and their number count
-- @params [1, "x"]        parameters, as JSON
-- @raises                 one database raises: so do we, or we answer
-- @refused reason         one database answers, we refuse: with NotSupportedError
-- @at_least 1.6           needs this version of DuckDB
-- = [[1, "x"]]            the rows, as JSON, worked out by hand or by one database
SELECT …;
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One statement. `id` is file and line, to be found again."""

    id: str
    world: str
    sql: str
    title: str = ""
    ordered: bool = False
    order_keys: tuple[int, ...] = ()
    any: bool = False
    params: list[Any] | dict[str, Any] | None = None
    raises: bool = False
    refused: str | None = None
    at_least: tuple[int, ...] = ()
    rows: list[list[Any]] | None = field(default=None, compare=False)


def read(name: str) -> list[Case]:
    """The cases of a file; its first comment names the world."""
    text = (HERE / f"{name}.sql").read_text()
    first, _, rest = text.partition("\n")
    world = first.removeprefix("-- world:").strip()
    cases, line = [], 2
    for block in rest.split("\n\n"):
        lines = block.strip("\n").splitlines()
        start = line + (len(block) - len(block.lstrip("\n")))
        line += block.count("\n") + 2
        body = [text for text in lines if not text.startswith("--")]
        if body:
            comments = [text[2:].strip() for text in lines if text.startswith("--")]
            cases.append(_case(f"{name}:{start}", world, "\n".join(body).rstrip(";"), comments))
    return cases


def _case(id: str, world: str, sql: str, comments: list[str]) -> Case:
    options: dict[str, Any] = {}
    for comment in comments:
        word, _, value = comment.partition(" ")
        match word:
            case "@ordered" | "@any" | "@raises":
                options[word[1:]] = True
            case "@sorted":
                options["order_keys"] = tuple(map(int, value.split()))
            case "@params":
                options["params"] = json.loads(value)
            case "@refused":
                options["refused"] = value
            case "@at_least":
                options["at_least"] = tuple(map(int, value.split(".")))
            case "=":
                options["rows"] = json.loads(value)
            case _ if word.startswith("@"):
                raise ValueError(f"{id}: {comment}")
            case _:
                options.setdefault("title", comment)
    return Case(id, world, sql, **options)
