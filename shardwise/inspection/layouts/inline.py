"""Groovy's inline expressions, as ShardingSphere's files have them: `ds_${user_id % 2}`, `t_$->{0..7}`.

Read into a small tree that is evaluated here; nothing is ever run. What is not understood is a CatalogError.

    literal   7  'text'  [1, 2]  0..7
    value     user_id   (a + b)   a % 4   a.intdiv(2)
    methods   .hashCode()  .abs()  .mod(4)  .toLong()  .toInteger()  .toString()  .substring(0, 2)
    functions Math.abs(a)  Math.floorMod(a, 4)  Long.parseLong(a)  Integer.parseInt(a)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from shardwise.errors import CatalogError

Node = tuple[str, tuple["Node | int | str | None", ...]]
"""An operation and its operands: ("%", (("column", ("user_id",)), ("number", (2,))))."""


@dataclass(frozen=True)
class Inline:
    """One name with expressions in it: text and nodes in turn."""

    text: str
    parts: tuple[str | Node, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(part for part in self.parts if not isinstance(part, str))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, each once."""
        return tuple(dict.fromkeys(name for node in self.nodes for name in columns_of(node)))

    def render(self, values: Mapping[Node, int]) -> str:
        """The name, each column or hash in it taken from `values`."""
        return "".join(part if isinstance(part, str) else str(evaluate(part, values)) for part in self.parts)


def read_names(text: str) -> list[str]:
    """All names of a list of data nodes: `ds_${0..1}.t_${0..1}, ds_9.t` are five."""
    found: list[str] = []
    for part in _split(text):
        inline = read_inline(part)
        choices = [[piece] if isinstance(piece, str) else _choices(piece) for piece in inline.parts]
        found += ["".join(chosen) for chosen in product(*choices)]
    return found


def read_inline(text: str) -> Inline:
    """An expression such as `t_order_${order_id % 16}`."""
    parts: list[str | Node] = []
    at = 0
    for start, end, inside in _braces(text):
        if start > at:
            parts.append(text[at:start])
        reader = _Reader(inside)
        parts.append(reader.whole())
        at = end
    if at < len(text):
        parts.append(text[at:])
    return Inline(text, tuple(parts))


def columns_of(node: Node) -> Iterator[str]:
    kind, operands = node
    if kind == "column":
        yield str(operands[0])
    for operand in operands:
        if isinstance(operand, tuple):
            yield from columns_of(operand)


def constants_of(node: Node) -> Iterator[tuple[str, int]]:
    """What is divided by, and how: ("%", 16), ("//", 4)."""
    kind, operands = node
    if kind in ("%", "//") and isinstance(operands[1], tuple) and operands[1][0] == "number":
        number = operands[1][1][0]
        assert isinstance(number, int)
        yield kind, number
    for operand in operands:
        if isinstance(operand, tuple):
            yield from constants_of(operand)


def evaluate(node: Node, values: Mapping[Node, int]) -> int | str:
    """The value of a node; those in `values` are given. Division and remainder go toward zero, as in Java."""
    if node in values:
        return values[node]
    kind, operands = node
    if kind in ("number", "text"):
        value = operands[0]
        assert isinstance(value, (int, str))
        return value
    inner = [evaluate(operand, values) for operand in operands if isinstance(operand, tuple)]
    numbers = [value for value in inner if isinstance(value, int)]
    if len(numbers) != len(inner) or not inner:
        raise _refuse(f"{kind} of what is no number")
    match kind, numbers:
        case "+", [a, b]:
            return a + b
        case "-", [a, b]:
            return a - b
        case "*", [a, b]:
            return a * b
        case "//", [a, b] if b:
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case "%", [a, b] if b:
            return abs(a) % abs(b) * (-1 if a < 0 else 1)
        case "floorMod", [a, b] if b:
            return a % b
        case "abs", [a]:
            return abs(a)
        case "same", [a]:
            return a
    raise _refuse(kind)


def _refuse(what: str) -> CatalogError:
    return CatalogError(f"{what} in an inline expression is not understood here")


def _choices(node: Node) -> list[str]:
    kind, operands = node
    if kind == "range":
        first, last = operands
        assert isinstance(first, str)
        assert isinstance(last, str)
        width = len(first) if first.startswith("0") and len(first) > 1 else 0
        return [f"{number:0{width}}" for number in range(int(first), int(last) + 1)]
    if kind == "list":
        return [choice for operand in operands if isinstance(operand, tuple) for choice in _choices(operand)]
    return [str(evaluate(node, {}))]


def _split(text: str) -> list[str]:
    """At commas outside of braces."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _braces(text: str) -> Iterator[tuple[int, int, str]]:
    for found in re.finditer(r"\$(?:->)?\{([^{}]*)\}", text):
        yield found.start(), found.end(), found[1]


_TOKEN = re.compile(
    r"\s*(?:(?P<range>\d+\s*\.\.\s*\d+)|(?P<number>\d+)[lLgG]?|(?P<name>[A-Za-z_]\w*)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign>\.|[-+*/%()\[\],]))"
)


class _Reader:
    """Recursive descent over the inside of one pair of braces."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                raise _refuse(f'"{text[at:].strip()[:20]}"')
            kind = str(found.lastgroup)
            self._tokens.append((kind, found[kind]))
            at = found.end()
        self._at = 0

    def whole(self) -> Node:
        node = self._sum()
        if self._at < len(self._tokens):
            raise _refuse(f'"{self._tokens[self._at][1]}"')
        return node

    def _next(self, *signs: str) -> str | None:
        if self._at < len(self._tokens) and self._tokens[self._at] in [("sign", sign) for sign in signs]:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return None

    def _need(self, sign: str) -> None:
        if self._next(sign) is None:
            raise _refuse(f'what has no "{sign}": "{self._text}"')

    def _sum(self) -> Node:
        left = self._product()
        while sign := self._next("+", "-"):
            left = (sign, (left, self._product()))
        return left

    def _product(self) -> Node:
        left = self._called()
        while sign := self._next("*", "/", "%"):
            if sign == "/":
                raise _refuse("/, which divides into fractions,")
            left = (sign, (left, self._called()))
        return left

    def _called(self) -> Node:
        node = self._atom()
        while self._next("."):
            kind, name = self._take()
            if kind != "name":
                raise _refuse(f'"{name}"')
            node = self._method(node, name)
        return node

    def _take(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise _refuse(f'the end of "{self._text}"')
        self._at += 1
        return self._tokens[self._at - 1]

    def _arguments(self) -> tuple[Node, ...]:
        self._need("(")
        found: list[Node] = []
        while self._next(")") is None:
            if found:
                self._need(",")
            found.append(self._sum())
        return tuple(found)

    def _method(self, of: Node, name: str) -> Node:
        given = self._arguments()
        is_class = of[0] == "column" and of[1][0] in ("Math", "Long", "Integer", "String", "BigInteger")
        if is_class:
            name = f"{of[1][0]}.{name}"
        match name, given:
            case "intdiv", (by,):
                return ("//", (of, by))
            case "mod", (by,):
                return ("floorMod", (of, by))
            case "abs", ():
                return ("abs", (of,))
            case "hashCode", ():
                return ("hashCode", (of,))
            case (("toLong" | "toInteger" | "toBigInteger" | "longValue" | "intValue"), ()):
                return ("toNumber", (of,))
            case "toString", ():
                return ("toText", (of,))
            case "substring", (first, *rest):
                return ("substring", (of, first, *rest))
            case "Math.abs", (inner,):
                return ("abs", (inner,))
            case "Math.floorMod", (inner, by):
                return ("floorMod", (inner, by))
            case (("Long.parseLong" | "Integer.parseInt" | "Long.valueOf" | "Integer.valueOf"), (inner,)):
                return ("toNumber", (inner,))
            case "String.valueOf", (inner,):
                return ("toText", (inner,))
        raise _refuse(f"{name}()")

    def _atom(self) -> Node:
        kind, value = self._take()
        match kind, value:
            case "range", _:
                first, last = value.split("..")
                return ("range", (first.strip(), last.strip()))
            case "number", _:
                return ("number", (int(value),))
            case "text", _:
                return ("text", (value[1:-1],))
            case "name", _:
                return ("column", (value,))
            case "sign", "(":
                node = self._sum()
                self._need(")")
                return node
            case "sign", "[":
                items: list[Node] = []
                while self._next("]") is None:
                    if items:
                        self._need(",")
                    items.append(self._sum())
                return ("list", tuple(items))
            case "sign", "-":
                return ("-", (("number", (0,)), self._called()))
        raise _refuse(f'"{value}"')
