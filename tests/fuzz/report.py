"""A failing case as a test to paste."""

from __future__ import annotations

from tests.fuzz.oracles import Failure, Variant
from tests.fuzz.reduce import Case
from tests.fuzz.schema import printed


def as_test(case: Case, found: Failure, name: str) -> str:
    """A function for tests/fuzz/test_found.py, which says in its docstring what was wrong."""
    parts, world = printed(case.world)
    given = "" if case.variant == Variant() else f", {case.variant}"
    head = f'def test_{name}() -> None:\n    """{_told(found)}"""\n'
    return f"{head}{parts}    agree({world}, {_quoted(case.sql)}{given})\n"


def _quoted(sql: str) -> str:
    return f'"{sql}"' if '"' not in sql and "\\" not in sql else f"'''{sql}'''"


def _told(found: Failure) -> str:
    first = found.detail.partition("\n")[0].replace('"', "'").replace("\\", "/")
    return f"{found.kind.partition(':')[0]}: {first}"[:150]
