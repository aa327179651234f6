"""Who reads a query: where engines differ in what a block of SQL may hold, and in what it means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reader:
    """Without `qualify`, and `having_alone` (HAVING without GROUP BY), rows are filtered around a derived
    table. `having_computes`: HAVING may repeat what GROUP BY computes; MariaDB knows but columns there.

    `cuts_quotients`: a derived table that is grouped stays one if its quotients are computed on, for the
    engine computes on what it has stored, which has fewer digits. `sees_outer_rows`: a derived table in a
    subquery may read the outer row. `has_semi_join`: else one is EXISTS in WHERE.
    `merges_below_windows`: a derived table may stand below a window; MariaDB 10.11 merges it and loses the
    rows of SELECT max(c) OVER () FROM (SELECT c FROM t) q WHERE c IN (SELECT …).
    `retyped_by_grouping`: types of columns that are of another one where rows of a derived table that is
    merged are grouped: in MariaDB a BIT is a number after SELECT b FROM (SELECT b FROM t) q GROUP BY b.
    `groups_by_null`: GROUP BY NULL makes one group of all rows, if there are any; else HAVING count(*) > 0
    does, for PostgreSQL does not read it.
    `limits_in_lists`: IN, ANY and ALL compare with a query that has a LIMIT; MariaDB refuses one that is not
    in a derived table (error 1235).
    `joins_full_on_anything`: else a FULL JOIN needs an equation of both sides, beside whatever it asks.
    """

    qualify: bool = True
    having_alone: bool = True
    having_computes: bool = True
    cuts_quotients: bool = False
    sees_outer_rows: bool = True
    has_semi_join: bool = True
    merges_below_windows: bool = True
    retyped_by_grouping: frozenset[str] = frozenset()
    groups_by_null: bool = False
    limits_in_lists: bool = True
    joins_full_on_anything: bool = True


ANY = Reader()
