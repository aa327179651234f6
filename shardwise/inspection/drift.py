"""How a physical table differs from what the catalog, or the other shards, say it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shardwise.catalog.model import Column
from shardwise.catalog.spoken import spoken
from shardwise.executor.backends import backend_of
from shardwise.inspection.findings import Finding, Kind
from shardwise.inspection.physical import PhysicalTable


def differences(
    table: str, shard: str, expected: PhysicalTable, found: PhysicalTable, *, fills_missing: bool = False
) -> Iterator[Finding]:
    """One finding per difference. With `fills_missing` (DRIFT FILL) a missing column is no error."""
    have = {column.name.lower(): column for column in found.columns}
    want = {column.name.lower(): column for column in expected.columns}
    for name, column in want.items():
        if name not in have:
            yield Finding(
                kind=Kind.MISSING_COLUMN,
                table=table,
                shard=shard,
                column=column.name,
                expected=column.type,
                is_error=not fills_missing,
            )
        else:
            yield from _column_differences(table, shard, column, have[name], found)
    for name, column in have.items():
        if name not in want:
            yield Finding(
                kind=Kind.EXTRA_COLUMN,
                table=table,
                shard=shard,
                column=column.name,
                found=column.type,
                is_error=False,
            )
    if (
        expected.primary_key
        and found.primary_key
        and _lower(expected.primary_key) != _lower(found.primary_key)
    ):
        yield Finding(
            kind=Kind.KEY,
            table=table,
            shard=shard,
            expected=f"primary key ({', '.join(expected.primary_key)})",
            found=f"({', '.join(found.primary_key)})",
        )


def _column_differences(
    table: str, shard: str, want: Column, have: Column, there: PhysicalTable
) -> Iterator[Finding]:
    """What `there` declares is what its source says the type is, if its types are not the catalog's."""
    declared = there.declared.get(want.name.lower())

    def finding(kind: Kind, expected: str, found: str, *, is_error: bool = True) -> Finding:
        return Finding(
            kind=kind,
            table=table,
            shard=shard,
            column=want.name,
            expected=expected,
            found=found,
            is_error=is_error,
        )

    if declared is None:
        if normal_type(want.type) != normal_type(have.type):
            yield finding(Kind.COLUMN_TYPE, want.type, have.type)
    elif want.type:
        suits = backend_of(there.product, shard).suits
        why = suits(declared, (want.name, want.type, want.stored), normal_type)
        if why is not None:
            yield finding(Kind.COLUMN_TYPE, want.type, f"a column that is {why}")
    if not want.nullable and have.nullable:
        yield finding(Kind.NULLABILITY, "NOT NULL", "NULL allowed")
    says = declared is None or (spoken(there.product).is_server and want.collation and have.collation)
    if says and (want.collation or "").lower() != (have.collation or "").lower():
        yield finding(Kind.COLLATION, want.collation or "no collation", have.collation or "none")


def merged(tables: Sequence[PhysicalTable], *, fills_missing: bool = False) -> PhysicalTable:
    """One table that all of `tables` can be read as.

    Its columns are those that all have, for `SELECT *` asks each of them for all; with `fills_missing`
    (DRIFT FILL) those that any has. They are nullable if they are so anywhere, or missing somewhere; a key
    counts if all have it.
    """
    first = tables[0]
    union = {column.name.lower(): column for table in reversed(tables) for column in table.columns}
    order = dict.fromkeys(column.name.lower() for table in tables for column in table.columns)
    columns = []
    for name in order:
        same = [c for table in tables for c in table.columns if c.name.lower() == name]
        if len(same) < len(tables) and not fills_missing:
            continue
        nullable = any(c.nullable for c in same) or len(same) < len(tables)
        columns.append(replace(union[name], nullable=nullable))
    same_key = all(_lower(t.primary_key) == _lower(first.primary_key) for t in tables)
    unique = tuple(key for key in first.unique if all(_lower(key) in map(_lower, t.unique) for t in tables))
    return PhysicalTable(
        name=first.name,
        columns=tuple(columns),
        primary_key=first.primary_key if same_key else (),
        unique=unique,
        declared={name: type_ for table in reversed(tables) for name, type_ in table.declared.items()},
        product=first.product,
    )


_SAME = {
    "INT": "INTEGER",
    "INT4": "INTEGER",
    "INT8": "BIGINT",
    "LONG": "BIGINT",
    "INT2": "SMALLINT",
    "SHORT": "SMALLINT",
    "INT1": "TINYINT",
    "TEXT": "VARCHAR",
    "STRING": "VARCHAR",
    "CHAR": "VARCHAR",
    "BPCHAR": "VARCHAR",
    "REAL": "FLOAT",
    "FLOAT4": "FLOAT",
    "FLOAT8": "DOUBLE",
    "BOOL": "BOOLEAN",
    "LOGICAL": "BOOLEAN",
    "BYTEA": "BLOB",
    "BINARY": "BLOB",
    "VARBINARY": "BLOB",
    "DATETIME": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
    "TIMETZ": "TIME WITH TIME ZONE",
    "NUMERIC": "DECIMAL",
}


def normal_type(text: str) -> str:
    """A type as DuckDB writes it itself: `text`, `VARCHAR(40)` and `STRING` are one type there."""
    head, bracket, rest = text.strip().upper().partition("(")
    name = _SAME.get(head.strip(), head.strip())
    if name == "ENUM":
        return f"ENUM({text.partition('(')[2].strip()}"
    if name == "VARCHAR":
        return name + ("[]" if rest.endswith("[]") else "")
    if name == "DECIMAL":
        arguments = rest.rstrip(")").replace(" ", "") if bracket else "18,3"
        return f"DECIMAL({arguments}{'' if ',' in arguments else ',0'})"
    return f"{name}{bracket}{rest}"


def _lower(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
