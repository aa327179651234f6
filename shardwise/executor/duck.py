"""DuckDB from Python, 1.5 and 2.0 behind one small adapter: locked instances, statements, Arrow readers.

What differs: on 1.5 `con.sql(text, params=…)` runs at once and holds the interpreter's lock, which hangs when
the statement reads a stream of Python's; on 2.0 Arrow taken from `con.execute(…)` copies all rows first. So
Arrow comes from `execute` on 1.5 and from `sql` on 2.0; both stream.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

IS_V1 = duckdb.__version__.startswith(("0.", "1."))

WRONG_ON_V1 = "join_filter_pushdown"
"""With more than one thread, 1.5 applies the other side's keys below a LIMIT. Where u holds 1, 2, 3 and 4,
SELECT a.k FROM (SELECT k FROM u ORDER BY k DESC LIMIT 3) a JOIN (SELECT max(k) AS k FROM (VALUES (1)) v(k)) b
ON a.k = b.k has no rows, and had one two times out of three."""

Params = Mapping[str, Any] | Sequence[Any]
Columns = tuple[tuple[str, str], ...]
"""Names and DuckDB's type names, in order."""

_LOCKED = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "errors_as_json": "true",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an instance may use. `lossless`: its Arrow keeps HUGEINT, UUID, JSON, BIT, TIMETZ."""

    time_zone: str = "UTC"
    threads: int = 2
    memory_bytes_max: int = 1 << 30
    spill_directory: str | None = None
    spill_bytes_max: int | None = None
    lossless: bool = False


def connect(
    path: str,
    settings: Settings,
    *,
    read_only: bool = False,
    setup: Iterable[str] = (),
    allowed_directories: Sequence[str] = (),
) -> duckdb.DuckDBPyConnection:
    """An instance that no statement can make read a file, load an extension or change a setting.

    `setup` runs before the door closes. A file that this process holds open with the same settings
    is shared, and locked already.
    """
    config: dict[str, str | bool | int | float | list[str]] = dict(_LOCKED)
    if not IS_V1:
        config["async_threads"] = 1  # eight by default, per instance, for files that are far away
    if read_only:
        config["access_mode"] = "READ_ONLY"
    with _OPENING[hash(path) % len(_OPENING)]:
        return _opened(path, config, (*setup, *_sets(settings, allowed_directories)))


_OPENING = tuple(threading.Lock() for _ in range(64))
"""One thread at a time opens a file: two share the instance, and one would find it locked half-way."""


def _opened(
    path: str, config: dict[str, str | bool | int | float | list[str]], statements: Iterable[str]
) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(path, config=config)
    try:
        if con.execute("SELECT current_setting('lock_configuration')").fetchone() != (True,):
            for statement in statements:
                con.execute(statement)
    except BaseException:
        con.close()
        raise
    return con


def _sets(settings: Settings, allowed_directories: Sequence[str]) -> Iterator[str]:
    yield f"SET threads = {settings.threads}"
    yield f"SET memory_limit = '{settings.memory_bytes_max}B'"
    yield f"SET temp_directory = {literal(settings.spill_directory or '')}"
    if settings.spill_bytes_max is not None:
        yield f"SET max_temp_directory_size = '{settings.spill_bytes_max}B'"
    yield f"SET arrow_lossless_conversion = {str(settings.lossless).lower()}"
    if IS_V1:
        yield f"SET GLOBAL disabled_optimizers = '{WRONG_ON_V1}'"
    yield f"SET GLOBAL TimeZone = {literal(settings.time_zone)}"
    if allowed_directories:
        yield f"SET allowed_directories = [{', '.join(map(literal, allowed_directories))}]"
    yield "SET allowed_configs = ['TimeZone', 'search_path', 'enable_profiling']"
    yield "SET enable_external_access = false"
    yield "SET lock_configuration = true"


def search(con: duckdb.DuckDBPyConnection, schema: str | None) -> None:
    """Has names without a schema looked for in this one, then in the default one."""
    path = f"{identifier(schema)},main" if schema is not None else "main"
    con.execute(f"SET search_path = {literal(path)}")


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def execute(con: duckdb.DuckDBPyConnection, sql: str, params: Params = ()) -> duckdb.DuckDBPyConnection:
    """Starts one statement; its rows are fetched from the connection as they are made."""
    return con.execute(sql, _used(con, sql, params)) if params else con.execute(sql)


def arrow_reader(
    con: duckdb.DuckDBPyConnection, sql: str, params: Params, batch_rows: int
) -> pa.RecordBatchReader:
    """Starts one statement; its rows come as batches of `batch_rows` as they are made."""
    used = _used(con, sql, params) if params else None
    if not IS_V1:
        return con.sql(sql, params=used).to_arrow_reader(batch_rows)
    return con.execute(sql, used).to_arrow_reader(batch_rows)


def started_arrow_reader(
    con: duckdb.DuckDBPyConnection, sql: str, params: Params, batch_rows: int
) -> pa.RecordBatchReader:
    """As `arrow_reader`, of what `execute` has started; started again on DuckDB 2, which would first copy all
    of its rows."""
    if IS_V1:
        return con.to_arrow_reader(batch_rows)
    con.abort()
    return arrow_reader(con, sql, params, batch_rows)


def columns(con: duckdb.DuckDBPyConnection) -> Columns:
    """Names and types of what `execute` started."""
    return tuple((str(column[0]), str(column[1])) for column in con.description or ())


def describe(con: duckdb.DuckDBPyConnection, sql: str, params: Params = ()) -> Columns:
    """Names and types of a query's columns, nothing run."""
    rows = execute(con, f"DESCRIBE {sql}", params).fetchall()
    return tuple((str(row[0]), str(row[1])) for row in rows)


def bound(con: duckdb.DuckDBPyConnection, sql: str, params: Params = ()) -> Columns:
    """The same in less time where the engine can; a statement's errors point into its own text."""
    if IS_V1:
        return describe(con, sql, params)
    relation = con.sql(sql, params=_used(con, sql, params) if params else None)
    return tuple(zip(relation.columns, map(str, relation.types), strict=True))


def measure(con: duckdb.DuckDBPyConnection) -> None:
    """Has what runs on this connection from now on measured, which takes some time itself."""
    con.execute("SET enable_profiling = 'no_output'")


def bytes_spilled(con: duckdb.DuckDBPyConnection) -> int:
    """What the last statement of a measured connection wrote; in memory, that is what it spilled."""
    profile = json.loads(con.get_profiling_information("json"))
    return int(profile.get("io", profile).get("total_bytes_written", 0))


def cast_to(sql: str, wanted: Columns) -> str:
    """The same rows with the wanted types and names, by position."""
    casts = (f"CAST(#{i} AS {type_}) AS {identifier(name)}" for i, (name, type_) in enumerate(wanted, 1))
    return f"SELECT {', '.join(casts)} FROM ({sql}\n)"


def _used(con: duckdb.DuckDBPyConnection, sql: str, params: Params) -> Params:
    """Of named parameters those that the text mentions: DuckDB refuses others."""
    if not isinstance(params, Mapping):
        return params
    mentioned = set(_NAMED.findall(sql))
    used = {name: value for name, value in params.items() if name in mentioned}
    if used and ("'" in sql or '"' in sql):
        (statement,) = con.extract_statements(sql)
        used = {name: value for name, value in used.items() if name in statement.named_parameters}
    return used


_NAMED = re.compile(r"\$(\w+)")
