"""A query of PostgreSQL's own SQL as text: sqlglot's, with names quoted that are words of it."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

RESERVED: Final = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both
    case cast char character check coalesce collate collation column concurrently constraint create cross
    current_catalog current_date current_role current_schema current_time current_timestamp current_user dec
    decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign
    freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect
    interval into is isnull join lateral leading least left like limit localtime localtimestamp national
    natural nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps
    overlay placing position precision primary real references returning right row select session_user setof
    similar smallint some substring symmetric system_user table tablesample then time timestamp to trailing
    treat trim true union unique user using values varchar variadic verbose when where window with
    xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize
    xmltable
    """.split()  # noqa: SIM905
)
"""Words that are a name only in quotes: as a column's or a table's, or as a function's."""

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*\Z")


def postgres_text(query: exp.Expr) -> str:
    """The text of a query or expression."""
    query = query.copy()
    for name in query.find_all(exp.Identifier):
        if name.name in RESERVED or _PLAIN.match(name.name) is None:
            name.set("quoted", True)
    return query.sql(dialect="postgres")
