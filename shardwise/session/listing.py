"""Which members an open family has: entries of a folder, schemas of a source, or rows of a query.

    duckdb:////srv/tenants/{tenant}.duckdb                     the files there that match
    ON lake … NAMED 'tenant_{tenant}.{table}'                  the schemas of lake that match
    FOR EACH tenant FROM (SELECT slug FROM accounts)           what the query gives

Nothing is opened to list a folder. What matches the template, and could not be named by a statement, is an
error: to leave it out would be to leave out its rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shardwise.catalog.model import Catalog, Sharding, SourceFamily, Table
from shardwise.catalog.places import checked_members
from shardwise.catalog.shardings import key_text
from shardwise.catalog.templates import Template
from shardwise.errors import DataError, NotSupportedError, Reason, ShardUnavailable
from shardwise.session.locating import folder_of
from shardwise.session.opened import OpenedSource

Rows = Callable[[str], Sequence[tuple[Any, ...]]]


class Lister:
    """Lists members. `query` answers a statement over the catalog's own tables, `open_source` opens a
    source."""

    def __init__(
        self, catalog: Catalog, directory: Path, open_source: Callable[[str], OpenedSource], query: Rows
    ) -> None:
        self._catalog = catalog
        self._directory = str(directory)
        self._open_source = open_source
        self._query = query

    def members(self, name: str) -> tuple[str, ...]:
        """The members of a DIRECTORY sharding, as texts, in order. One listing, each time it is called.

        Raises DataError for a name that cannot be a member's, ShardUnavailable for a folder that is not
        there.
        """
        sharding = self._catalog.sharding(name)
        if not sharding.is_open:
            raise NotSupportedError(
                f'sharding "{name}" is no DIRECTORY', hint="SHOW SHARDS lists the shards of the others"
            )
        family = self._catalog.family_of(sharding)
        if family is None:
            return checked_members(sharding, self._schemas(sharding))
        values = self._queried(family) if family.listing else self._files(family)
        if sharding.on == family.name and sharding.levels[0] == family.variable:
            return checked_members(sharding, values)  # each value is what the shard's name says of it
        shards = Template.parse(family.name)
        found = (sharding.member_of(shards.render({family.variable: value})) for value in values)
        return checked_members(sharding, (member for member in found if member is not None))

    # -- files --------------------------------------------------------------------------------

    def _files(self, family: SourceFamily) -> Iterator[str]:
        folder = folder_of(family, self._directory)
        if folder is None:
            raise NotSupportedError(
                f'the members of "{family.name}" are no files, and cannot be listed',
                hint="Say how to find them: FOR EACH … FROM (SELECT …)",
            )
        url = family.pattern.location(self._directory) or ""
        path = url.partition(":///")[2].partition("?")[0]
        names = path[len(folder) :].strip("/").split("/")
        wants_folder = family.pattern.scheme == "parquet"
        template, length = Template.parse(path), len(folder) + 1
        for found in _entries(folder, [Template.parse(name) for name in names], wants_folder=wants_folder):
            value = (template.match(found) or {}).get(family.variable)
            if value is None or "/" in value or template.render({family.variable: value}) != found:
                raise DataError(
                    f'"{found[length:]}" in folder "{folder}" matches "{family.name}", and names no member',
                    reason=Reason.MEMBER_NAME,
                    hint="Move what is no member elsewhere",
                )
            yield value

    # -- schemas ------------------------------------------------------------------------------

    def _schemas(self, sharding: Sharding) -> set[str]:
        """By the NAMED of the sharding's tables: schemas where it is about schemas, else tables."""
        level = sharding.levels[0]
        found: set[str] = set()
        with self._open_source(self._catalog.source_of(sharding.on or "")) as source:
            schemas = source.schemas()
            tables: list[str] | None = None
            for named, table in self._named(sharding):
                schema, _, _ = named.rpartition(".")
                if level in Template.parse(schema).plain_variables:
                    if schemas is None:
                        raise NotSupportedError(
                            f'the members of "{sharding.name}" are schemas, and "{sharding.on}" has none',
                            hint="Have a file for each member: CREATE SOURCE … FOR EACH",
                        )
                    found.update(_matching(Template.parse(schema), schemas, level, {}))
                else:
                    tables = (
                        tables if tables is not None else [each.name for each in source.tables().values()]
                    )
                    found.update(_matching(Template.parse(named), tables, level, {"table": table}))
        return found

    def _named(self, sharding: Sharding) -> set[tuple[str, str | None]]:
        """The templates of physical names, and whose they are (None: of any)."""
        tables = [item for item in self._catalog.items if isinstance(item, Table) and item.named]
        mine = [table for table in tables if self._catalog.sharding_of(table) == sharding]
        return {(table.named or "", None if table.is_wildcard else table.name) for table in mine}

    # -- queries ------------------------------------------------------------------------------

    def _queried(self, family: SourceFamily) -> Iterator[str]:
        for row in self._query(family.listing or ""):
            if len(row) != 1 or row[0] is None:
                raise DataError(
                    f'the listing of "{family.name}" gives {_gives(row)}',
                    reason=Reason.MEMBER_NAME,
                    hint="It must give one column, the members' names",
                )
            yield row[0] if isinstance(row[0], str) else key_text(row[0])


def _matching(
    template: Template, names: Iterable[str], level: str, known: Mapping[str, str | None]
) -> Iterator[str]:
    """The members that names could be of, where the other variables are as `known` (None: any)."""
    for name in names:
        found = template.match(name) or {}
        if level in found and all(value in (None, found.get(key, value)) for key, value in known.items()):
            yield found[level]


def _entries(
    folder: str, names: Sequence[Template], *, wants_folder: bool, is_top: bool = True
) -> Iterator[str]:
    """The paths below `folder` whose names match, one template a level."""
    first, rest = names[0], names[1:]
    try:
        with os.scandir(folder or "/") as entries:
            found = [entry for entry in entries if first.match(entry.name) is not None]
            wanted = [entry.name for entry in found if _is_kind(entry, is_folder=bool(rest) or wants_folder)]
    except FileNotFoundError:
        if not is_top:
            return  # gone meanwhile
        raise ShardUnavailable(
            f'folder "{folder}" does not exist', hint="Check the URL of the family, or mount the folder"
        ) from None
    except OSError as error:
        raise ShardUnavailable(f'folder "{folder}" cannot be listed: {error.strerror}') from error
    for name in wanted:
        path = f"{folder}/{name}"
        if not rest:
            yield path
        else:
            yield from _entries(path, rest, wants_folder=wants_folder, is_top=False)


def _is_kind(entry: os.DirEntry[str], *, is_folder: bool) -> bool:
    return entry.is_dir() if is_folder else entry.is_file()


def _gives(row: Sequence[Any]) -> str:
    return "NULL" if len(row) == 1 else f"{len(row)} columns"
