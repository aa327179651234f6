"""A dialect's page says how many statements of which kind are compared with the server's own answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.oracle.cases import read

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "oracle" / "cases"


def statements_by_title(dialect: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    title = ""
    for line in (CASES / f"{dialect}.sql").read_text(encoding="utf-8").splitlines():
        if line.startswith("-- "):
            title = line.removeprefix("-- ")
        elif line:
            counts[title] = counts.get(title, 0) + 1
    return counts


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_a_page_says_what_was_compared(dialect: str) -> None:
    page = (ROOT / "docs" / f"{dialect}-dialect.md").read_text(encoding="utf-8")
    shown = {what: int(count) for what, count in re.findall(r"^\| (.+) \| (\d+) \|$", page, re.MULTILINE)}
    counts = statements_by_title(dialect)
    if dialect == "mysql":
        counts["Pitfalls"] = len([*read("mysql_members"), *read("mysql_forty")])
    assert shown == counts
