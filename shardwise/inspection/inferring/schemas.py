"""The schemas of a PostgreSQL database beside the one that is looked into: a tenant's each, or told of.

    t_acme.invoices, t_acme.customers, t_globex.invoices, t_globex.customers
 => CREATE SHARDING by_schema USING DIRECTORY AS tenant ON main;
    ATTACH TABLE invoices SHARD BY by_schema (tenant TEXT VIRTUAL) NAMED 't_{tenant}.{table}';

Schemas are tenants' if at least two have the same tables, and names that begin alike, up to a sign or a
number: a template that every schema's name fits would take in those that are nobody's. What is not a
tenant's is named in a comment, so that nobody takes the catalog for all that there is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Column, Sharded, ShardKey, Table
from shardwise.inspection.layouts.draft import Draft
from shardwise.plan.wrap import count_text

TablesOf = Mapping[str, frozenset[str]]
"""By schema: the tables in it."""
_TOLD = 4


class Elsewhere(NamedTuple):
    """What other schemas of a source have, and whether one of their tables has a column "tenant"."""

    tables: TablesOf
    has_tenant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenants:
    """Schemas `prefix` + tenant, and the tables that any of them has."""

    prefix: str
    schemas: Sequence[str]
    tables: Sequence[str]


def tenants_of(found: TablesOf) -> Tenants | None:
    """The schemas that are one tenant's each; None if there are none such."""
    shapes = Counter(tables for tables in found.values() if tables)
    if not shapes:
        return None
    shape, count = shapes.most_common(1)[0]
    if count < 2:
        return None
    prefix = _prefix([schema for schema, tables in found.items() if tables == shape])
    if not prefix:
        return None
    schemas = [s for s, tables in found.items() if s.startswith(prefix) and s != prefix and tables & shape]
    return Tenants(prefix=prefix, schemas=sorted(schemas), tables=sorted(shape))


def _prefix(names: Sequence[str]) -> str:
    """What all begin with, up to a sign; or up to their numbers."""
    low, high = min(names), max(names)
    size = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    common = low[:size]
    letters = common.rstrip("0123456789")
    if all(name[len(letters) :].isdigit() for name in names):
        return letters
    signs = [at for at, char in enumerate(common) if not char.isalnum()]
    return common[: signs[-1] + 1] if signs else ""


def add_schemas(draft: Draft, elsewhere: Mapping[str, Elsewhere]) -> None:
    """What is in other schemas of the sources, into the draft: as a directory of tenants, or as a remark."""
    for source, (found, has_tenant) in elsewhere.items():
        known = tenants_of(found) if len(draft.sources) == 1 else None
        column = "tenant_schema" if has_tenant else "tenant"
        taken = _add_tenants(draft, source, known, column) if known is not None else frozenset[str]()
        rest = {
            schema: tables - taken if known and schema in known.schemas else tables
            for schema, tables in found.items()
        }
        _tell_rest(draft, source, {schema: tables for schema, tables in rest.items() if tables})


def _add_tenants(draft: Draft, source: str, found: Tenants, column: str) -> frozenset[str]:
    """Attaches the tenants' tables; gives those that it could."""
    there = {table.name.lower() for table in draft.tables}
    tables = [table for table in found.tables if table.lower() not in there]
    if not tables:
        return frozenset()
    sharding = draft.directory("by_schema", column, source)
    key = ShardKey(parts=(exp.column(column),))
    virtual = (Column(name=column, type="TEXT"),)
    prefix = re.sub(r"([{}])", r"\1\1", found.prefix)
    for table in tables:
        draft.tables.append(
            Table(
                name=table,
                placement=Sharded(sharding=sharding, keys=(key,), virtual=virtual),
                named=f"{prefix}{{{column}}}.{{table}}",
            )
        )
    draft.remark(
        sharding,
        f"{count_text(len(found.schemas), 'schema')} with the same {count_text(len(tables), 'table')}: "
        f"{_some(found.schemas)}. Each is taken for a tenant's, told by the column {column}, which no "
        f"table has; a new schema {found.prefix}… is read as soon as it is there.",
    )
    return frozenset(tables)


def _tell_rest(draft: Draft, source: str, rest: TablesOf) -> None:
    if rest:
        names = [f"{schema}.{table}" for schema, tables in sorted(rest.items()) for table in sorted(tables)]
        draft.remark(
            "",
            f"Not in this catalog: {count_text(len(names), 'table')} in other schemas of {source}, "
            f"{_some(names)}. Write ATTACH TABLE schema.name for each; or, where schemas are tenants', "
            "one sharding USING DIRECTORY.",
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_TOLD]) + (", …" if len(names) > _TOLD else "")
