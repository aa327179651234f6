"""information_schema: its views are local tables of their full names, which whoever plans provides."""

from __future__ import annotations

from typing import Final

INFORMATION: Final = "information_schema"
VIEWS: Final = (
    *("schemata", "tables", "columns", "views"),
    *("table_constraints", "key_column_usage", "constraint_column_usage", "constraint_table_usage"),
    *("check_constraints", "referential_constraints", "character_sets"),
)
PREFIX: Final = f"{INFORMATION}."
