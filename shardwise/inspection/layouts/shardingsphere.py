"""Apache ShardingSphere's YAML: data sources, sharding tables, auto tables, broadcast and single tables.

Databases and tables by INLINE, COMPLEX_INLINE, MOD, HASH_MOD, VOLUME_RANGE, BOUNDARY_RANGE, AUTO_INTERVAL and
INTERVAL. A table whose rule is none of these is SCATTERED: right, and never pruned; a remark says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from math import ceil
from typing import Any

from sqlglot import exp

from shardwise.catalog.model import Reference, Scattered, Sharded, ShardKey, Single, Table
from shardwise.catalog.shardings import MAXVALUE, Maximum, Value, interval, mod, range_
from shardwise.errors import CatalogError
from shardwise.inspection.layouts.addresses import jdbc_source
from shardwise.inspection.layouts.draft import Draft, named
from shardwise.inspection.layouts.fitting import template_of
from shardwise.inspection.layouts.inline import read_inline, read_names
from shardwise.inspection.layouts.levels import (
    DataNode,
    Level,
    Rule,
    hash_level,
    inline_level,
    mod_level,
    rule_of,
)

Block = Mapping[str, Any]


def translate(config: Block) -> Draft:
    """The draft of a catalog for a ShardingSphere configuration, as its YAML was read."""
    return _Translation(config).draft()


class _Translation:
    def __init__(self, config: Block) -> None:
        self._config = config
        rules = [rule for rule in config.get("rules") or () if isinstance(rule, Mapping)]
        self._sharding = next(
            (rule for rule in rules if "tables" in rule and "shardingAlgorithms" in rule), {}
        )
        self._rules = rules
        self._algorithms: Block = self._sharding.get("shardingAlgorithms") or {}
        self._draft = Draft(_word(config.get("databaseName") or config.get("schemaName")), "mysql")

    def draft(self) -> Draft:
        draft = self._draft
        for name, given in (self._config.get("dataSources") or {}).items():
            source = jdbc_source(str(name), given)
            draft.sources[source.name] = source
        self._replicas()
        if draft.sources:
            draft.dialect = next(iter(draft.sources.values())).sql_dialect or "mysql"
        for name, table in (self._sharding.get("tables") or {}).items():
            self._table(str(name), table or {})
        for name, table in (self._sharding.get("autoTables") or {}).items():
            self._auto_table(str(name), table or {})
        for name in self._broadcast():
            draft.tables.append(Table(name=name, placement=Reference(on=tuple(draft.sources))))
        self._rest()
        return draft

    # -------------------------------------------------------------- other rules

    def _broadcast(self) -> list[str]:
        names = list(self._sharding.get("broadcastTables") or ())
        own = [r for r in self._rules if isinstance(r.get("tables"), list) and r.get("_tag") == "!BROADCAST"]
        return [str(name) for name in (*names, *(name for rule in own for name in rule["tables"]))]

    def _replicas(self) -> None:
        """READWRITE_SPLITTING gives a group a name of its own, which data nodes use: the primary takes it."""
        for rule in self._rules:
            if rule.get("_tag") != "!READWRITE_SPLITTING":
                continue
            groups = rule.get("dataSources") or rule.get("dataSourceGroups") or {}
            for name, group in groups.items():
                static = group.get("staticStrategy") or group
                primary = static.get("writeDataSourceName")
                if primary in self._draft.sources:
                    self._draft.sources[str(name)] = replace(self._draft.sources.pop(primary), name=str(name))
                for replica in static.get("readDataSourceNames") or ():
                    self._draft.sources.pop(replica, None)
                self._draft.remark(
                    "", f"{name}: the primary alone is read; add its replicas with CREATE SHARD … REPLICAS."
                )

    def _rest(self) -> None:
        """Tables that no rule names are on one data source each, which the file may not say."""
        sources = list(self._draft.sources)
        if len(sources) == 1 or self._sharding.get("defaultDataSourceName") in sources:
            on = str(self._sharding.get("defaultDataSourceName") or sources[0])
            self._draft.tables.append(Table(name="*", placement=Single(on=on)))
            return
        self._draft.remark(
            "", "Tables without a rule are on one data source each: add ATTACH TABLE name ON source for them."
        )

    # -------------------------------------------------------------- tables

    def _table(self, name: str, table: Block) -> None:
        nodes = self._nodes(name, table)
        database = table.get("databaseStrategy", self._sharding.get("defaultDatabaseStrategy"))
        own = table.get("tableStrategy", self._sharding.get("defaultTableStrategy"))
        try:
            levels: list[Level | None] = []
            for strategy, at in ((database, 0), (own, 1)):
                names = sorted({node[at] for node in nodes}, key=_natural)
                has_rule = strategy and "none" not in strategy
                levels.append(self._level(strategy, names) if has_rule else None)
            self._sharded(name, rule_of(levels[0], levels[1], nodes))
        except CatalogError as error:
            self._scattered(name, nodes, error.message)

    def _auto_table(self, name: str, table: Block) -> None:
        sources = read_names(str(table.get("actualDataSources") or ",".join(self._draft.sources)))
        strategy = table.get("shardingStrategy", self._sharding.get("defaultTableStrategy"))
        try:
            level = self._level(strategy, [f"{name}_0"])
            nodes = [(sources[slot % len(sources)], f"{name}_{slot}") for slot in range(level.function.size)]
            self._sharded(name, Rule((level.key,), level.function, tuple(nodes)))
        except CatalogError as error:
            self._draft.remark("", f"{name} is left out: {error.message}.")

    def _nodes(self, name: str, table: Block) -> list[DataNode]:
        text = table.get("actualDataNodes")
        if not text:
            return [(source, name) for source in self._draft.sources]
        found = []
        for node in read_names(str(text)):
            source, _, physical = node.partition(".")
            found.append((source, physical))
        return found

    def _sharded(self, name: str, rule: Rule) -> None:
        draft = self._draft
        shards = [source for source, _ in rule.nodes]
        columns = "_".join(dict.fromkeys(c.name for key in rule.keys for c in key.find_all(exp.Column)))
        template = named(rule.function, [table for _, table in rule.nodes], rule.levels, name)
        sharding = draft.sharding(f"by_{columns}", rule.function, shards, rule.levels)
        key = ShardKey(parts=rule.keys)
        placement = Sharded(sharding=sharding, keys=(key,))
        draft.tables.append(Table(name=name, placement=placement, named=template))
        if getattr(rule.function, "algorithm", None) == "java_string":
            draft.remark(
                name,
                f"{columns} is taken to be text. ShardingSphere hashes by Java's type: for BIGINT write "
                "HASH(java_long, sign = 'abs'), for INT HASH(number).",
            )

    def _scattered(self, name: str, nodes: Sequence[DataNode], why: str) -> None:
        draft = self._draft
        try:
            template = named(mod(len(nodes)), [table for _, table in nodes], ("n",), name)
            sharding = draft.sharding("nodes", mod(len(nodes)), [source for source, _ in nodes], ("n",))
        except CatalogError as error:
            draft.remark("", f"{name} is left out: {why}; and {error.message}.")
            return
        draft.tables.append(Table(name=name, placement=Scattered(sharding=sharding), named=template))
        draft.remark(name, f"Never pruned: {why}.")

    # -------------------------------------------------------------- algorithms

    def _level(self, strategy: Any, names: Sequence[str]) -> Level:
        """The level of a strategy that chooses among `names`."""
        kind, found = next(iter((strategy or {}).items()), ("none", None))
        given: Block = found or {}
        algorithm: Block = self._algorithms.get(str(given.get("shardingAlgorithmName"))) or {}
        if kind not in ("standard", "complex") or not algorithm:
            raise CatalogError(f"a strategy of kind {kind} has no rule in the file")
        type_, props = str(algorithm.get("type", "")).upper(), algorithm.get("props") or {}
        column = str(given.get("shardingColumn") or given.get("shardingColumns") or self._default_column())
        if type_ in ("INLINE", "COMPLEX_INLINE"):
            return inline_level(read_inline(str(props["algorithm-expression"])))
        make = _ALGORITHMS.get(type_)
        if make is None:
            raise CatalogError(f"the algorithm {type_} has no counterpart")
        return make(column, {key: str(value) for key, value in props.items()}, names)

    def _default_column(self) -> str:
        return str(self._sharding.get("defaultShardingColumn") or "")


def _natural(text: str) -> tuple[int, str]:
    return len(text), text


def _word(name: object) -> str:
    text = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in str(name or "sharded"))
    return text if text[:1].isalpha() else f"c_{text}"


# ------------------------------------------------------------------ the algorithms


def _suffixed(names: Sequence[str], size: int) -> list[str]:
    """The names by suffix: prefix, and a number as wide as theirs."""
    template = template_of(dict(enumerate(names)), "n") if len(names) > 1 else None
    prefix = names[0].rstrip("0123456789")
    width = len(names[0]) - len(prefix) if template and ":0" in template else 0
    return [f"{prefix}{number:0{width}}" for number in range(size)]


def _mod(column: str, props: Mapping[str, str], names: Sequence[str]) -> Level:
    if props.get("start-offset", "0") != "0" or props.get("stop-offset", "0") != "0":
        raise CatalogError("MOD of a part of the number has no counterpart")
    size = int(props["sharding-count"])
    return mod_level(column, size, _suffixed(names, size))


def _hash_mod(column: str, props: Mapping[str, str], names: Sequence[str]) -> Level:
    size = int(props["sharding-count"])
    return hash_level(column, "java_string", size, _suffixed(names, size), {"sign": "abs"})


def _ranges(column: str, bounds: Sequence[Value], names: Sequence[str]) -> Level:
    whole: list[Value | Maximum] = [*bounds, MAXVALUE]
    key = exp.column(exp.to_identifier(column))
    return Level(key, range_(whole), tuple(_suffixed(names, len(whole))))


def _volume_range(column: str, props: Mapping[str, str], names: Sequence[str]) -> Level:
    low, high, volume = (int(props[key]) for key in ("range-lower", "range-upper", "sharding-volume"))
    return _ranges(column, [*range(low, high, volume), high], names)


def _boundary_range(column: str, props: Mapping[str, str], names: Sequence[str]) -> Level:
    return _ranges(column, sorted(int(part) for part in props["sharding-ranges"].split(",")), names)


def _auto_interval(column: str, props: Mapping[str, str], names: Sequence[str]) -> Level:
    first, last = (datetime.fromisoformat(props[f"datetime-{key}"]) for key in ("lower", "upper"))
    seconds = int(props["sharding-seconds"])
    slots = int((last - first).total_seconds()) // seconds + 2
    bounds = auto_interval_bounds(seconds, slots)
    return _ranges(column, [first + timedelta(seconds=bound) for bound in bounds], names)


def auto_interval_bounds(seconds: int, slots: int) -> list[int]:
    """Where each slot but the last ends, in seconds after the start.

    ShardingSphere rounds the number of intervals to two digits before it takes the next whole number, so that
    a slot holds the first half per cent of the interval after its own.
    """

    def slot(second: int) -> int:
        rounded = Decimal(second / seconds).quantize(Decimal("0.01"), ROUND_HALF_EVEN)
        return ceil(rounded)

    bounds = []
    for number in range(slots - 1):
        low, high = number * seconds, (number + 1) * seconds
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if slot(middle) > number else (middle + 1, high)
        bounds.append(low)
    return bounds


_UNITS = {"DAYS": "DAY", "MONTHS": "MONTH", "YEARS": "YEAR"}
_PATTERNS = {"yyyy": "%Y", "MM": "%m", "dd": "%d"}


def _interval(column: str, props: Mapping[str, str], names: Sequence[str]) -> Level:
    """By calendar unit: names end in the date, written by a pattern."""
    unit, amount = props.get("datetime-interval-unit", "DAYS"), props.get("datetime-interval-amount", "1")
    if unit not in _UNITS or amount != "1":
        raise CatalogError(f"an INTERVAL of {amount} {unit} has no counterpart")
    first = date.fromisoformat(props["datetime-lower"][:10])
    if not props.get("datetime-upper"):
        raise CatalogError("an INTERVAL without datetime-upper has no end")
    function = interval(_UNITS[unit], first, date.fromisoformat(props["datetime-upper"][:10]))
    pattern = props["sharding-suffix-pattern"]
    for java, python in _PATTERNS.items():
        pattern = pattern.replace(java, python)
    suffixes = [_day(function.labels(slot)[0]).strftime(pattern) for slot in range(function.size)]
    prefix = (
        names[0].removesuffix(suffixes[0])
        if names[0].endswith(suffixes[0])
        else names[0].rstrip("0123456789")
    )
    return Level(
        exp.column(exp.to_identifier(column)), function, tuple(prefix + suffix for suffix in suffixes)
    )


def _day(label: object) -> date:
    assert isinstance(label, date)
    return label


_ALGORITHMS: dict[str, Callable[[str, Mapping[str, str], Sequence[str]], Level]] = {
    "MOD": _mod,
    "HASH_MOD": _hash_mod,
    "VOLUME_RANGE": _volume_range,
    "BOUNDARY_RANGE": _boundary_range,
    "AUTO_INTERVAL": _auto_interval,
    "INTERVAL": _interval,
}
