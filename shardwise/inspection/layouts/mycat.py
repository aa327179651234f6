"""Mycat's and Cobar's schema.xml and rule.xml, and the map files that rules name.

Cobar: PartitionByLong, PartitionByString. Mycat also: PartitionByMod, PartitionByHashMod,
PartitionByMurmurHash, PartitionByCRC32PreSlot, PartitionByPattern, PartitionByFileMap, AutoPartitionByLong,
PartitionByMonth, PartitionByDate. A table whose rule is none of these is SCATTERED: right, and never pruned;
a remark says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree

from shardwise.catalog.model import (
    Placement,
    Reference,
    Scattered,
    Sharded,
    ShardedWith,
    ShardKey,
    Single,
    Table,
)
from shardwise.catalog.shardings import (
    Maximum,
    ShardingFunction,
    Value,
    hash_function,
    interval,
    list_,
    mod,
    range_,
)
from shardwise.catalog.sources import Source
from shardwise.errors import CatalogError
from shardwise.inspection.layouts.addresses import SECRET, server_source
from shardwise.inspection.layouts.draft import Draft

Element = ElementTree.Element
Placed = tuple[ShardingFunction, Sequence[int]]
"""A function, and the number of the data node of each slot."""


def translate(files: Sequence[Path]) -> Draft:
    """The draft of a catalog for a schema.xml and its rule.xml, in any order; map files lie beside them."""
    roots = [_read(file) for file in files]
    return _Translation(roots, files[0].parent).draft()


def _read(file: Path) -> Element:
    try:
        read = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CatalogError(f"{file} cannot be read: {error}") from error
    text = re.sub(r"<!DOCTYPE[^>]*>", "", read)  # names a file that is not here
    if "<!ENTITY" in text:
        raise CatalogError(f"{file} declares entities, which are not read")
    try:
        return ElementTree.fromstring(text)  # noqa: S314  no entities, which are all that is dangerous here
    except ElementTree.ParseError as error:
        raise CatalogError(f"{file} cannot be read: {error}") from error


@dataclass(frozen=True)
class _Rule:
    column: str
    function: str


class _Translation:
    def __init__(self, roots: Sequence[Element], folder: Path) -> None:
        self._folder = folder
        self._roots = roots
        self._rules = dict(self._read_rules())
        self._functions = {each.get("name", ""): each for each in self._all("function")}
        self._draft = Draft("sharded", "mysql")
        self._keys: dict[str, tuple[str, str, Sequence[str]]] = {}

    def _all(self, tag: str) -> Iterator[Element]:
        return (each for root in self._roots for each in root.iter(tag))

    def _read_rules(self) -> Iterator[tuple[str, _Rule]]:
        for each in self._all("tableRule"):
            columns, algorithm = each.findtext("rule/columns", ""), each.findtext("rule/algorithm", "")
            name, _, _ = algorithm.strip().partition("(")  # Cobar writes func1(${id})
            yield each.get("name", ""), _Rule(columns.strip(), name.strip())

    def draft(self) -> Draft:
        for source in self._sources():
            self._draft.sources[source.name] = source
        for schema in self._all("schema"):
            if schema.get("name"):
                self._draft.name = _word(schema.get("name", ""))
            for table in schema.findall("table"):
                for name in _names(table.get("name", "")):
                    self._table(name, table)
            if schema.get("dataNode"):
                self._draft.tables.append(Table(name="*", placement=Single(on=schema.get("dataNode", ""))))
        return self._draft

    # -------------------------------------------------------------- sources

    def _sources(self) -> Iterator[Source]:
        hosts = {each.get("name", ""): each for each in self._all("dataHost")}
        for node in self._all("dataNode"):
            names = _names(node.get("name", ""))
            if node.get("database") is not None:
                yield from self._of_mycat(names, node, hosts)
            else:
                yield from self._of_cobar(names, node)

    def _of_mycat(self, names: list[str], node: Element, hosts: Mapping[str, Element]) -> Iterator[Source]:
        databases, given = _names(node.get("database", "")), _names(node.get("dataHost", ""))
        if len(databases) * len(given) < len(names):
            raise CatalogError(f'data node "{node.get("name")}" has fewer databases than names')
        places = [(host, database) for host in given for database in databases]
        for name, (host, database) in zip(names, places, strict=False):
            found = hosts.get(host)
            writer = found.find("writeHost") if found is not None else None
            if writer is None:
                yield Source(name=name, dialect="mysql")
                self._draft.remark("", f"{name}: there is no dataHost {host}; put a URL in place of DIALECT.")
                continue
            at = writer.get("url", "").removeprefix("jdbc:mysql://").partition("/")[0]
            yield server_source(name, "mysql", at, database, writer.get("user"))

    def _of_cobar(self, names: list[str], node: Element) -> Iterator[Source]:
        references = [
            text for each in node.iter("dataSourceRef") for text in _names((each.text or "").strip())
        ]
        if not references:
            references = [
                text
                for each in node.findall("property")
                if each.get("name") == "dataSource"
                for text in _names((each.text or "").strip())
            ]
        places = [self._location(text) for text in references]
        for number, name in enumerate(names):
            if number < len(places) and places[number] is not None:
                at, database, user = places[number] or ("", "", None)
                yield server_source(name, "mysql", at, database, user)
            else:
                yield Source(name=name, dialect="mysql", password=SECRET, read_only=True)

    def _location(self, reference: str) -> tuple[str, str, str | None] | None:
        """`dsTest[0]`: a location of the data source of that name, "host:port/database"."""
        name, _, number = reference.rstrip("]").partition("[")
        for each in self._all("dataSource"):
            if each.get("name") != name:
                continue
            texts = [t.text or "" for t in each.iter("location")]
            locations = [location for text in texts for location in _names(text.strip())]
            users = [p.text for p in each.findall("property") if p.get("name") == "user"]
            at, _, database = locations[int(number or 0)].partition("/")
            return at, database, users[0] if users else None
        return None

    # -------------------------------------------------------------- tables

    def _table(self, name: str, table: Element) -> None:
        nodes = _names(table.get("dataNode", ""))
        rule = self._rules.get(table.get("rule", ""))
        if table.get("type") == "global":
            self._add(name, Reference(on=tuple(nodes)))
        elif len(nodes) == 1 and not table.get("subTables"):
            self._add(name, Single(on=nodes[0]))
        else:
            self._sharded(name, nodes, rule, table.get("subTables"))
        for child in table.findall("childTable"):
            self._child(name, child)

    def _add(self, name: str, placement: Placement) -> None:
        self._draft.tables.append(Table(name=name, placement=placement))

    def _sharded(self, name: str, nodes: Sequence[str], rule: _Rule | None, sub_tables: str | None) -> None:
        try:
            if rule is None:
                raise CatalogError("there is no rule")
            if sub_tables:
                raise CatalogError("subTables have no counterpart")
            placed, numbers = self._function(rule.function, len(nodes))
            if max(numbers, default=0) >= len(nodes):
                raise CatalogError(f"its rule {rule.function} names data node {max(numbers)}")
            shards = [nodes[number] for number in numbers]
            sharding = self._draft.sharding(
                f"by_{rule.function}".replace("-", "_"), placed, shards, ("slot",)
            )
        except CatalogError as error:
            if sub_tables:
                self._draft.remark("", f"{name} is left out: {error.message}.")
                return
            sharding = self._draft.sharding("nodes", mod(len(nodes)), nodes, ("slot",))
            self._add(name, Scattered(sharding=sharding))
            self._draft.remark(name, f"Never pruned: {error.message}.")
            return
        self._keys[name] = (rule.column, sharding, nodes)
        self._add(name, Sharded(sharding=sharding, keys=(ShardKey.of(rule.column),)))

    def _child(self, parent: str, child: Element) -> None:
        """A child is where its parent is: by the same key, if its join is on the parent's key."""
        name, join, of = child.get("name", ""), child.get("joinKey", ""), child.get("parentKey", "")
        column, sharding, nodes = self._keys.get(parent, ("", "", ()))
        if column.lower() == of.lower() and sharding:
            self._add(name, Sharded(sharding=sharding, keys=(ShardKey.of(join),)))
            self._keys[name] = (join, sharding, nodes)
        else:
            self._add(name, ShardedWith(parent=parent, column=join, parent_column=of))
        for grandchild in child.findall("childTable"):
            self._child(name, grandchild)

    # -------------------------------------------------------------- functions

    def _function(self, name: str, nodes: int) -> Placed:
        element = self._functions.get(name)
        if element is None:
            raise CatalogError(f"there is no function {name}")
        class_ = element.get("class", "").rpartition(".")[2]
        make = _MAKERS.get(class_)
        if make is None:
            raise CatalogError(f"the function {class_} has no counterpart")
        properties = {each.get("name", ""): (each.text or "").strip() for each in element.findall("property")}
        return make(_Given(properties, self._folder, nodes))


@dataclass(frozen=True)
class _Given:
    """What a function is made of: its properties, the folder of its map file, the number of data nodes."""

    properties: Mapping[str, str]
    folder: Path
    nodes: int

    def text(self, name: str, default: str = "") -> str:
        return self.properties.get(name, default)

    def number(self, name: str, default: int | None = None) -> int:
        text = self.text(name)
        if not text and default is None:
            raise CatalogError(f"its function has no {name}")
        return int(text) if text else default or 0

    def lines(self) -> list[tuple[str, str]]:
        """The map file: left and right of each `=`."""
        file = self.folder / self.text("mapFile")
        if not self.text("mapFile") or not file.is_file():
            raise CatalogError(f'the map file "{self.text("mapFile")}" is not beside the rules')
        rows = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
        pairs = [row.partition("=") for row in rows if "=" in row and not row.startswith(("#", "//"))]
        return [(left.strip(), right.strip()) for left, _, right in pairs]


def _cobar_slots(given: _Given) -> list[int]:
    counts = [int(part) for part in given.text("partitionCount").split(",")]
    lengths = [int(part) for part in given.text("partitionLength").split(",")]
    segments = [length for count, length in zip(counts, lengths, strict=True) for _ in range(count)]
    slots = [number for number, length in enumerate(segments) for _ in range(length)]
    if len(slots) != 1024:
        raise CatalogError("partitionCount and partitionLength do not make 1,024 slots")
    return slots


def _by_long(given: _Given) -> Placed:
    return hash_function("cobar_long", 1024), _cobar_slots(given)


def _by_string(given: _Given) -> Placed:
    length, slice_ = given.text("hashLength"), given.text("hashSlice")
    options = {"slice": slice_ or (f"0:{length}" if length else "0:8")}
    return hash_function("cobar_string", 1024, options), _cobar_slots(given)


def _by_mod(given: _Given) -> Placed:
    count = given.number("count")
    return hash_function("number", count), range(count)


def _by_hash_mod(given: _Given) -> Placed:
    count = given.number("count")
    return hash_function("mycat_hash_mod", count), range(count)


def _by_murmur(given: _Given) -> Placed:
    if given.text("weightMapFile"):
        raise CatalogError("weights of nodes have no counterpart")
    count = given.number("count")
    options = {"seed": given.text("seed", "0"), "points": given.text("virtualBucketTimes", "160")}
    return hash_function("mycat_murmur", count, options), range(count)


def _by_crc32(given: _Given) -> Placed:
    count, slots = given.number("count"), 102_400
    return hash_function("crc32", slots), [min(slot // (slots // count), count - 1) for slot in range(slots)]


def _by_pattern(given: _Given) -> Placed:
    size = given.number("patternValue", 1024)
    numbers: list[int | None] = [None] * size
    for text, node in given.lines():
        low, _, high = text.partition("-")
        for slot in range(int(low), min(int(high or low), size - 1) + 1):
            if numbers[slot] is None:
                numbers[slot] = int(node)
    if None in numbers:
        raise CatalogError("its map leaves remainders out")
    return mod(size), [number for number in numbers if number is not None]


def _by_file(given: _Given) -> Placed:
    groups: dict[int, list[Value]] = {}
    for text, node in given.lines():
        groups.setdefault(int(node), []).append(text if given.number("type", 0) else int(text))
    default = given.number("defaultNode", -1)
    function = list_(list(groups.values()), default >= 0)
    return function, [*groups, *([default] if default >= 0 else [])]


def _auto(given: _Given) -> Placed:
    """Ranges with both ends: the first that holds a number has it. They must leave no gap."""
    bounds: list[Value | Maximum] = []
    nodes: list[int] = []
    last: int | None = None
    for text, node in given.lines():
        low_text, _, high_text = text.partition("-")
        low, high = _long(low_text), _long(high_text)
        if last is not None and not low <= last + 1 <= high:
            raise CatalogError(f"its map leaves a gap before {text}, or is not in order")
        last = high
        bounds.append(high + 1)
        nodes.append(int(node))
    default = given.number("defaultNode", -1)
    if default >= 0:
        raise CatalogError("a default node takes what is below and what is above all ranges")
    return range_(bounds), nodes


def _long(text: str) -> int:
    """Mycat's numbers: 3K is 3,000, 3M is 30,000, 3M1 is 30,001."""
    upper = text.strip().upper()
    for sign, factor in (("M", 10_000), ("K", 1_000)):
        head, found, rest = upper.partition(sign)
        if found and head:
            return int(head) * factor + int(rest or 0)
    return int(upper)


def _by_month(given: _Given) -> Placed:
    begin, end = given.text("sBeginDate"), given.text("sEndDate")
    if not begin or end:
        raise CatalogError("months that begin again have no counterpart")
    first = date.fromisoformat(begin)
    months = first.year * 12 + first.month - 1 + given.nodes - 1
    return interval("MONTH", first, date(months // 12, months % 12 + 1, 1)), range(given.nodes)


def _by_date(given: _Given) -> Placed:
    if given.text("sEndDate"):
        raise CatalogError("days that begin again have no counterpart")
    first, days = date.fromisoformat(given.text("sBeginDate")), given.number("sPartionDay")
    bounds = [first + timedelta(days=days * (number + 1)) for number in range(given.nodes)]
    return range_(bounds), range(given.nodes)


_MAKERS: dict[str, Callable[[_Given], Placed]] = {
    "PartitionByLong": _by_long,
    "PartitionByString": _by_string,
    "PartitionByMod": _by_mod,
    "PartitionByHashMod": _by_hash_mod,
    "PartitionByMurmurHash": _by_murmur,
    "PartitionByCRC32PreSlot": _by_crc32,
    "PartitionByPattern": _by_pattern,
    "PartitionByFileMap": _by_file,
    "AutoPartitionByLong": _auto,
    "PartitionByMonth": _by_month,
    "PartitionByDate": _by_date,
}


def _names(text: str) -> list[str]:
    """`dn1,dn$2-4`: dn1, dn2, dn3, dn4."""
    found = []
    for part in (piece.strip() for piece in text.split(",")):
        span = re.fullmatch(r"(.*)\$(\d+)-(\d+)(.*)", part)
        if span is None:
            found += [part] if part else []
        else:
            found += [f"{span[1]}{number}{span[4]}" for number in range(int(span[2]), int(span[3]) + 1)]
    return found


def _word(name: str) -> str:
    text = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in name)
    return text if text[:1].isalpha() else f"c_{text}"
