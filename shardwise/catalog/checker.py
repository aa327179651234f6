"""How a check complains: with the place in the text, and a hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NoReturn

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.places import Sharding
from shardwise.catalog.sources import Shard, Source
from shardwise.catalog.table_lookups import TableLookups
from shardwise.catalog.templates import Template, TemplateError
from shardwise.errors import CatalogError, Position

Place = tuple[str | None, Position | None]
"""A file, and a position in it."""

Where = Callable[[int, str | None], Place]
"""The place in a text of an item, by its index, or of a word in its declaration."""


class Checker:
    """A catalog under check, and how to complain about one of its items."""

    def __init__(self, catalog: TableLookups, where: Where | None) -> None:
        self.catalog, self.where = catalog, where
        self.index = 0
        self._twins: dict[str, list[tuple[str, str]]] = {}

    def fail(self, message: str, *, at: str | None = None, hint: str | None = None) -> NoReturn:
        """Raise an error about the current item; `at` is the word in its declaration to point at."""
        raise self.error(message, at=at, hint=hint)

    def error(self, message: str, *, at: str | None = None, hint: str | None = None) -> CatalogError:
        """The error that `fail` raises."""
        file, position = self.where(self.index, at) if self.where else (None, None)
        return CatalogError(message, file=file, position=position, hint=hint)

    def need_shard(self, name: str) -> None:
        if self.catalog.find_shard(name) is not None:
            return
        used = self.catalog.shard_on(name) if self.catalog.find_source(name) else None
        if used is not None:
            self.fail(f'source "{name}" belongs to shard "{used.name}"', at=name, hint=f'Write "{used.name}"')
        self.fail(
            f'there is no shard "{name}"', at=name, hint=did_you_mean(name, names_of(self.catalog.shards()))
        )

    def need_source(self, name: str) -> None:
        if self.catalog.find_source(name) is None:
            hint = did_you_mean(name, names_of(self.catalog.sources()))
            self.fail(f'there is no source "{name}"', at=name, hint=hint)

    def need_sharding(self, name: str) -> Sharding:
        found = self.catalog.find_sharding(name)
        if found is None:
            hint = did_you_mean(name, [each.name for each in self.catalog.shardings()])
            self.fail(f'there is no sharding "{name}"', at=name, hint=hint)
        return found

    def twins(self, sharding: Sharding) -> list[tuple[str, str]]:
        """Pairs of its shards whose sources have one URL; found once for each sharding."""
        if sharding.name not in self._twins:
            pairs: list[tuple[str, str]] = []
            first: dict[str, str] = {}
            for shard in sharding.shards():
                url = self.catalog.source_url(self.catalog.source_of(shard))
                if url is not None and first.setdefault(url, shard) != shard:
                    pairs.append((shard, first[url]))
            self._twins[sharding.name] = pairs
        return self._twins[sharding.name]

    def template(self, text: str, variables: Iterable[str], *, at: str | None = None) -> Template:
        """Read a template, which may use no other `variables`."""
        try:
            found = Template.parse(text)
        except TemplateError as error:
            self.fail(str(error), at=at)
        known = sorted(variables)
        for name in sorted(found.variables - set(known)):
            hint = f"It knows {', '.join(known)}" if known else "There are no variables here"
            self.fail(f'the template uses an unknown variable "{name}"', at=at, hint=hint)
        return found


def names_of(items: Iterable[Source | Shard]) -> Iterator[str]:
    """Names to choose a suggestion from; not all of a family of thousands."""
    return (item.name for item in islice(items, 2000))
