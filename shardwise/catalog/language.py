"""The catalog's language: text ⇄ Catalog.

`language.lark` is its grammar, docs/catalog.md its reference; `statements.py` reads it, `printing.py`
writes it, `checks.py` holds a catalog to what the text must say.
"""

from __future__ import annotations

import re

from shardwise.catalog.model import Catalog
from shardwise.catalog.sources import Options
from shardwise.catalog.statements import Header, Include, Script, read_script


def parse(text: str, file: str | None = None, *, include: Include | None = None) -> Catalog:
    """The catalog that a text declares; raises CatalogError with file, line and column.

    `file` is what messages call the text; `include` reads the files that it includes.

    >>> parse("CREATE SOURCE a URL 'duckdb:///a.duckdb'; ATTACH TABLE t (id INT) ON a").table("T").name
    't'
    """
    return catalog_of(read_script(text, file=file, include=include))


def catalog_of(script: Script) -> Catalog:
    """The catalog that a script declares."""
    header = script.header or Header("shardwise", "duckdb", Options())
    empty = Catalog(name=header.name, dialect=header.dialect, options=header.options, version=0)
    return empty.extended(script)


def to_sql(catalog: Catalog, *, locked: bool = True) -> str:
    """The text of a catalog; `parse` gives an equal one."""
    return catalog.to_sql(locked=locked)


_MANAGEMENT = re.compile(
    r"""(?:\s|--[^\n]*\n|/\*.*?\*/)*
    (?: create \s+ (?:or\s+replace\s+)?
        (?:catalog|source|shard|sharding|table|view|sequence|(?:unique\s+)?lookup\s+index|join\s+index)
      | attach \s+ (?:table|(?:unique\s+)?lookup\s+index)
      | drop \s+ (?:source|shard|sharding|table|view|sequence|lookup\s+index|join\s+index)
      | lock \s+ (?:table|index)
      | statistics
    )\b""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def is_management(statement: str) -> bool:
    """Whether a statement begins as one of this language: it is for `Catalog.apply`, not for the planner.

    >>> is_management("CREATE SHARDING s USING MOD 2 (a = 0, b = 1)"), is_management("SELECT 1")
    (True, False)
    """
    return _MANAGEMENT.match(statement) is not None
