"""Names that are safe to write: quoted where they must be, unique where they must be.

Names are compared without regard to letter case, as DuckDB does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from shardwise.plan.nodes import Node

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")

NO_COLUMNS = "one"
"""The name of the column that stands in for "no columns", which SQL cannot say."""


def identifier(name: str) -> exp.Identifier:
    """The name, quoted where needed. (Keywords are sqlglot's generator's matter, which has the list.)"""
    return exp.Identifier(this=name, quoted=_PLAIN.match(name) is None)


def name_text(name: str) -> str:
    """The name as text, as `identifier` and the generator would write it, without a tree."""
    if _PLAIN.match(name) is not None and name not in DuckDB.Generator.RESERVED_KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """The names, those that were there already with a number: `id, id` as `id, id_1`.

    >>> unique(["id", "ID", "id_1"])
    ('id', 'ID_1', 'id_1_1')
    """
    taken = Names()
    return tuple(taken.new(name) for name in names)


class Names:
    """Names given out so far in one namespace."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.casefold() for name in taken}

    def new(self, wanted: str) -> str:
        """`wanted`, or with the first number that makes it new; without a NUL, at which Arrow ends a name."""
        wanted = wanted.replace("\0", "") or "_"
        name, number = wanted, 0
        while name.casefold() in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name.casefold())
        return name

    def next(self, prefix: str) -> str:
        """`prefix1`, `prefix2`, …: the first that is new."""
        number = 1
        while f"{prefix}{number}" in self._taken:
            number += 1
        self._taken.add(f"{prefix}{number}")
        return f"{prefix}{number}"


def output_names(node: Node) -> tuple[str, ...]:
    """The names of the node's outputs, made unique."""
    return unique(output.id.name for output in node.outputs)


def stream_names(node: Node) -> tuple[str, ...]:
    """The columns of a Gather's stream, in the order of `node.outputs`: unique, and never none.

    Without outputs there is one column, for a statement must select something.
    """
    return output_names(node) or (NO_COLUMNS,)
