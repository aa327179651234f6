"""Reading sources, shards and shardings off their trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal

from lark import Token, Tree

from shardwise.catalog.places import Owners, Sharding
from shardwise.catalog.shardings import (
    MAXVALUE,
    Directory,
    ShardingFunction,
    Value,
    directory,
    exceptions,
    full,
    hash_function,
    interval,
    list_,
    mask,
    mod,
    range_,
    ring,
    two_level,
)
from shardwise.catalog.sources import Members, Secret, Shard, ShardFamily, Source, SourceFamily
from shardwise.catalog.text import (
    Node,
    Text,
    child,
    name_of,
    names_of,
    number_of,
    optional,
    options_of,
    plain,
    subtrees,
    token_at,
)
from shardwise.errors import CatalogError

SLOTS_MAX = 1_000_000
MEMBERS_MAX = 10_000_000


# ------------------------------------------------------------------ sources and shards


def read_source(tree: Node, text: Text) -> Source | SourceFamily:
    """CREATE SOURCE name [FOR …] clauses."""
    found: dict[str, object] = {}
    for clause in tree.children[2:]:
        assert isinstance(clause, Tree)
        field, value = _source_clause(clause, text)
        if field in found:
            raise text.error(clause, f"{field.upper().replace('_', ' ')} is given twice for one source")
        found[field] = value
    source = Source(name=name_of(child(tree, 0)), **found).moved(text.directory)  # type: ignore[arg-type]
    family = optional(tree, 1)
    if family is None:
        return source
    return SourceFamily(
        pattern=source,
        variable=_variable(family),
        members=_members(family, text),
        listing=_listing(family, text),
    )


def _source_clause(clause: Node, text: Text) -> tuple[str, object]:
    first = clause.children[0] if clause.children else None
    value = plain(first) if isinstance(first, Token) else ""
    match str(clause.data):
        case "dialect":
            return "dialect", name_of(child(clause, 0))
        case "password_env":
            return "password", Secret(env=value)
        case "password_file":
            return "password", Secret(file=value)
        case "read_only":
            return "read_only", True
        case "with":
            return "options", options_of(child(clause, 0), text)
        case field:
            return field, value


def read_shard(tree: Node, text: Text) -> Shard | ShardFamily:
    """CREATE SHARD name [FOR …] ON source [REPLICAS (…)]."""
    shard = Shard(
        name=name_of(child(tree, 0)), source=name_of(child(tree, 2)), replicas=names_of(optional(tree, 3))
    )
    family = optional(tree, 1)
    if family is None:
        return shard
    members = _members(family, text)
    if members is None:
        raise text.error(
            family, "shards cannot be FOR EACH", hint="An open family's sources are shards by themselves"
        )
    return ShardFamily(pattern=shard, variable=_variable(family), members=members)


def _variable(family: Node) -> str:
    return names_of(family)[0]


def _members(family: Node, text: Text) -> Members | None:
    """The values of FOR … IN; None for FOR EACH."""
    if family.data == "open_family":
        return None
    found: list[range | str] = []
    for each in subtrees(family, "member"):
        first = token_at(each)
        found.append(plain(first) if first.type == "STRING" else _range(each, text))
    return Members(tuple(found))


def _listing(family: Node, text: Text) -> str | None:
    """The query of FOR EACH … FROM (query)."""
    query = optional(family, 2) if family.data == "open_family" else None
    return None if query is None else text.slice(query, query)


def _range(tree: Node, text: Text) -> range:
    """`3` or `0-7`."""
    first = number_of(text, token_at(tree))
    last_token = tree.children[1]
    last = number_of(text, last_token) if isinstance(last_token, Token) else first
    if last < first:
        raise text.error(tree, f"the range {first}-{last} runs backwards", hint=f"Write {last}-{first}")
    if last >= MEMBERS_MAX:
        raise text.error(tree, f"the range {first}-{last} is too large")
    return range(first, last + 1)


# ------------------------------------------------------------------ shardings


@dataclass(frozen=True)
class _Level:
    """One level of a sharding, and the map that RANGE, LIST and RING bring with them."""

    function: ShardingFunction
    name: str | None
    owners: Owners | None = None


def read_sharding(tree: Node, text: Text) -> Sharding:
    """CREATE SHARDING name USING level [, level] [map] [EXCEPT (…)]."""
    levels = [_level(each, text) for each in subtrees(tree, "level")]
    function = _function(levels, tree, text)
    on = next((name_of(child(each, 0)) for each in subtrees(tree, "on")), None)
    owner_list = subtrees(tree, "owners")
    own = levels[0].owners if len(levels) == 1 else None
    if own is not None and (on or owner_list):
        at = (subtrees(tree, "on") or owner_list)[0]
        raise text.error(
            at, "RANGE, LIST and RING name their shards themselves", hint="Leave the second map out"
        )
    if owner_list and isinstance(function, Directory):
        raise text.error(owner_list[0], "a DIRECTORY has no numbered slots to give to shards")
    owners = own or (_owners(owner_list[0], function.size, text) if owner_list else ())
    found = Sharding(
        name=name_of(child(tree, 0)),
        function=function,
        levels=tuple(level.name or "slot" for level in levels),
        owners=owners,
        on=on,
    )
    for each in subtrees(tree, "except"):
        found = _with_exceptions(found, each, text)
    return found


def _function(levels: list[_Level], tree: Node, text: Text) -> ShardingFunction:
    if len(levels) == 1:
        return levels[0].function
    if len(levels) > 2 or any(level.owners is not None for level in levels):
        at = subtrees(tree, "level")[2 if len(levels) > 2 else 0]
        raise text.error(at, "a sharding has one level, or two of HASH, MOD and INTERVAL")
    return _made(lambda: two_level(levels[0].function, levels[1].function), tree, text)


def _made(make: Callable[[], ShardingFunction], at: Node, text: Text) -> ShardingFunction:
    """A function's own complaints, with the place that they are about."""
    try:
        function = make()
    except CatalogError as error:
        if error.position is not None:  # ours already
            raise
        raise text.error(at, error.message, hint=error.hint) from None
    if function.size > SLOTS_MAX:
        message = f"{function.size} slots are more than the {SLOTS_MAX} that a sharding may have"
        dates = "INTERVAL" in text.slice(at, at).upper()
        hint = "Give the INTERVAL bounds: FROM '2025-01-01' TO '2026-12-31'" if dates else None
        raise text.error(at, message, hint=hint)
    return function


def _level(tree: Node, text: Text) -> _Level:
    how = child(tree, 0)
    named = optional(tree, 1)
    name = name_of(named) if named is not None else None
    if how.data == "range":
        return _range_level(how, name, text)
    if how.data == "list":
        return _list_level(how, name, text)
    if how.data == "ring":
        names = names_of(how)
        points = number_of(text, token_at(how, 1))
        function = _made(lambda: ring(names[0], points, names[1:]), how, text)
        return _Level(function, name, tuple((shard, 1 << slot) for slot, shard in enumerate(names[1:])))
    return _Level(_made(lambda: _simple(how, text), how, text), name)


def _simple(how: Node, text: Text) -> ShardingFunction:
    match str(how.data):
        case "hash":
            slots = number_of(text, token_at(how, -1))
            return hash_function(name_of(child(how, 0)), slots, options_of(how, text))
        case "mod":
            return mod(number_of(text, token_at(how)))
        case "interval":
            first, last = (_date(each, text) for each in how.children[1:3])
            return interval(name_of(child(how, 0)), first, last)
    return directory()


def _date(token: object, text: Text) -> date | None:
    if not isinstance(token, Token):
        return None
    try:
        return date.fromisoformat(plain(token))
    except ValueError:
        raise text.error(token, "expected a date such as '2025-01-01'") from None


def _range_level(how: Node, name: str | None, text: Text) -> _Level:
    bounds, shards = [], []
    for part in subtrees(how, "range_part"):
        bound = part.children[1]
        bounds.append(MAXVALUE if isinstance(bound, Token) else _value(child(part, 1), text))
        shards.append(name_of(child(part, 0)))
    return _Level(_made(lambda: range_(tuple(bounds)), how, text), name, _gathered(shards))


def _list_level(how: Node, name: str | None, text: Text) -> _Level:
    """Slot i is the i-th list of values; DEFAULT, wherever it is written, is the slot after the last."""
    groups: list[tuple[Value, ...]] = []
    shards: list[str] = []
    default: str | None = None
    for part in subtrees(how, "list_part"):
        shard, values = name_of(child(part, 0)), subtrees(part, "value")
        if values:
            shards.append(shard)
            groups.append(tuple(_value(each, text) for each in values))
        elif default is not None:
            raise text.error(part, "a LIST has one DEFAULT")
        else:
            default = shard
    function = _made(lambda: list_(groups, default is not None), how, text)
    return _Level(function, name, _gathered([*shards, default] if default else shards))


def _gathered(shards: list[str]) -> Owners:
    """Slot i is on shards[i]: each shard once, with all of its slots."""
    slots: dict[str, int] = {}
    for slot, shard in enumerate(shards):
        slots[shard] = slots.get(shard, 0) | 1 << slot
    return tuple(slots.items())


def _slots(tree: Node, size: int, text: Text, taken: int) -> int:
    """The slots of `s0 = 0-511` or `s0 = (0-511, 700)`: in range, and none of `taken`."""
    found = 0
    for each in subtrees(tree, "slot"):
        numbers = _range(each, text)
        if numbers.stop > size:
            last = size - 1
            raise text.error(each, f"slot {numbers.stop - 1} does not exist", hint=f"The slots are 0-{last}")
        slots = mask(numbers)
        twice = slots & (taken | found)
        if twice:
            raise text.error(each, f"slot {(twice & -twice).bit_length() - 1} is given twice")
        found |= slots
    return found


def _owners(tree: Node, size: int, text: Text) -> Owners:
    found: dict[str, int] = {}
    taken = 0
    for each in subtrees(tree, "owner"):
        slots = _slots(each, size, text, taken)
        taken |= slots
        shard = name_of(child(each, 0))
        found[shard] = found.get(shard, 0) | slots
    return tuple(found.items())


def _with_exceptions(sharding: Sharding, tree: Node, text: Text) -> Sharding:
    """EXCEPT: moved slots, and keys with a place of their own.

    Each such key gets a slot of its own behind the function's, which its shard owns.
    """
    size = sharding.function.size
    moved: dict[str, int] = {}
    placed: list[Value] = []
    taken = 0
    for each in tree.children:
        assert isinstance(each, Tree)
        shard = name_of(child(each, 0))
        if each.data == "moved_slots":
            slots = _slots(each, size, text, taken)
            taken |= slots
        else:
            keys = [_value(value, text) for value in subtrees(each, "value")]
            slots = full(len(keys)) << (size + len(placed))
            placed += keys
        moved[shard] = moved.get(shard, 0) | slots
    function = sharding.function
    if placed:
        function = _made(lambda: exceptions(sharding.function, placed), tree, text)
    return replace(sharding, function=function, moved=tuple(moved.items()))


_WORDS: dict[str, Value] = {"NULL": None, "TRUE": True, "FALSE": False}


def _value(tree: Node, text: Text) -> Value:
    """A constant: 'text', a number, NULL, TRUE, FALSE, DATE '…' or TIMESTAMP '…'."""
    first, second = ([*tree.children, None])[:2]
    assert isinstance(first, Token) or isinstance(second, Token)
    if isinstance(first, Token) and first.type == "STRING":
        return plain(first)
    if isinstance(first, Token) and first.type == "WORD":
        return _word_value(first, second if isinstance(second, Token) else None, text)
    assert isinstance(second, Token)
    number: Value = int(second) if second.isdecimal() else Decimal(second)
    assert isinstance(number, (int, Decimal))
    return -number if first == "-" else number


def _word_value(word: Token, argument: Token | None, text: Text) -> Value:
    name = word.upper()
    if argument is None and name in _WORDS:
        return _WORDS[name]
    if argument is not None and name in ("DATE", "TIMESTAMP"):
        try:
            return (date if name == "DATE" else datetime).fromisoformat(plain(argument))
        except ValueError:
            raise text.error(argument, f"this is not a {name}", hint="Write it as '2025-01-31'") from None
    hint = "Constants are 'text', numbers, NULL, TRUE, FALSE, DATE '…' and TIMESTAMP '…'"
    raise text.error(word, f'"{word}" is not a constant', hint=hint)
