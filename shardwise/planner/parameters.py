"""The statement's parameters: numbered or named by the user, bound by name everywhere after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlglot import exp

from shardwise.catalog.shardings import SlotSet
from shardwise.errors import ProgrammingError, Reason
from shardwise.plan.holes import LIKE, Written, index_of
from shardwise.plan.kinds import type_like
from shardwise.plan.tree import bare
from shardwise.planner.caching.observed import Observed, Origin, Values
from shardwise.planner.key_lists import KeyTest
from shardwise.planner.places import PlacedRows

Given = Sequence[Any] | Mapping[str, Any] | None


def literal_of(value: Any) -> exp.Expr | None:
    """A parameter's value as a constant of its type, for reasoning only (never sent); None if it has none.

    >>> literal_of(5).sql(), literal_of("x").sql("duckdb")
    ('5', "'x'")
    """
    if isinstance(value, Written):
        return value.literal()
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


LiteralOf = Callable[[Any], exp.Expr | None]


def with_constants(
    expr: exp.Expr, values: Values, literal_of: LiteralOf = literal_of, *, mark: str | None = None
) -> exp.Expr:
    """`expr` with parameters as the constants they are; see `Parameters.as_constants`.

    `mark` is a key of `meta` under which each such constant holds its parameter's name.
    """
    if expr.find(exp.Placeholder) is None:
        return expr

    def swap(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Placeholder) and part.name in values:
            constant = literal_of(values[part.name])
            if constant is not None:
                if mark is not None:
                    constant.meta[mark] = part.name
                return constant
        return part

    return expr.copy().transform(swap)


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

    `?` and `$1` are positions, `:x` and `$x` names. After binding each is `$p1` or `$x`. A plan is made
    for values that nobody looked at, but through `exact` and `as_constants`: so it is known for which others
    it is right as well.
    """

    given: Given = None
    written: frozenset[str] = frozenset()
    literals: Sequence[Written] = ()
    observed: Observed = field(default_factory=Observed)
    key_lists: dict[str, list[Any]] = field(default_factory=dict)
    """Keys that ran first, by the name they are bound to: each shard may be sent its own."""
    places: dict[KeyTest, Sequence[SlotSet]] = field(default_factory=dict)
    """Of such a list that is asked of a column, the slots where each key's rows are, if it was looked up."""
    placed_rows: dict[str, PlacedRows] = field(default_factory=dict)
    """Rows that ran first, by the name that they, or a column of them, are bound to: each shard is sent its
    own."""
    sent_as: dict[str, str] = field(default_factory=dict)
    """All lists that ran first, by the name they are bound to: under which name they ran."""
    _values: dict[str, Any] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def use(self, placeholder: exp.Expr) -> exp.Expr:
        """The bound form of a placeholder."""
        name = _name(placeholder)
        if name not in self._values:
            self._values[name] = self._value(name)
        like = placeholder.args.get(LIKE) or type_like(self._values[name])
        return exp.Placeholder(this=name) if like is None else exp.Placeholder(this=name, **{LIKE: like})

    @property
    def values(self) -> Values:
        """All values by name, for whoever puts others in their place: no planning may look here."""
        return self._values

    def exact(self, name: str) -> Any:
        """A value that the plan is made for: with another one it is another plan. None: there is none."""
        value = self._values.get(name)
        self.observed.exact[name] = value
        return value

    def peek(self, name: str) -> Any:
        """A value for an estimate, which chooses between plans that are right for every value."""
        return self._values.get(name)

    def as_typed(self, expr: exp.Expr) -> exp.Expr:
        """`expr` with those values as constants whose types are not told by their placeholders."""
        untold = [p.name for p in expr.find_all(exp.Placeholder) if LIKE not in p.args]
        return with_constants(expr, {name: self.exact(name) for name in untold if name in self._values})

    def as_constants(self, expr: exp.Expr, literal_of: LiteralOf) -> exp.Expr:
        """`expr` with the values as constants, for reasoning only; what is sent keeps the parameter.

        Whoever reasons so records what came of it (`observed`), or does it again for each set of values.
        `literal_of` is the query dialect's.
        """
        return with_constants(expr, self._values, literal_of)

    def expand_in(self, condition: exp.Expr) -> exp.Expr:
        """`x IN ?` and `x IN (?)` with a list value: one parameter for each member; of none, FALSE."""
        members: list[exp.Expr] = []
        listed = False
        written = condition.args.get("field")
        for member in [written] if written is not None else condition.expressions:
            inner = bare(member)
            value = self._values.get(inner.name) if isinstance(inner, exp.Placeholder) else None
            if isinstance(value, list | tuple | set | frozenset):
                listed = True
                members += [self._member(inner.name, i, v) for i, v in enumerate(value)]
            else:
                members.append(member)
        if not listed:
            return condition
        return exp.In(this=condition.this, expressions=members) if members else exp.false()

    def bind_scoped(self, wanted: str, value: Any) -> exp.Expr:
        """A value of the connection's scope, under a name near `wanted`; the caller says where it stands
        there."""
        bound, like = self._bound(wanted, value), type_like(value)
        if like is not None:
            bound.set(LIKE, like)
        return bound

    def bind_value(self, wanted: str, value: Any) -> exp.Expr:
        """A value found on the way, under a name near `wanted` that no parameter of the statement has."""
        self.observed.is_bound_to_rows = True
        return self._bound(wanted, value)

    def bind_keys(self, wanted: str, keys: list[Any]) -> exp.Expr:
        """A list of keys that ran first."""
        bound = self.bind_list(wanted, keys, wanted)
        self.key_lists[bound.name] = keys
        return bound

    def bind_list(self, wanted: str, values: Sequence[Any], ran_as: str) -> exp.Expr:
        """A column of rows that ran first."""
        bound = self.bind_value(wanted, values)
        self.sent_as[bound.name] = ran_as
        return bound

    def _member(self, name: str, index: int, value: Any) -> exp.Expr:
        """A member of the list that was given under `name`."""
        bound = self._bound(f"{name}_{index}", value)
        self.observed.origins[bound.name] = Origin(self.observed.origins[name].key, index)
        return bound

    def _bound(self, wanted: str, value: Any) -> exp.Expr:
        name = wanted
        while name in self._values or name in self.written:
            name += "_"
        self._values[name] = value
        return exp.Placeholder(this=name)

    def copy(self) -> Parameters:
        """For another part of the statement's planning; what is observed is the statement's."""
        return Parameters(
            self.given,
            self.written,
            self.literals,
            self.observed,
            dict(self.key_lists),
            dict(self.places),
            dict(self.placed_rows),
            dict(self.sent_as),
            dict(self._values),
            set(self._used),
        )

    def used_in(self, *expressions: exp.Expr) -> dict[str, Any]:
        """The values that the expressions mention."""
        names = {p.name for e in expressions for p in e.find_all(exp.Placeholder)}
        return {name: value for name, value in self._values.items() if name in names}

    def check_all_used(self) -> None:
        """Too many positional values is the caller's mistake; further names in a mapping are not.

        One that stands where nothing is bound, in a WITH item that is not read, takes a value as well.
        """
        for name in sorted(self.written - self._values.keys()):
            if index_of(name) is None:
                self._value(name)
        last = max((int(name[1:]) for name in self._used), default=0)
        if isinstance(self.given, Sequence) and len(self.given) > last:
            raise self._count_error(last)

    def _value(self, name: str) -> Any:
        index = index_of(name)
        if index is not None:
            return self.literals[index]
        position = name[1:] if name[:1] == "p" and name[1:].isdigit() else None
        if position is not None and not isinstance(self.given, Mapping):
            values = self.given or ()
            self._used.add(name)
            self.observed.origins[name] = Origin(int(position) - 1)
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
        self.observed.origins[name] = Origin(name)
        return self.given[name]

    def _count_error(self, wanted: int) -> ProgrammingError:
        given = len(self.given or ())
        takes = f"{'' if given > wanted else 'at least '}{wanted}"
        return ProgrammingError(
            f"the statement takes {takes} parameter{'' if wanted == 1 else 's'}, "
            f"{given} {'was' if given == 1 else 'were'} given",
            reason=Reason.PARAMETERS,
            hint="Pass one value for each ?",
            sqlstate="07001",
        )
