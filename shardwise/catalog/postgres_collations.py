"""What PostgreSQL's own collations say of a column."""

from __future__ import annotations

import re
from typing import Final

LOOSE: Final = " (not deterministic)"
"""Stands after a column's type and collation where texts that are equal need not be the same bytes."""

_OWN: Final = re.compile(r"default|C|POSIX|ucs_basic|C\.\S+|[a-z]{2,3}_[A-Z]{2}(\.\S+)?|\S+-x-icu", re.ASCII)


def is_own_collation(name: str) -> bool:
    """Whether it is one that PostgreSQL brings along, by its name: under those, equal texts are the same.

    >>> is_own_collation("en_US.utf8"), is_own_collation("de-x-icu"), is_own_collation("ignoring_case")
    (True, True, False)
    """
    return _OWN.fullmatch(name) is not None
