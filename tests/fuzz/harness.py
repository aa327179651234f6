"""What tests of found faults call."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.fuzz.build import Built
from tests.fuzz.oracles import NotAnswered, Variant, expected, judge
from tests.fuzz.schema import World


def agree(world: World, sql: str, **variant: Any) -> None:
    """That we answer as one database does."""
    with tempfile.TemporaryDirectory() as folder:
        built = Built(world, Path(folder))
        try:
            right = expected(built, sql)
            assert right is not None, "one database does not determine the answer"
            try:
                found = judge(built, sql, Variant(**variant), right)
            except NotAnswered as why:
                raise AssertionError(f"refused: {why}") from why
            assert found is None, f"{found.kind}\n{found.detail}"
        finally:
            built.close()
