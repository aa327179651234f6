"""Sources and shards, and families of them that stay families.

A family is one declaration with a template: `db_{n:02} FOR n IN 0-9999`. Its members are made
when they are asked for, by matching the name, so that a catalog of 10,000 sources loads in
milliseconds.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from shardwise.catalog.templates import Template, TemplateError, TemplateValue

_DIALECT_OF_SCHEME = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "postgresql": "postgres",
    "postgres": "postgres",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "parquet": "duckdb",
}
_FILE_SCHEMES = frozenset({"sqlite", "duckdb", "parquet"})
SCHEMES = tuple(_DIALECT_OF_SCHEME)


class Options(Mapping[str, str]):
    """The `WITH (…)` of a declaration: text to text, immutable, hashable, in the order written."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, str] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: str) -> str:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"Options({self._items!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Where a password is, never the password: an environment variable or a file. Resolved at connect."""

    env: str | None = None
    file: str | None = None

    def file_location(self, base_dir: str) -> str | None:
        """The file's path, taken relative to `base_dir`, the directory of the catalog's file."""
        return None if self.file is None else posixpath.normpath(posixpath.join(base_dir, self.file))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One physical database. Without `url` whoever embeds the planner connects."""

    name: str
    url: str | None = None
    dialect: str | None = None
    password: Secret | None = None
    read_only: bool = False
    zone: str | None = None
    options: Mapping[str, str] = field(default_factory=Options)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", Options(self.options))

    @property
    def scheme(self) -> str | None:
        """The URL's scheme, in lower case."""
        return self.url.partition(":")[0].lower() if self.url else None

    @property
    def is_file(self) -> bool:
        """Whether its URL is of a kind that is a file or a directory."""
        return self.scheme in _FILE_SCHEMES

    @property
    def sql_dialect(self) -> str | None:
        """sqlglot's name of the SQL it speaks: as declared, else by its URL; None if neither says."""
        return self.dialect or _DIALECT_OF_SCHEME.get(self.scheme or "")

    def location(self, base_dir: str) -> str | None:
        """The URL, a relative path in it taken relative to `base_dir`, the directory of the catalog's file.

        >>> Source(name="a", url="sqlite:///a.db").location("/srv")
        'sqlite:////srv/a.db'
        """
        path = self.file_path
        if path is None or path.startswith("/"):
            return self.url
        return self._with_path(posixpath.normpath(posixpath.join(base_dir, path)))

    @property
    def file_path(self) -> str | None:
        """The path of a source that is a file or a directory, as written; None for servers."""
        scheme, _, rest = (self.url or "").partition(":///")
        path = rest.partition("?")[0]
        return path if scheme.lower() in _FILE_SCHEMES and path and not path.startswith(":") else None

    def moved(self, directory: str) -> Source:
        """The same source, its relative paths written relative to the parent of `directory` (INCLUDE)."""
        source = self
        path = self.file_path
        if directory and path is not None and not path.startswith("/"):
            source = replace(source, url=self._with_path(posixpath.normpath(posixpath.join(directory, path))))
        if directory and self.password and self.password.file:
            secret = Secret(file=self.password.file_location(directory))
            source = replace(source, password=secret)
        return source

    def _with_path(self, path: str) -> str:
        scheme, _, rest = (self.url or "").partition(":///")
        _, mark, query = rest.partition("?")
        return f"{scheme}:///{path}{mark}{query}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One logical piece of the data: a source to write to and its replicas."""

    name: str
    source: str
    replicas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Members:
    """The values of a fixed family's variable: `0-7, 10, 'eu'` is `(range(0, 8), range(10, 11), "eu")`."""

    items: tuple[range | str, ...]

    def __iter__(self) -> Iterator[int | str]:
        for item in self.items:
            if isinstance(item, str):
                yield item
            else:
                yield from item

    def __len__(self) -> int:
        return sum(1 if isinstance(item, str) else len(item) for item in self.items)

    def find(self, text: str) -> int | str | None:
        """The member that is written `text` in a template, or None."""
        if text in self.items:
            return text
        if not text.isdecimal():
            return None
        value = int(text)
        return value if any(isinstance(item, range) and value in item for item in self.items) else None

    def index(self, value: TemplateValue) -> int:
        """The place of a member in the order of iteration."""
        before = 0
        for item in self.items:
            if item == value:
                return before
            if isinstance(item, range):
                if isinstance(value, int) and value in item:
                    return before + item.index(value)
                before += len(item)
            else:
                before += 1
        raise ValueError(value)


def _member_of(name: str, template: str, variable: str, members: Members | None) -> TemplateValue | None:
    """The value of `variable` that makes `template` read `name`; None if there is none."""
    parsed = Template.parse(template)
    found = parsed.match(name)
    if found is None or variable not in found:
        return None
    text = found[variable]
    value = _safe_member(text) if members is None else members.find(text)
    if value is None:
        return None
    try:
        return value if parsed.render({variable: value}) == name else None
    except TemplateError:
        return None


MEMBER_BYTES_MAX = 200
"""Longer names are refused: file systems take 255 bytes for a name, what the template adds included."""


def member_problem(text: str) -> str | None:
    """Why `text` cannot be a member of an open family: it becomes part of a path. None if it can.

    >>> member_problem("../etc"), member_problem("acme")
    ("begins with '.'", None)
    """
    if not text:
        return "is empty"
    if text.startswith("."):
        return "begins with '.'"
    bad = next((each for each in text if each in _UNSAFE), None)
    if bad is not None:
        return f"holds {bad!r}"
    if not text.isprintable():
        return "holds a character that cannot be printed"
    if len(text.encode()) > MEMBER_BYTES_MAX:
        return f"is longer than {MEMBER_BYTES_MAX} bytes"
    return None


_UNSAFE = frozenset("/\\?*[]{}")  # they lead elsewhere in a path, a URL, a pattern of files or a template


def _safe_member(text: str) -> str | None:
    return None if member_problem(text) else text


def _fill(text: str | None, values: Mapping[str, TemplateValue]) -> str | None:
    return None if text is None else Template.parse(text).render(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFamily:
    """Many sources by one declaration: name, URL, ZONE and PASSWORD of `pattern` are templates.

    `members` is None for an open family (FOR EACH): its members are found when they are needed, in its folder
    or by the query `listing`.
    """

    pattern: Source
    variable: str
    members: Members | None = None
    listing: str | None = None

    @property
    def name(self) -> str:
        """The template of the members' names."""
        return self.pattern.name

    def member(self, value: TemplateValue) -> Source:
        """The source for one value of the variable."""
        pattern, values = self.pattern, {self.variable: value}
        secret = pattern.password
        if secret is not None:
            secret = Secret(env=_fill(secret.env, values), file=_fill(secret.file, values))
        return replace(
            pattern,
            name=Template.parse(pattern.name).render(values),
            url=_fill(pattern.url, values),
            zone=_fill(pattern.zone, values),
            password=secret,
        )

    def value_of(self, name: str) -> TemplateValue | None:
        """The variable's value for the member of that name, or None."""
        return _member_of(name, self.pattern.name, self.variable, self.members)

    def url_of(self, value: TemplateValue) -> str | None:
        """The URL of one member."""
        url = _fill(self.pattern.url, {self.variable: value})
        return Source(name="", url=url).location("") if self.pattern.file_path else url

    def find(self, name: str) -> Source | None:
        """The member of that name, or None."""
        value = self.value_of(name)
        return None if value is None else self.member(value)

    def names(self) -> Iterator[str]:
        """The names of all members of a fixed family."""
        name = Template.parse(self.pattern.name)
        return (name.render({self.variable: value}) for value in self.members or ())

    def __iter__(self) -> Iterator[Source]:
        """All members of a fixed family; none of an open one, whose members the sources themselves know."""
        return (self.member(value) for value in self.members or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardFamily:
    """Many shards by one declaration: all names of `pattern` are templates over `variable`."""

    pattern: Shard
    variable: str
    members: Members

    @property
    def name(self) -> str:
        """The template of the members' names."""
        return self.pattern.name

    def member(self, value: TemplateValue) -> Shard:
        """The shard for one value of the variable."""
        values = {self.variable: value}
        fill = Template.parse
        return Shard(
            name=fill(self.pattern.name).render(values),
            source=fill(self.pattern.source).render(values),
            replicas=tuple(fill(each).render(values) for each in self.pattern.replicas),
        )

    def value_of(self, name: str) -> TemplateValue | None:
        """The variable's value for the member of that name, or None."""
        return _member_of(name, self.pattern.name, self.variable, self.members)

    def find(self, name: str) -> Shard | None:
        """The member of that name, or None."""
        value = self.value_of(name)
        return None if value is None else self.member(value)

    def sources(self) -> Iterator[str]:
        """The names of all sources of all members."""
        for text in (self.pattern.source, *self.pattern.replicas):
            template = Template.parse(text)
            yield from (template.render({self.variable: value}) for value in self.members)

    def find_by_source(self, source: str) -> Shard | None:
        """The member that is on `source`, or None."""
        for template in (self.pattern.source, *self.pattern.replicas):
            value = _member_of(source, template, self.variable, self.members)
            if value is not None:
                return self.member(value)
        return None

    def __iter__(self) -> Iterator[Shard]:
        return (self.member(value) for value in self.members)
