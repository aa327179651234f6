"""The statement's parameters: numbered or named by the user, bound by name everywhere after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlglot import exp

from shardwise.errors import ProgrammingError, Reason
from shardwise.plan.tree import bare

Given = Sequence[Any] | Mapping[str, Any] | None


def literal_of(value: Any) -> exp.Expr | None:
    """A parameter's value as a constant of its type, for reasoning only (never sent); None if it has none.

    >>> literal_of(5).sql(), literal_of("x").sql("duckdb")
    ('5', "'x'")
    """
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, str):  # DuckDB takes it as it takes a text in quotes: of the type of what it meets
        return exp.Literal.string(value)
    if isinstance(value, int):
        return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
    if isinstance(value, Decimal) and value.is_finite():
        number = exp.Literal.number(format(abs(value), "f"))
        return exp.Neg(this=number) if value.is_signed() else number
    type_name = _type_name(value)
    return exp.cast(exp.Literal.string(str(value)), type_name, dialect="duckdb") if type_name else None


def _type_name(value: Any) -> str | None:
    if isinstance(value, datetime):  # a date too, to Python
        return "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"
    named = ((date, "DATE"), (time, "TIME"), (UUID, "UUID"))
    return next((name for python, name in named if isinstance(value, python)), None)


def names_written(statement: exp.Expr) -> frozenset[str]:
    """The names that the statement's own parameters have once bound."""
    return frozenset(_name(p) for p in statement.find_all(exp.Placeholder, exp.Parameter))


def _name(placeholder: exp.Expr) -> str:
    inner = placeholder.this
    name = inner.name if isinstance(inner, exp.Expr) else str(inner)
    return f"p{name}" if name.isdigit() else name


@dataclass
class Parameters:
    """The values given, and those the statement uses so far.

    `?` and `$1` are positions, `:x` and `$x` names. After binding each is `$p1` or `$x`, and
    `values` holds what is bound under that name.
    """

    given: Given = None
    written: frozenset[str] = frozenset()
    values: dict[str, Any] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def use(self, placeholder: exp.Expr) -> exp.Expr:
        """The bound form of a placeholder."""
        name = _name(placeholder)
        if name not in self.values:
            self.values[name] = self._value(name)
        return exp.Placeholder(this=name)

    def expand_in(self, condition: exp.Expr) -> exp.Expr:
        """`x IN ?` and `x IN (?)` with a list value: one parameter for each member; of none, FALSE."""
        members: list[exp.Expr] = []
        listed = False
        written = condition.args.get("field")
        for member in [written] if written is not None else condition.expressions:
            inner = bare(member)
            value = self.values.get(inner.name) if isinstance(inner, exp.Placeholder) else None
            if isinstance(value, list | tuple | set | frozenset):
                listed = True
                members += [self.bind_value(f"{inner.name}_{i}", v) for i, v in enumerate(value)]
            else:
                members.append(member)
        if not listed:
            return condition
        return exp.In(this=condition.this, expressions=members) if members else exp.false()

    def bind_value(self, wanted: str, value: Any) -> exp.Expr:
        """A further value, under a name near `wanted` that the statement's parameters do not have."""
        name = wanted
        while name in self.values or name in self.written:
            name += "_"
        self.values[name] = value
        return exp.Placeholder(this=name)

    def copy(self) -> Parameters:
        return Parameters(self.given, self.written, dict(self.values), set(self._used))

    def used_in(self, *expressions: exp.Expr) -> dict[str, Any]:
        """The values that the expressions mention."""
        names = {p.name for e in expressions for p in e.find_all(exp.Placeholder)}
        return {name: self.values[name] for name in self.values if name in names}

    def check_all_used(self) -> None:
        """Too many positional values is the caller's mistake; further names in a mapping are not."""
        last = max((int(name[1:]) for name in self._used), default=0)
        if isinstance(self.given, Sequence) and len(self.given) > last:
            raise self._count_error(last)

    def _value(self, name: str) -> Any:
        position = name[1:] if name[:1] == "p" and name[1:].isdigit() else None
        if position is not None and not isinstance(self.given, Mapping):
            values = self.given or ()
            self._used.add(name)
            if int(position) > len(values):
                raise self._count_error(int(position))
            return values[int(position) - 1]
        if not isinstance(self.given, Mapping) or name not in self.given:
            raise ProgrammingError(
                f'the statement\'s parameter ":{name}" was given no value',
                reason=Reason.PARAMETERS,
                hint='Pass a mapping with that key, such as {"' + name + '": …}',
                sqlstate="07001",
            )
        return self.given[name]

    def _count_error(self, wanted: int) -> ProgrammingError:
        given = len(self.given or ())
        takes = f"{'' if given > wanted else 'at least '}{wanted}"
        return ProgrammingError(
            f"the statement takes {takes} parameter{'' if wanted == 1 else 's'}, {given} were given",
            reason=Reason.PARAMETERS,
            hint="Pass one value for each ?",
            sqlstate="07001",
        )
