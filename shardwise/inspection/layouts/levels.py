"""One rule of a layout (a column, a function, a name per slot), and two of them, database and table, as one.

ds_${user_id % 2} and t_${user_id % 8}      =>  MOD 8: slot 5 is ds_1.t_5
ds_${user_id % 2} and t_${order_id % 8}     =>  MOD 2, MOD 8: slot 13 is ds_1.t_5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import lcm, prod

from sqlglot import exp

from shardwise.catalog.shardings import ShardingFunction, hash_function, mod, two_level
from shardwise.errors import CatalogError
from shardwise.inspection.layouts.inline import Inline, Node, columns_of, constants_of, evaluate

SLOTS_MAX = 100_000

DataNode = tuple[str, str]
"""A source's name and a physical table's."""


@dataclass(frozen=True)
class Level:
    """`names[slot]` for each slot of a key.

    `of_size` gives the same function with more slots, each of which, modulo, is a slot of this one again;
    None for functions without such.
    """

    key: exp.Expr
    function: ShardingFunction
    names: tuple[str, ...]
    of_size: Callable[[int], ShardingFunction] | None = None

    def same_base(self, other: Level) -> bool:
        """Whether slots of both come of one number."""
        if self.of_size is None or other.of_size is None or self.key != other.key:
            return False
        return self.of_size(1) == other.of_size(1)


@dataclass(frozen=True)
class Rule:
    """A whole rule: the keys, the function and the data node of each slot."""

    keys: tuple[exp.Expr, ...]
    function: ShardingFunction
    nodes: tuple[DataNode, ...]
    levels: tuple[str, ...] = ("n",)


def rule_of(database: Level | None, table: Level | None, nodes: Sequence[DataNode]) -> Rule:
    """The rule of a table whose database and whose table are chosen by levels (None: by nothing).

    CatalogError where the two cannot be one sharding, or a slot has no data node, or several.
    """
    if database is None or table is None:
        only = database or table
        if only is None:
            raise CatalogError("no rule says where a row is")
        names = only.names
        found = [_node(nodes, *((name, None) if table is None else (None, name))) for name in names]
        return Rule((only.key,), only.function, tuple(found))
    if database.same_base(table):
        size = lcm(database.function.size, table.function.size)
        made = (database.of_size or mod)(size)
        found = [
            _node(
                nodes, database.names[slot % database.function.size], table.names[slot % table.function.size]
            )
            for slot in range(size)
        ]
        return Rule((database.key,), made, tuple(found))
    if database.key == table.key:
        raise CatalogError("database and table are chosen by two functions of one column")
    if database.of_size is None or table.of_size is None:
        raise CatalogError("two levels are of HASH and MOD only")
    found = [_node(nodes, first, second) for first in database.names for second in table.names]
    grid = two_level(database.function, table.function)
    return Rule((database.key, table.key), grid, tuple(found), ("d", "t"))


def _node(nodes: Sequence[DataNode], source: str | None, table: str | None) -> DataNode:
    found = [
        node
        for node in nodes
        if (source is None or node[0].lower() == source.lower())
        and (table is None or node[1].lower() == table.lower())
    ]
    if len(found) != 1:
        where = ".".join(part for part in (source, table) if part)
        raise CatalogError(f"{where} is {'no data node' if not found else 'more than one data node'}")
    return found[0]


def mod_level(column: str, size: int, names: Sequence[str]) -> Level:
    """MOD by a column."""
    return Level(_column(column), mod(size), tuple(names), mod)


def hash_level(
    column: str, algorithm: str, size: int, names: Sequence[str], options: Mapping[str, str] | None = None
) -> Level:
    """HASH by a column."""

    def of_size(slots: int) -> ShardingFunction:
        return hash_function(algorithm, slots, options)

    return Level(_column(column), of_size(size), tuple(names), of_size)


def inline_level(inline: Inline) -> Level:
    """The level of an inline expression, which is a function of one number and repeats.

    CatalogError where it is not.
    """
    if not inline.columns:
        raise CatalogError(f'"{inline.text}" reads no column')
    for base in _bases(inline):
        try:
            made = _made(base)
        except CatalogError:
            continue
        if made is None:
            continue
        key, of_size = made
        names = _period(inline, base)
        if names is not None:
            return Level(key, of_size(len(names)), tuple(names), of_size)
    raise CatalogError(f'"{inline.text}" is no function with an end, as a remainder has')


def _bases(inline: Inline) -> list[Node]:
    """What holds all of the columns it reads, the largest first: abs(hashCode(a)) before hashCode(a)."""
    found: list[Node] = []

    def walk(node: Node) -> None:
        for operand in node[1]:
            if isinstance(operand, tuple):
                walk(operand)
        if set(columns_of(node)) == set(inline.columns):
            found.append(node)

    for node in inline.nodes:
        walk(node)
    return list(dict.fromkeys(reversed(found)))


def _made(base: Node) -> tuple[exp.Expr, Callable[[int], ShardingFunction]] | None:
    """The key and the function whose slot is the node's number, modulo."""
    match base:
        case ("abs", (("hashCode", (inner,)),)) if isinstance(inner, tuple):
            return _key(inner), lambda slots: hash_function("java_string", slots, {"sign": "abs"})
        case ("hashCode", (inner,)) if isinstance(inner, tuple):
            return _key(inner), lambda slots: hash_function("java_string", slots)
        case ("abs", (inner,)) if isinstance(inner, tuple):
            return _key(inner), lambda slots: hash_function("number", slots)
        case (("column" | "toNumber" | "+" | "-" | "*"), _):
            return _key(base), mod
    return None


def _key(node: Node) -> exp.Expr:
    """A node as the expression of a shard key."""
    kind, operands = node
    inner = [operand for operand in operands if isinstance(operand, tuple)]
    match kind:
        case "column":
            return _column(str(operands[0]))
        case "number":
            return exp.Literal.number(str(operands[0]))
        case "toText":
            return _key(inner[0])
        case "toNumber":
            key = _key(inner[0])
            return key if isinstance(key, exp.Column) else exp.cast(key, "BIGINT")
        case "substring":
            numbers = [evaluate(operand, {}) for operand in inner[1:]]
            start, *rest = (number for number in numbers if isinstance(number, int))
            length = exp.Literal.number(rest[0] - start) if rest else None
            text = exp.cast(_key(inner[0]), "VARCHAR") if inner[0][0] == "toText" else _key(inner[0])
            return exp.Substring(this=text, start=exp.Literal.number(start + 1), length=length)
        case "+" | "-" | "*":
            made = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}[kind]
            return exp.paren(made(this=_key(inner[0]), expression=_key(inner[1])))
    raise CatalogError(f"{kind} cannot be part of a shard key")


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name))


def _period(inline: Inline, base: Node) -> list[str] | None:
    """The names for 0, 1, 2 … of the base until they repeat; None if they do not, or it cannot be said."""
    constants = [each for node in inline.nodes for each in constants_of(node)]
    remainders = [number for kind, number in constants if kind == "%"]
    floors = [
        operand[1][0]
        for node in inline.nodes
        for operand in _found(node, "floorMod")
        if isinstance(operand, tuple) and operand[0] == "number"
    ]
    moduli = [*remainders, *(number for number in floors if isinstance(number, int))]
    top = lcm(*moduli) * prod(number for kind, number in constants if kind == "//") if moduli else 0
    if not 0 < top <= SLOTS_MAX:
        return None
    try:
        names = [inline.render({base: number}) for number in range(2 * top)]
    except CatalogError:
        return None
    if names[:top] != names[top:]:
        return None
    sizes = (size for size in range(1, top + 1) if top % size == 0)
    return next(names[:size] for size in sizes if names[:top] == names[:size] * (top // size))


def _found(node: Node, kind: str) -> list[Node | int | str | None]:
    """The right operands of all nodes of a kind."""
    own = [node[1][1]] if node[0] == kind else []
    return own + [
        found for operand in node[1] if isinstance(operand, tuple) for found in _found(operand, kind)
    ]
