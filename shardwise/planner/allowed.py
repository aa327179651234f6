"""Which functions a user's SQL may call: scalar ones less a listed set, table functions of a listed set only.

The engines are locked down as well; this is the first of two doors, and the one whose message says why.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from shardwise.errors import NotSupportedError, Reason
from shardwise.planner.families import words
from shardwise.planner.functions import function_names

# Functions that read data which is not the catalog's: files, or a table or query named by a text.
_READS_DATA: Final = words("""
    query query_table read_text read_blob read_csv read_csv_auto read_json read_json_auto read_json_objects
    read_ndjson read_ndjson_auto read_ndjson_objects read_json_objects_auto read_parquet parquet_scan
    parquet_metadata parquet_schema parquet_file_metadata parquet_kv_metadata parquet_bloom_probe
    sniff_csv glob arrow_scan arrow_scan_dumb pandas_scan python_map_function seq_scan
""")
# Functions that keep or change the engine's state.
_STATE: Final = words("""
    set_config setseed nextval currval add_parquet_key write_log checkpoint force_checkpoint enable_logging
    disable_logging
""")
# Functions that read the engine's settings, variables or catalog.
_READS_ENGINE: Final = words("""
    alias getenv getvariable current_setting which_secret in_search_path txid_current current_query
    pg_get_viewdef pg_get_constraintdef pg_get_expr has_table_privilege has_schema_privilege current_schemas
""")
DENIED: Final = _READS_DATA | _STATE | _READS_ENGINE

TABLE_FUNCTIONS: Final = frozenset(
    {"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"}
)


def check_allowed(statement: exp.Expr) -> None:
    """Refuses any function that a user's SQL may not call, wherever it stands."""
    for call in statement.find_all(exp.Func):
        names = function_names(call)
        for name in names:
            if name in DENIED or name.startswith(("duckdb_", "pragma_", "read_")):
                raise forbidden(name)
        name = call.name.lower()
        if type(call) is exp.Anonymous and isinstance(call.parent, exp.Table) and name not in TABLE_FUNCTIONS:
            raise forbidden(name, table=True)


def forbidden(name: str, *, table: bool = False) -> NotSupportedError:
    kind = "table function" if table else "function"
    if name in _STATE:
        hint = "It keeps or changes the engine's own state: each statement here stands by itself"
    elif name in _READS_ENGINE or name.startswith(("duckdb_", "pragma_")):
        hint = (
            "It reads the engine's own settings or catalog; SHOW TABLES and SHOW SOURCES tell about this one"
        )
    else:
        hint = "Attach the data as a source of the catalog, or register it on the connection"
    return NotSupportedError(
        f'the {kind} "{name}" is not available here: only functions of the statement\'s own data are',
        reason=Reason.FORBIDDEN,
        hint=hint,
    )
