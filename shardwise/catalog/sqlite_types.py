"""What a column's written type means to SQLite: an affinity, found by the letters in it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from shardwise.catalog.types import Family, type_family

Affinity = Literal["INTEGER", "TEXT", "BLOB", "REAL", "NUMERIC"]


def affinity(type_text: str) -> Affinity:
    """By SQLite's rules, in their order; BLOB is also that of a column without a type.

    >>> [affinity(t) for t in ("BIGINT", "VARCHAR(20)", "", "DOUBLE PRECISION", "DECIMAL(9,2)", "POINT")]
    ['INTEGER', 'TEXT', 'BLOB', 'REAL', 'NUMERIC', 'INTEGER']
    """
    text = type_text.upper()
    if "INT" in text:
        return "INTEGER"
    if any(word in text for word in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if "BLOB" in text or not text.strip():
        return "BLOB"
    if any(word in text for word in ("REAL", "FLOA", "DOUB")):
        return "REAL"
    return "NUMERIC"


_KEYS: Final = {"INTEGER": Family.INT, "TEXT": Family.TEXT}


@lru_cache(maxsize=1024)
def family(type_text: str) -> Family:
    """INT or TEXT where the name says to a reader what it means to SQLite; else OTHER: nothing rests on it.

    STRING is such another: SQLite keeps '007' in it as the number 7.
    """
    found = _KEYS.get(affinity(type_text))
    return found if found is not None and type_family(type_text, "sqlite") is found else Family.OTHER
