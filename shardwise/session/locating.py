"""Where sources are: URLs with whole paths, and passwords, which are found when a source is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from shardwise.catalog.model import Catalog
from shardwise.errors import CatalogError
from shardwise.executor.backends.base import Location

Secrets = Mapping[str, str] | Callable[[str], str | None]


class Locator:
    """Locates a catalog's sources. Relative paths are relative to `directory`; `secrets` go first."""

    def __init__(self, catalog: Catalog, directory: Path, secrets: Secrets | None) -> None:
        self._catalog = catalog
        self._directory = str(directory)
        self._secrets = secrets

    def locate(self, name: str) -> Location:
        """The source's location; raises CatalogError where it has none."""
        source = self._catalog.source(name)
        if source.url is None:
            raise CatalogError(
                f'source "{name}" has no URL',
                hint="CREATE SOURCE … URL 'duckdb:///file.duckdb' says where it is",
            )
        return Location(
            source=name,
            url=source.location(self._directory) or source.url,
            options=source.options,
            password=self._password(name),
        )

    def _password(self, name: str) -> str | None:
        secrets = self._secrets
        given = secrets(name) if callable(secrets) else (secrets or {}).get(name)
        secret = self._catalog.source(name).password
        if given is not None or secret is None:
            return given
        if secret.env is not None:
            return os.environ.get(secret.env)
        path = secret.file_location(self._directory)
        return Path(path).read_text(encoding="utf-8").rstrip("\n") if path else None
