"""What docstrings show is so."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import shardwise


def test_what_docstrings_show() -> None:
    names = [m.name for m in walk_packages(shardwise.__path__, "shardwise.") if "__main__" not in m.name]
    found = [doctest.testmod(import_module(name)) for name in names]
    assert sum(each.attempted for each in found) > 30
    assert not sum(each.failed for each in found)
