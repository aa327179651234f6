"""Texts that a collation may take for equal, and the types of columns that hold them.

Which of several equal texts stands for them is for the order of the rows to say, so answers are compared
twice: with such texts folded into one, and as they are, where one database gives the same whatever order its
rows lie in (`oracles.py`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

SETUP = {
    "postgres": (
        "CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    )
}
"""What a database is given before its tables."""
TYPES = {
    "mysql": (
        "VARCHAR(20) COLLATE utf8mb4_general_ci",
        "VARCHAR(20) COLLATE utf8mb4_general_ci",
        "VARCHAR(20) COLLATE utf8mb4_unicode_ci",
        "VARCHAR(20) COLLATE utf8mb4_unicode_nopad_ci",
        "VARCHAR(20) COLLATE utf8mb4_bin",
        "VARCHAR(20) COLLATE utf8mb4_nopad_bin",
        "VARCHAR(20) COLLATE latin1_swedish_ci",
        "CHAR(6) COLLATE utf8mb4_general_ci",
        "TEXT COLLATE utf8mb4_general_ci",
    ),
    "postgres": (
        "TEXT",
        'TEXT COLLATE "C"',
        'TEXT COLLATE "en-x-icu"',
        'TEXT COLLATE "folding"',
        'VARCHAR(20) COLLATE "folding"',
        "CHAR(6)",
        'CHAR(6) COLLATE "folding"',
    ),
}
TEXTS = (
    *("a", "A", "a ", "A ", "á", "Á", "b", "B", "B ", "ab", "AB", "aB", "ab ", "a\t"),
    *("", " ", "10", "010", "10 ", "x y", "X  y", "é", "e", "ss", "ß", "z", "ö", "_"),
)
SPELLED = ("a", "b", "ab", "x y", "", "10", "it's", "e", "z")
"""In one way only: for a key that is declared EXACT LOWER."""
COLLATE = {
    "mysql": ("utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci"),
    "postgres": ('"C"', '"en-x-icu"', '"folding"'),
}


def fold(value: Any) -> Any:
    """One text for all that some collation takes for equal; anything else as it is."""
    if isinstance(value, list):
        return [fold(each) for each in value]
    if not isinstance(value, str):
        return value
    parts = unicodedata.normalize("NFD", value.replace("ß", "ss"))
    return re.sub(r"\s", "", "".join(c for c in parts if not unicodedata.combining(c))).casefold()
