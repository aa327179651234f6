"""Where sources are: URLs with whole paths, and passwords, which are found when a source is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from shardwise.catalog.model import Catalog, Source, SourceFamily
from shardwise.catalog.templates import Template
from shardwise.errors import CatalogError
from shardwise.executor.backends.base import Family, Location

OPEN_MAX = 64
"""How many members of an open family may be open at a time, unless it says WITH (open_max = n)."""

Secrets = Mapping[str, str] | Callable[[str], str | None]


class Locator:
    """Locates a catalog's sources. Relative paths are relative to `directory`; `secrets` go first."""

    def __init__(self, catalog: Catalog, directory: Path, secrets: Secrets | None) -> None:
        self._catalog = catalog
        self._directory = str(directory)
        self._secrets = secrets
        self._families: dict[str, Family] = {}

    def locate(self, name: str) -> Location:
        """The source's location; raises CatalogError where it has none."""
        source = self._catalog.source(name)
        if source.url is None:
            raise CatalogError(
                f'source "{name}" has no URL',
                hint="CREATE SOURCE … URL 'duckdb:///file.duckdb' says where it is",
            )
        family = self._catalog.open_family_of(name)
        return Location(
            source=name,
            url=source.location(self._directory) or source.url,
            options=source.options,
            password=self._password(source),
            family=self._family(family) if family else None,
            read_only=source.read_only,
        )

    def _family(self, family: SourceFamily) -> Family:
        if family.name not in self._families:
            self._families[family.name] = Family(
                name=family.name,
                open_max=int(family.pattern.options.get("open_max", OPEN_MAX)),
                folder=folder_of(family, self._directory),
            )
        return self._families[family.name]

    def _password(self, source: Source) -> str | None:
        secrets = self._secrets
        given = secrets(source.name) if callable(secrets) else (secrets or {}).get(source.name)
        secret = source.password
        if given is not None or secret is None:
            return given
        if secret.env is not None:
            return os.environ.get(secret.env)
        path = secret.file_location(self._directory)
        return Path(path).read_text(encoding="utf-8").rstrip("\n") if path else None


def folder_of(family: SourceFamily, directory: str) -> str | None:
    """The folder that all members of an open family of files are in, "" for the root; None for servers."""
    url = family.pattern.location(directory)
    if family.pattern.file_path is None or url is None:
        return None
    first = Template.parse(url.partition(":///")[2]).parts[0]
    return first.rpartition("/")[0] if isinstance(first, str) else ""
