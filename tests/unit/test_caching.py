"""Two threads that compute values which rest on each other's properties do not wait for each other."""

from __future__ import annotations

import ast
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import shardwise
from shardwise.caching import cached_property


def test_threads_do_not_hold_each_other_up() -> None:
    both = threading.Barrier(2, timeout=10)

    class Node:
        def __init__(self, below: Node | None = None) -> None:
            self.below = below

        @cached_property
        def outputs(self) -> int:
            if self.below is None:
                return 1
            both.wait()
            return self.below.ids

        @cached_property
        def ids(self) -> int:
            if self.below is None:
                return 2
            both.wait()
            return self.below.outputs

    with ThreadPoolExecutor(2) as threads:
        found = [threads.submit(lambda: Node(Node()).outputs), threads.submit(lambda: Node(Node()).ids)]
        assert [each.result(timeout=10) for each in found] == [2, 1]


def test_a_value_is_computed_once_and_kept() -> None:
    computed = []

    class Node:
        @cached_property
        def value(self) -> list[int]:
            """What it is."""
            computed.append(self)
            return [1]

    node = Node()
    assert node.value is node.value
    assert computed == [node]
    assert Node.value.__doc__ == "What it is."


def test_nothing_uses_the_one_with_the_lock() -> None:
    for path in Path(shardwise.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name == "caching.py" or "cached_property" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            assert not (
                isinstance(node, ast.ImportFrom) and node.module == "functools" and "cached_property" in names
            ), f"{path}: import it from shardwise.caching"
