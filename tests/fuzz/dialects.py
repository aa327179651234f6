"""What the generator may write in each dialect, and how: the only place that knows them apart."""

from __future__ import annotations

from dataclasses import dataclass

INT, NUM, TEXT, DATE, TIME, BOOL, REAL, OUT = "int", "num", "text", "date", "time", "bool", "real", "out"
"""Families of values. OUT is shown only: nothing is compared with it, its last digit is not determined."""
NUMBERS = (INT, NUM, REAL)


@dataclass(frozen=True)
class Dialect:
    """`types`: families to the types a column may have. Flags: whether the dialect has it."""

    name: str
    types: dict[str, tuple[str, ...]]
    same: str = "{} IS NOT DISTINCT FROM {}"
    different: str = "{} IS DISTINCT FROM {}"
    concat: str = "({} || {})"
    as_text: str = "CAST({} AS VARCHAR)"
    as_big: str = "CAST({} AS BIGINT)"
    as_num: str = "CAST({} AS DECIMAL(9, 2))"
    as_real: str = "CAST({} AS DOUBLE)"
    next_day: str = "({} + 1)"
    listed: str = "string_agg({0}, ',' ORDER BY {0})"
    full_join: bool = True
    using: bool = True
    semi_join: bool = False
    qualify: bool = False
    lateral: bool = False
    grouping_sets: bool = False
    distinct_on: bool = False
    filters: bool = True
    nulls_order: bool = True
    all_sets: bool = True
    quantified: bool = True
    row_in: bool = True
    booleans: bool = True
    bits: str = "bit_xor({})"
    medians: bool = False
    offset_alone: bool = True
    finds_aggregates: bool = True
    """In HAVING max(x) IN (SELECT …). MariaDB finds none; we do."""
    set_arms_in_parentheses: bool = True
    limit_in_arms: bool = True
    date_literal: str = "DATE '{}'"
    time_literal: str = "TIMESTAMP '{}'"

    def has(self, family: str) -> bool:
        return family in self.types


DUCKDB = Dialect(
    "duckdb",
    {
        INT: ("BIGINT", "BIGINT", "INTEGER", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT"),
        NUM: ("DECIMAL(9,2)", "DECIMAL(18,4)", "DECIMAL(4,1)"),
        TEXT: ("VARCHAR",),
        DATE: ("DATE",),
        TIME: ("TIMESTAMP",),
        BOOL: ("BOOLEAN",),
        REAL: ("DOUBLE",),
    },
    semi_join=True,
    qualify=True,
    lateral=True,
    grouping_sets=True,
    distinct_on=True,
    medians=True,
)
POSTGRES = Dialect(
    "postgres",
    {
        INT: ("BIGINT", "INTEGER", "INTEGER", "SMALLINT"),
        NUM: ("NUMERIC(9,2)", "NUMERIC(18,4)", "NUMERIC"),
        TEXT: ("TEXT", "VARCHAR(20)"),
        DATE: ("DATE",),
        TIME: ("TIMESTAMP",),
        BOOL: ("BOOLEAN",),
        REAL: ("DOUBLE PRECISION",),
    },
    as_num="CAST({} AS NUMERIC(9, 2))",
    as_real="CAST({} AS DOUBLE PRECISION)",
    bits="bit_and({})",
    lateral=True,
    grouping_sets=True,
    distinct_on=True,
)
MYSQL = Dialect(
    "mysql",
    {
        INT: ("BIGINT", "INT", "INT", "SMALLINT", "TINYINT"),
        NUM: ("DECIMAL(9,2)", "DECIMAL(18,4)"),
        TEXT: ("VARCHAR(20) COLLATE utf8mb4_nopad_bin",),
        DATE: ("DATE",),
        TIME: ("DATETIME(6)",),
        BOOL: ("BOOLEAN",),
        REAL: ("DOUBLE",),
    },
    same="{} <=> {}",
    different="NOT ({} <=> {})",
    concat="concat({}, {})",
    as_text="CAST({} AS CHAR)",
    as_big="CAST({} AS SIGNED)",
    as_num="CAST({} AS DECIMAL(9, 2))",
    next_day="DATE_ADD({}, INTERVAL 1 DAY)",
    listed="GROUP_CONCAT({0} ORDER BY {0} SEPARATOR ',')",
    full_join=False,
    filters=False,
    nulls_order=False,
    offset_alone=False,
    booleans=False,
    finds_aggregates=False,
)
SQLITE = Dialect(
    "sqlite",
    {INT: ("INTEGER", "BIGINT"), TEXT: ("TEXT",), REAL: ("REAL",)},
    same="{} IS {}",
    different="{} IS NOT {}",
    as_text="CAST({} AS TEXT)",
    as_big="CAST({} AS INTEGER)",
    as_real="CAST({} AS REAL)",
    listed="count(DISTINCT {0})",
    all_sets=False,
    quantified=False,
    offset_alone=False,
    booleans=False,
    bits="max({})",
    set_arms_in_parentheses=False,
    limit_in_arms=False,
)
DIALECTS = {each.name: each for each in (DUCKDB, POSTGRES, MYSQL, SQLITE)}
