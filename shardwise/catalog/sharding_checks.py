"""Checks of shardings: every slot on one shard, every shard there, and no shard the copy of another."""

from __future__ import annotations

from shardwise.catalog.checker import Checker, names_of
from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.places import Sharding
from shardwise.catalog.shardings import Exceptions, Grid, ListOf, Range, Ring, SlotSet, full
from shardwise.catalog.tables import Scattered, Sharded, ShardedWith, Table
from shardwise.catalog.templates import Template, TemplateError
from shardwise.errors import CatalogError


def check_sharding(checker: Checker, sharding: Sharding) -> None:
    """Every slot on one shard, and every shard there."""
    name = sharding.name
    if checker.catalog.find_shard(name) is not None:
        checker.fail(f'"{name}" is a shard and a sharding', at=name, hint="ON could mean either: rename one")
    _check_levels(checker, sharding)
    if sharding.is_open:
        _check_directory(checker, sharding)
        return
    if sharding.on is None and not sharding.owners:
        hint = "Add (shard = slots, …) or ON a template of shard names"
        checker.fail(f'sharding "{name}" does not say on which shards its slots are', at=name, hint=hint)
    if sharding.on is not None and sharding.owners:
        checker.fail(f'sharding "{name}" has two maps of its slots', at=name)
    if sharding.on is not None:
        checker.template(sharding.on, sharding.levels, at=sharding.on)
    _check_own_shards(checker, sharding)
    _check_covered(checker, sharding)
    try:
        shards = sharding.shards()
    except CatalogError as error:
        checker.fail(error.message, at=sharding.on, hint=error.hint)
    named = dict(sharding.owners) | dict(sharding.moved)
    for shard in named:
        checker.need_shard(shard)
    for shard in shards:
        if checker.catalog.find_shard(shard) is None:
            close = did_you_mean(shard, names_of(checker.catalog.shards()))
            message = (
                f'there is no shard "{shard}", on which "{name}" has slot {sharding.slot_map.index(shard)}'
            )
            checker.fail(message, at=sharding.on, hint=close)


def _check_levels(checker: Checker, sharding: Sharding) -> None:
    wanted = 2 if isinstance(sharding.function, Grid) else 1
    if len(sharding.levels) != wanted:
        given = len(sharding.levels)
        checker.fail(f'sharding "{sharding.name}" has levels: {wanted}, and names for them: {given}')
    if len(set(sharding.levels)) < len(sharding.levels):
        hint = "Name both: USING MOD 8 AS d, INTERVAL MONTH AS m"
        checker.fail(f'both levels of sharding "{sharding.name}" are named "{sharding.levels[0]}"', hint=hint)
    for level in sharding.levels:
        if level in ("table", "schema", "shard"):
            checker.fail(
                f'a level of a sharding cannot be named "{level}"', at=level, hint="Templates use that word"
            )


def _check_covered(checker: Checker, sharding: Sharding) -> None:
    size, name = sharding.function.size, sharding.name
    for owners in (sharding.owners, sharding.moved):
        taken: SlotSet = 0
        for shard, slots in owners:
            if slots >> size:
                checker.fail(f'slot {slots.bit_length() - 1} does not exist in "{name}"', at=shard)
            if slots & taken:
                checker.fail(f"slot {_first(slots & taken)} is given twice", at=shard)
            taken |= slots
    covered = full(size) if sharding.on is not None else 0
    for _, slots in (*sharding.owners, *sharding.moved):
        covered |= slots
    missing = full(size) & ~covered
    if missing:
        count = missing.bit_count()
        hint = f"{count} of {size} slots are on no shard" if count > 1 else None
        checker.fail(f'slot {_first(missing)} of sharding "{name}" is on no shard', at=name, hint=hint)


def _first(slots: SlotSet) -> int:
    return (slots & -slots).bit_length() - 1


def _check_directory(checker: Checker, sharding: Sharding) -> None:
    level, on = sharding.levels[0], sharding.on or ""
    if not on:
        hint = f"Write ON file_{{{level}}}, or ON a shard that holds a schema for each"
        checker.fail("a DIRECTORY needs ON: its members are found there", at=sharding.name, hint=hint)
    if sharding.owners or sharding.moved:
        checker.fail("a DIRECTORY has no numbered slots to give to shards", at=sharding.name)
    template = checker.template(on, sharding.levels, at=on)
    if template.is_constant:
        checker.need_shard(on)
    elif not _open_family(checker, template):
        hint = "Declare CREATE SOURCE … FOR EACH with that name"
        checker.fail(f'there is no open family of sources named "{on}"', at=on, hint=hint)


def _open_family(checker: Checker, template: Template) -> bool:
    """Whether the template's names are those of an open family, by whatever variable."""
    try:
        name = template.render(dict.fromkeys(template.variables, "a"))
    except TemplateError:
        return False
    return template.variables == template.plain_variables and checker.catalog.open_family_of(name) is not None


def _check_own_shards(checker: Checker, sharding: Sharding) -> None:
    """RANGE, LIST and RING name their shards themselves; a RING hashes the names."""
    function = sharding.function
    if isinstance(function, Exceptions):
        function = function.function
    if not isinstance(function, (Range, ListOf, Ring)):
        return
    if sharding.on is not None:
        hint = "Give it the owners of its slots"
        checker.fail(
            f'sharding "{sharding.name}" names its shards slot by slot, not by a template', hint=hint
        )
    if isinstance(function, Ring):
        named = tuple((member, 1 << slot) for slot, member in enumerate(function.members))
        if sharding.owners != named:
            checker.fail(
                f'the slots of ring "{sharding.name}" are not on its members', hint="Slot i is on member i"
            )


# ------------------------------------------------------------------ shards that are one database


def check_copies(checker: Checker, table: Table) -> None:
    """No physical table is reached by two of a table's shards: its rows would count twice.

    ATTACH TABLE t SHARD BY f (k), where the sources of two shards have one URL, must tell the
    shards' tables apart: NAMED 't_{slot}'.
    """
    if not isinstance(table.placement, (Sharded, ShardedWith, Scattered)):
        return
    sharding = checker.catalog.sharding_of(table)
    if sharding is None or sharding.is_open:
        return
    for shard, other in checker.twins(sharding):
        partitions = set(checker.catalog.partitions(table, shard))
        if partitions.isdisjoint(checker.catalog.partitions(table, other)):
            continue
        message = (
            f'shards "{other}" and "{shard}" are one database, in which "{table.full_name}" is one table'
        )
        hint = "Give the sources URLs of their own, or the tables names of their own: NAMED"
        checker.fail(message, at=table.name, hint=hint)
