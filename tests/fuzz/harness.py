"""What tests of found faults call."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from tests.fuzz.build import Built
from tests.fuzz.oracles import NotAnswered, Variant, expected, judge
from tests.fuzz.schema import World


def agree(world: World, *statements: str, **variant: Any) -> None:
    """That we answer each as one database does."""
    built = _built(world)
    for sql in statements:
        _agree(built, sql, Variant(**variant))


def close() -> None:
    """Ends the world that was asked last."""
    _kept.close()


_SECONDS_MAX = 30.0
"""These statements are quick; a machine with much to do is not."""
_kept = ExitStack()
_worlds: dict[str, Built] = {}
"""The world that was asked last, by its text: a test often asks several times, with other variants."""


def _built(world: World) -> Built:
    text = repr(world)
    if text not in _worlds:
        close()
        folder = _kept.enter_context(tempfile.TemporaryDirectory())
        _kept.callback(_worlds.clear)
        _worlds[text] = _kept.enter_context(closing(Built(world, Path(folder), _SECONDS_MAX)))
    return _worlds[text]


def _agree(built: Built, sql: str, variant: Variant) -> None:
    right = expected(built, sql)
    assert right is not None, f"one database does not determine the answer: {sql}"
    try:
        found = judge(built, sql, variant, right)
    except NotAnswered as why:
        raise AssertionError(f"refused: {why}: {sql}") from why
    assert found is None, f"{found.kind}\n{found.detail}\n{sql}"
