"""What docstrings show is so."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import shardwise


def test_what_docstrings_show() -> None:
    names = [m.name for m in walk_packages(shardwise.__path__, "shardwise.") if "__main__" not in m.name]
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for name in names:
        for shown in finder.find(import_module(name)):
            if shown.examples:  # to run one without any costs 2 ms
                runner.run(shown)
    assert runner.tries > 30
    assert not runner.failures
