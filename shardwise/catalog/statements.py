"""Statements: the catalog's text as a script of declarations, each with its place in the text."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lark import Tree

from shardwise.catalog.checker import Place
from shardwise.catalog.items import Item, ItemKey
from shardwise.catalog.read_places import read_shard, read_sharding, read_source
from shardwise.catalog.read_statistics import read_statistics
from shardwise.catalog.read_tables import (
    read_index_state,
    read_join,
    read_lock,
    read_lookup,
    read_sequence,
    read_tables,
    read_view,
)
from shardwise.catalog.sources import Options
from shardwise.catalog.text import (
    Node,
    Text,
    child,
    name_of,
    optional,
    options_of,
    plain,
    position,
    subtrees,
    token_at,
    tokens,
)
from shardwise.errors import CatalogError

Include = Callable[[str], str]
"""The contents of a file, by its path relative to the directory of the file that was asked for."""


@dataclass(frozen=True)
class Header:
    """CREATE CATALOG."""

    name: str
    dialect: str
    options: Options


@dataclass(frozen=True)
class Dropped:
    """DROP kind name."""

    key: ItemKey
    kind: str
    name: str
    if_exists: bool


@dataclass(frozen=True)
class Step:
    """One declaration or DROP, and where it was written."""

    what: Item | Dropped
    text: Text
    tree: Node
    replaces: bool = False


@dataclass
class Script:
    """What a text says, in order."""

    dialect: str = "duckdb"
    header: Header | None = None
    steps: list[Step] = field(default_factory=list)

    def extend(self, other: Script) -> None:
        """Add the steps of another text."""
        self.steps += other.steps

    def where(self, number: int, text: str | None = None) -> Place:
        """The place of a step, or of the first token in it that reads `text`."""
        step = self.steps[number]
        if text is not None:
            for token in tokens(step.tree):
                if plain(token) == text:
                    return step.text.file, position(token)
        return step.text.file, position(step.tree)

    def error(
        self, number: int, message: str, *, at: str | None = None, hint: str | None = None
    ) -> CatalogError:
        """An error about a step."""
        file, place = self.where(number, at)
        return CatalogError(message, file=file, position=place, hint=hint)


def read_script(
    contents: str,
    *,
    file: str | None = None,
    dialect: str = "duckdb",
    include: Include | None = None,
    is_part: bool = False,
) -> Script:
    """Read a text; `dialect` is that of key expressions unless the text's CREATE CATALOG names another.

    A text that is part of a catalog that exists has no CREATE CATALOG.
    """
    script = Script(dialect)
    inside = ("", "") if is_part else (posixpath.basename(file or ""),)
    _Reader(script, include).read(Text(contents, file), inside)
    return script


class _Reader:
    """Goes through a text and those that it includes."""

    def __init__(self, script: Script, include: Include | None) -> None:
        self.script, self.include = script, include

    def read(self, text: Text, inside: tuple[str, ...]) -> None:
        """Read one text; `inside` are the files that led to it, it among them."""
        for statement in text.parse().children:
            if not isinstance(statement, Tree):
                continue
            if statement.data == "create_catalog":
                self._header(statement, text, inside)
            elif statement.data == "include":
                self._include(statement, text, inside)
            else:
                replaces = any(getattr(each, "type", "") == "OR_REPLACE" for each in statement.children)
                for what in self._declared(statement, text):
                    self.script.steps.append(Step(what, text, statement, replaces))

    def _header(self, tree: Node, text: Text, inside: tuple[str, ...]) -> None:
        if len(inside) > 1 or self.script.header is not None:
            raise text.error(tree, "a catalog has one CREATE CATALOG, at the start of its file")
        if self.script.steps:
            raise text.error(
                tree, "CREATE CATALOG must come first", hint="It says in which dialect the rest is read"
            )
        dialect = optional(tree, 1)
        if dialect is not None:
            self.script.dialect = name_of(dialect).lower()
        self.script.header = Header(
            name_of(child(tree, 0)), self.script.dialect, options_of(optional(tree, 2), text)
        )

    def _include(self, tree: Node, text: Text, inside: tuple[str, ...]) -> None:
        token = token_at(tree)
        path = posixpath.normpath(posixpath.join(text.directory, plain(token)))
        if self.include is None:
            raise text.error(
                token, "INCLUDE needs a file to be relative to", hint="Read the catalog with load(path)"
            )
        if path in inside:
            raise text.error(token, f'"{path}" includes itself', hint=" includes ".join((*inside, path)))
        try:
            contents = self.include(path)
        except OSError as error:
            raise text.error(token, f'cannot read "{path}": {error.strerror or "no such file"}') from error
        base = posixpath.dirname(text.file or "")
        shown = posixpath.normpath(posixpath.join(base, plain(token)))
        self.read(Text(contents, shown, posixpath.dirname(path)), (*inside, path))

    def _declared(self, tree: Node, text: Text) -> Iterator[Item | Dropped]:
        match str(tree.data):
            case "create_source":
                yield read_source(tree, text)
            case "create_shard":
                yield read_shard(tree, text)
            case "create_sharding":
                yield read_sharding(tree, text)
            case "create_table" | "attach_table":
                yield from read_tables(tree, text, self.script.dialect)
            case "lock_table":
                yield read_lock(tree, text)
            case "statistics":
                yield read_statistics(tree, text)
            case "lock_index":
                yield read_index_state(tree, text)
            case "create_view":
                yield read_view(tree, text)
            case "create_lookup" | "attach_lookup":
                yield read_lookup(tree)
            case "join_index":
                yield read_join(tree, text)
            case "create_sequence":
                yield read_sequence(tree, text)
            case "drop":
                yield _dropped(tree)


_KINDS = {"INDEX": "index", "VIEW": "table"}


def _dropped(tree: Node) -> Dropped:
    token = token_at(tree)
    names = [name_of(each) for each in subtrees(child(tree, 2), "name")]
    kind = _KINDS.get(token.type, token.type.lower())
    schema = names[0] if len(names) == 2 else ""
    return Dropped(
        key=(kind, schema.casefold(), names[-1].casefold()),
        kind=" ".join(token.lower().split()),
        name=".".join(names),
        if_exists=tree.children[1] is not None,
    )
