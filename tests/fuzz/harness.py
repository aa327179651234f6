"""What tests of found faults call."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.fuzz.build import Built
from tests.fuzz.oracles import NotAnswered, Variant, expected, judge
from tests.fuzz.schema import World


def agree(world: World, *statements: str, **variant: Any) -> None:
    """That we answer each as one database does."""
    with tempfile.TemporaryDirectory() as folder:
        built = Built(world, Path(folder))
        try:
            for sql in statements:
                _agree(built, sql, Variant(**variant))
        finally:
            built.close()


def _agree(built: Built, sql: str, variant: Variant) -> None:
    right = expected(built, sql)
    assert right is not None, f"one database does not determine the answer: {sql}"
    try:
        found = judge(built, sql, variant, right)
    except NotAnswered as why:
        raise AssertionError(f"refused: {why}: {sql}") from why
    assert found is None, f"{found.kind}\n{found.detail}\n{sql}"
