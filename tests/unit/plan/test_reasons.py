"""Every reason is documented, and the page is what the code says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import StrEnum
from importlib import import_module
from pathlib import Path

import pytest

from shardwise.errors import Reason
from shardwise.plan.reasons import REASONS, NotPushed, OfIndex, page

ROOT = Path(__file__).parents[3]
SLUG = re.compile(r"[a-z]+(-[a-z]+)+")


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
    assert written == page(), "run: python -m shardwise.plan.reasons > docs/reasons.md"


@pytest.mark.parametrize("reason", REASONS.values(), ids=list(REASONS))
def test_a_reason_is_told_in_full(reason: tuple[str, ...]) -> None:
    slug, _, title, meaning, remedy = reason
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", slug)
    assert not title.endswith(".")
    assert meaning.endswith((".", "?"))
    assert remedy.endswith(".")


def test_no_slug_means_two_things() -> None:
    assert len(REASONS) == len(Reason) + len(NotPushed) + len(OfIndex) + sum(
        r.kind == "route" for r in REASONS.values()
    )


def test_all_errors_and_declined_pushes_are_documented() -> None:
    assert {*Reason, *NotPushed, *OfIndex} <= REASONS.keys()


def test_every_slug_that_a_note_is_made_with_is_documented() -> None:
    used = {slug for path in (ROOT / "shardwise").rglob("*.py") for slug in slugs_in(path)}
    assert used <= REASONS.keys(), used - REASONS.keys()


def slugs_in(path: Path) -> Iterator[str]:
    """First arguments of Note(…): literals, members of StrEnums, and both arms of `a if b else c`."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if "Note(" in text else ():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "Note"
            and node.args
        ):
            for part in ast.walk(node.args[0]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def test_every_member_of_an_enumeration_of_notes_is_documented() -> None:
    """A StrEnum whose values are all slugs with a hyphen, anywhere in the planner, holds reasons."""
    for path in (ROOT / "shardwise" / "planner").rglob("*.py"):
        if "StrEnum" in path.read_text(encoding="utf-8"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for kind in vars(import_module(name)).values():
                if isinstance(kind, type) and issubclass(kind, StrEnum) and kind.__module__ == name:
                    values = {member.value for member in kind}
                    if all(SLUG.fullmatch(value) for value in values):
                        assert values <= REASONS.keys(), (kind, values - REASONS.keys())
