"""Which tables of a source `*` stands for, and what they are called in the catalog."""

from __future__ import annotations

from dataclasses import replace

from shardwise.catalog.model import Catalog, Table
from shardwise.catalog.templates import Template


def logical_table(catalog: Catalog, wildcard: Table, shard: str, physical: str) -> Table | None:
    """The table of the catalog that a physical one on `shard` is, by a wildcard; None if it is none of it.

    ATTACH TABLE erp.* … NAMED 'tenant_{tenant}.{table}':  tenant_7.orders is erp.orders
    """
    if wildcard.named is not None:
        found = Template.parse(wildcard.named).match(physical) or {}
        table = replace(wildcard, name=found.get("table", ""))
        names = catalog.partitions(table, shard) if table.name else ()
        return table if physical.casefold() in (name.casefold() for name in names) else None
    schema, _, name = physical.rpartition(".")
    table = replace(wildcard, name=name)
    if wildcard.schema is None and schema:
        table = replace(table, schema=schema)
    resolved = catalog.wildcard(table.name, table.schema)
    if resolved is None or resolved.placement != wildcard.placement:
        return None
    (own,) = catalog.partitions(table, shard)
    return table if own.casefold() == physical.casefold() else None
