"""CHAR, BINARY and BIT in the set operations of a merge, where their columns have no width.

    SELECT code FROM a UNION ALL SELECT raw FROM b      code CHAR(10), raw BINARY(4)

MariaDB makes BINARY(40) of it, and pads all with zeros; the merge's columns are VARCHAR and VARBINARY, which
are not padded. A BIT beside CHAR or bytes is its number's digits there, or its bits, by how the server takes
the operation. So they are refused; where rows of several shards do not meet the shard does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from typing import Final

from sqlglot import exp

from shardwise.errors import Unplannable
from shardwise.planner.dialects.blocks import arms

_NAME: Final = re.compile(r"\s*(CHARACTER|CHAR|BINARY|VARBINARY|BIT)\b(?!\s+VARYING)", re.IGNORECASE)
_UNLIKE: Final = frozenset(
    (
        frozenset(("CHAR", "BINARY")),
        frozenset(("CHAR", "BIT")),
        frozenset(("BINARY", "BIT")),
        frozenset(("VARBINARY", "BIT")),
    )
)


def check_widths(query: exp.Query, types_of: Callable[[exp.Select], list[str | None]]) -> None:
    """Raises Unplannable. `types_of`: the declared types of what a SELECT gives, where they are known."""
    for operation in query.find_all(exp.SetOperation):
        selects = (arm for arm in arms(operation) if isinstance(arm, exp.Select))
        for types in zip(*map(types_of, selects), strict=False):
            names = sorted({name for name in map(_name, types) if name is not None})
            for pair in combinations(names, 2):
                if frozenset(pair) in _UNLIKE:
                    raise _refused(*pair)


def _refused(one: str, other: str) -> Unplannable:
    return Unplannable(
        f"a column of a set operation is {one} in one arm and {other} in another, where rows of several "
        "shards meet: there it has not the width to which such values are padded",
        hint="Say in both arms what it is to be, as by hex(…)",
    )


def _name(type_text: str | None) -> str | None:
    found = _NAME.match(type_text or "")
    return None if found is None else {"CHARACTER": "CHAR"}.get(found[1].upper(), found[1].upper())
