"""Templates: `db_{n // 8:02}`, the part of an f-string that names need, and its reverse.

    "db_{n // 8:02}" with n = 24   =>   "db_03"
    "m{n}_r" matched with "m3_r"   =>   {"n": "3"}

A field is a variable, whole numbers, `+ - * // %`, parentheses or a slice `a[0:4]`, then a
format. The expression has a tree of its own and is walked; nothing is ever evaluated
as Python. `{{` and `}}` stand for braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

TemplateValue = int | str | date


class TemplateError(ValueError):
    """A template that cannot be read or filled; `offset` points into its text."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Variable:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    value: int


@dataclass(frozen=True, slots=True)
class Operation:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Slice:
    of: Expression
    start: int | None
    stop: int | None


Expression = Variable | Number | Operation | Slice


@dataclass(frozen=True, slots=True)
class Field:
    """One `{expression:format}`."""

    expression: Expression
    format: str = ""

    def render(self, values: Mapping[str, TemplateValue]) -> str:
        value = _evaluate(self.expression, values)
        fits = isinstance(value, date) if "%" in self.format else isinstance(value, int)
        if self.format and not fits:
            kind = type(value).__name__
            raise TemplateError(f"the format {self.format!r} does not fit a value of type {kind}")
        return format(value, self.format)


@dataclass(frozen=True, slots=True)
class Template:
    """A template read from text. `parts` alternates freely between literal text and fields."""

    text: str
    parts: tuple[str | Field, ...]

    @staticmethod
    def parse(text: str) -> Template:
        """Read a template; raises TemplateError."""
        return _parse(text)

    @property
    def variables(self) -> frozenset[str]:
        """The names of the variables that it reads."""
        fields = [part for part in self.parts if isinstance(part, Field)]
        return frozenset(name for each in fields for name in _variables(each.expression))

    @property
    def is_constant(self) -> bool:
        return not any(isinstance(part, Field) for part in self.parts)

    @property
    def plain_variables(self) -> frozenset[str]:
        """The variables that stand alone in a field, so that `match` can read them back."""
        return frozenset(
            part.expression.name
            for part in self.parts
            if isinstance(part, Field) and isinstance(part.expression, Variable)
        )

    def render(self, values: Mapping[str, TemplateValue]) -> str:
        """Fill in `values`; raises TemplateError for an unknown variable or a value of the wrong type."""
        return "".join(part if isinstance(part, str) else part.render(values) for part in self.parts)

    def match(self, text: str, *, ignore_case: bool = False) -> dict[str, str] | None:
        """The text of each plain variable if `text` could come of this template, else None.

        Only a first sieve: `{n:02}` reads "7" as well as "07". Who needs to know renders the
        values again and compares.
        """
        pattern = _pattern(self.text, ignore_case)
        found = pattern.fullmatch(text)
        return None if found is None else found.groupdict()


# ------------------------------------------------------------------ evaluating


def _evaluate(expression: Expression, values: Mapping[str, TemplateValue]) -> TemplateValue:
    match expression:
        case Variable(name):
            try:
                return values[name]
            except KeyError:
                known = ", ".join(sorted(values)) or "none"
                raise TemplateError(f"unknown variable {name!r} in a template (known: {known})") from None
        case Number(value):
            return value
        case Operation(operator, left, right):
            return _operate(operator, _evaluate(left, values), _evaluate(right, values))
        case Slice(of, start, stop):
            whole = _evaluate(of, values)
            if isinstance(whole, date):
                raise TemplateError("a date has no slice: give it a format such as {m:%Y%m}")
            return str(whole)[start:stop]


def _operate(operator: str, left: TemplateValue, right: TemplateValue) -> TemplateValue:
    if not isinstance(left, int) or not isinstance(right, int):
        raise TemplateError(f"{operator} in a template needs whole numbers on both sides")
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if right == 0:
        raise TemplateError(f"{operator} by zero in a template")
    return left // right if operator == "//" else left % right


def _variables(expression: Expression) -> Iterator[str]:
    match expression:
        case Variable(name):
            yield name
        case Operation(_, left, right):
            yield from _variables(left)
            yield from _variables(right)
        case Slice(of, _, _):
            yield from _variables(of)


@lru_cache(maxsize=4096)
def _pattern(text: str, ignore_case: bool) -> re.Pattern[str]:
    seen: set[str] = set()
    pieces: list[str] = []
    for part in _parse(text).parts:
        if isinstance(part, str):
            pieces.append(re.escape(part))
        elif isinstance(part.expression, Variable):
            name = part.expression.name
            pieces.append(f"(?P={name})" if name in seen else f"(?P<{name}>.+?)")
            seen.add(name)
        else:
            pieces.append("(?:.+?)")
    return re.compile("".join(pieces), re.DOTALL | (re.IGNORECASE if ignore_case else 0))


# ------------------------------------------------------------------ reading

_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<operator>//|[-+*%()\[\]:]))")
_DATE_FORMAT = re.compile(r"[^%{}]*(?:%[YymdHjGVu][^%{}]*)+")
_NUMBER_FORMAT = re.compile(r"0?\d{0,3}[dxX]?")


@lru_cache(maxsize=4096)
def _parse(text: str) -> Template:
    parts: list[str | Field] = []
    literal: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith(("{{", "}}"), at):
            literal.append(text[at])
            at += 2
        elif text[at] == "}":
            raise TemplateError("a } without its { in a template (write }} for a brace)", at)
        elif text[at] == "{":
            end = text.find("}", at)
            if end < 0:
                raise TemplateError("a { without its } in a template (write {{ for a brace)", at)
            if literal:
                parts.append("".join(literal))
                literal = []
            parts.append(_FieldReader(text, at + 1, end).read())
            at = end + 1
        else:
            literal.append(text[at])
            at += 1
    if literal:
        parts.append("".join(literal))
    return Template(text, tuple(parts))


class _FieldReader:
    """Recursive descent over the inside of one pair of braces."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.at, self.end = text, start, end
        self.kind, self.value, self.start = "", "", start
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.text, self.at, self.end)
        if found is None:
            rest = self.text[self.at : self.end].lstrip()
            self.start = self.end - len(rest)
            self.kind = "bad" if rest else "end"
            self.value = self.text[self.start : self.start + 1]
            return
        self.kind = str(found.lastgroup)
        self.value = found.group(self.kind)
        self.start, self.at = found.start(self.kind), found.end()

    def read(self) -> Field:
        expression = self.sum()
        spec = ""
        if self.value == ":" and self.kind == "operator":
            spec = self.text[self.at : self.end]
            if not _NUMBER_FORMAT.fullmatch(spec) and not _DATE_FORMAT.fullmatch(spec):
                raise TemplateError(f"{spec!r} is not a format of a template", self.at)
        elif self.kind != "end":
            raise self.unexpected("an operator, ':' and a format, or '}'")
        return Field(expression, spec)

    def unexpected(self, expected: str) -> TemplateError:
        found = f"{self.value!r}" if self.value else "the end"
        return TemplateError(f"expected {expected} in a template, found {found}", self.start)

    def operator(self, *operators: str) -> str | None:
        if self.kind == "operator" and self.value in operators:
            value = self.value
            self.advance()
            return value
        return None

    def sum(self) -> Expression:
        left = self.product()
        while operator := self.operator("+", "-"):
            left = Operation(operator, left, self.product())
        return left

    def product(self) -> Expression:
        left = self.sliced()
        while operator := self.operator("*", "//", "%"):
            at, right = self.start, self.sliced()
            if operator != "*" and right == Number(0):
                raise TemplateError(f"{operator} by zero in a template", at)
            left = Operation(operator, left, right)
        return left

    def sliced(self) -> Expression:
        of = self.atom()
        while self.operator("["):
            start = self.bound()
            if not self.operator(":"):
                raise self.unexpected("':' of a slice such as [0:4]")
            stop = self.bound()
            if not self.operator("]"):
                raise self.unexpected("']'")
            of = Slice(of, start, stop)
        return of

    def bound(self) -> int | None:
        negative = self.operator("-") is not None
        if self.kind != "number":
            if negative:
                raise self.unexpected("a number")
            return None
        value = int(self.value)
        self.advance()
        return -value if negative else value

    def atom(self) -> Expression:
        kind, value = self.kind, self.value
        if kind == "name":
            self.advance()
            return Variable(value)
        if kind == "number":
            self.advance()
            return Number(int(value))
        if self.operator("("):
            inner = self.sum()
            if not self.operator(")"):
                raise self.unexpected("')'")
            return inner
        raise self.unexpected("a variable or a number")
