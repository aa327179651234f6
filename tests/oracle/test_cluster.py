"""The harness itself: its catalogs load, and its own rules place rows where the package's do."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.oracle.cluster import Grain, catalog_text, load_catalog, sizes
from tests.oracle.compare import Answer, difference, same
from tests.oracle.worlds import LETTERS, MEMBERS, SHOP, World

VALUES = [None, -7, -3, 0, 1, 2, 3, 5, 10, 19, 20, 25, 100]
WORDS = [None, "eu", "us", "zz", "jp", "", "EU"]


@pytest.mark.parametrize(("shards", "grain"), sizes(), ids=str)
@pytest.mark.parametrize("world", [MEMBERS, LETTERS, SHOP], ids=lambda world: world.name)
def test_rows_are_placed_as_the_catalog_says(tmp_path: Path, world: World, shards: int, grain: Grain) -> None:
    path = tmp_path / "cluster.sql"
    path.write_text(catalog_text(world.tables, world.shardings, shards, grain, world.views))
    catalog = load_catalog(path)
    for ours in world.shardings:
        theirs = catalog.sharding(ours.name)
        assert theirs.function.size == ours.size(shards, grain)
        for slot in range(theirs.function.size):
            assert theirs.shard_of(slot) == f"s{ours.shard(slot, shards)}"
        if ours.slot is not None:
            values = WORDS if ours.name == "by_region" else VALUES
            for key in itertools.product(values, repeat=theirs.function.arity):
                assert theirs.function.slot(key) == ours.slot(key, theirs.function.size), key


def answer(*rows: tuple[object, ...]) -> Answer:
    return Answer(("a", "b")[: len(rows[0])], ("DOUBLE", "VARCHAR")[: len(rows[0])], list(rows))


def test_comparison_is_exact_but_for_doubles() -> None:
    assert same(1.0, 1.0 + 1e-12)
    assert not same(1.0, 1.0 + 1e-6)
    assert same(float("nan"), float("nan"))
    assert not same(1, 1.0)
    assert not same(None, 0)
    assert same({"a": [1.0, None]}, {"a": [1.0 + 1e-13, None]})


def test_rows_are_a_multiset_unless_ordered() -> None:
    left, right = answer((1.0, "x"), (2.0, "y")), answer((2.0, "y"), (1.0, "x"))
    assert difference(left, right) is None
    assert difference(left, right, ordered=True) is not None
    assert difference(answer((1.0, "x"), (1.0, "x")), answer((1.0, "x"))) is not None
    assert difference(answer((1.0, "x"), (1.0, "y")), answer((1.0, "y"), (1.0, "x")), order_keys=(1,)) is None
    assert difference(left, right, order_keys=(2,)) is not None
