"""What writes expressions as a source is to compute them: by the product's table, over canonical values.

`entries.py` is the table that products share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Protocol

from sqlglot import exp

from shardwise.catalog.types import read_type
from shardwise.plan.holes import Written
from shardwise.plan.kinds import kind_of
from shardwise.plan.nodes import ColumnId, Node
from shardwise.plan.tree import bare
from shardwise.planner.agreement.constants import UNCERTAIN, Canonical, Uncertain, Use, canonical, typed
from shardwise.planner.agreement.forms import Done, Form, Forms, NotAgreed
from shardwise.planner.agreement.known import BOUND
from shardwise.planner.agreement.sent import TakesRows
from shardwise.planner.agreement.types import BIGINT, BOOL, DOUBLE, TEXT, Family, Type, common
from shardwise.planner.agreement.types import type_of as declared_type
from shardwise.planner.literals import Kind, Typed
from shardwise.planner.parameters import literal_of

Value = tuple[exp.Expr, Type]


class Subqueries(TakesRows, Protocol):
    """What writes the plans of subqueries: the product's `Tree`."""

    def of(self, node: Node, outer: Forms) -> Done: ...

    def any_row(self, done: Done) -> Node: ...

    def one_value(self, done: Done, where: exp.Expr) -> tuple[Node, Type]: ...


class Writer(ABC):
    """Writes the expressions of one node. `forms` say how the columns in sight are read.

    `tree` writes a subquery's plan, with these columns as its outer ones. A product has a subclass, which
    says how values look there, and has the table.
    """

    entries: ClassVar[Mapping[type, Callable[[Any, Any], Value]]] = {}
    """The product's table: `ENTRIES`, and what it has besides."""
    why: ClassVar[Mapping[type, str]] = {}
    """Why an expression of a type is not in the table."""

    def __init__(self, tree: Subqueries, forms: Forms) -> None:
        self.tree = tree
        self.known = tree.known
        self.forms = forms

    # ------------------------------------------------------------------ of the product

    @abstractmethod
    def read(self, column: exp.Expr, form: Form) -> exp.Expr:
        """A column's canonical value."""

    @abstractmethod
    def written(self, constant: Canonical, type_: Type) -> exp.Expr:
        """A canonical value as text."""

    @abstractmethod
    def is_alike(self, given: Any, type_: Type) -> bool:
        """Whether a literal that is put into the text as it is written is the same there."""

    @abstractmethod
    def aligned(
        self, one: exp.Expr, of_one: Type, other: exp.Expr, of_other: Type, where: exp.Expr
    ) -> tuple[exp.Expr, exp.Expr]:
        """Two canonical values of families that compare."""

    @abstractmethod
    def is_truth(self, truth: exp.Expr, wanted: bool) -> exp.Expr:
        """`truth IS TRUE`, or FALSE."""

    @abstractmethod
    def like(self, text: exp.Expr, pattern: str, where: exp.Expr) -> exp.Expr:
        """Whether a text is like a pattern, by bytes."""

    @abstractmethod
    def at_midnight(self, day: exp.Expr) -> exp.Expr:
        """A DATE as a TIMESTAMP."""

    @abstractmethod
    def as_double(self, number: exp.Expr) -> exp.Expr:
        """A whole number as a DOUBLE."""

    def as_whole(self, truth: exp.Expr) -> exp.Expr:
        """A truth as 0 or 1."""
        return truth

    def given(self, name: str, type_: Type) -> exp.Expr:
        """A parameter that is canonical as it is given."""
        return exp.Placeholder(this=name)

    def bound(self, name: str, constant: Canonical, type_: Type) -> exp.Expr:
        """A parameter of which the canonical value is bound."""
        placeholder = exp.Placeholder(this=self.known.name_for(name, constant))
        placeholder.meta[BOUND] = constant
        return placeholder

    def constant_among(self, expr: exp.Expr, constant: Typed | exp.Placeholder, type_: Type) -> exp.Expr:
        """A constant beside values of the type, of which one is the value of the whole."""
        if type_.family is Family.DECIMAL and not is_null_constant(constant):
            raise NotAgreed(expr, "is not known to find the DECIMAL that these values have in common")
        return self.beside(expr, type_, "value")

    def reads_in_plan(self, plan: Node, type_: Type) -> bool:
        """Whether IN finds a value of this type in a subquery of this plan."""
        return True

    # ------------------------------------------------------------------ values

    def value(self, expr: exp.Expr) -> Value:
        """The expression over canonical values, and its type."""
        constant = self.constant(expr)
        if constant is not None:
            return self._of_itself(expr, constant)
        if isinstance(expr, exp.Column):
            form = self.form(expr)
            assert form.type is not None
            return self.read(self.column(expr), form), form.type
        entry = self.entries.get(type(expr))
        if entry is None or not is_understood(expr):
            raise NotAgreed(expr, self.why.get(type(expr), "is not known to compute it as DuckDB does"))
        return entry(self, expr)

    def truth(self, expr: exp.Expr) -> exp.Expr:
        """The expression as a condition, exact: TRUE, FALSE or NULL."""
        written, type_ = self.value(expr)
        if type_ is not BOOL:
            raise NotAgreed(expr, "takes other values for a condition")
        return written

    def form(self, column: exp.Column) -> Form:
        """How a column is read; raises for one that is not computed with."""
        form = self.form_of(column)
        if form is None or form.type is None:
            raise NotAgreed(column, "has no values of its type to compute with")
        return form

    def form_of(self, column: exp.Column) -> Form | None:
        id = ColumnId(column.table, column.name)
        form = self.forms.get(id)
        if form is None:  # an outer column, in a plan that is asked about alone
            output = self.known.types.get(id)
            form = (
                Form(id, declared_type(output.type)) if output is not None and not output.collation else None
            )
        return form

    def column(self, column: exp.Column) -> exp.Column:
        """The column under the name it has here."""
        form = self.form_of(column)
        rel, name = form.id if form is not None else (column.table, column.name)
        return exp.Column(
            this=exp.Identifier(this=name, quoted=True), table=exp.Identifier(this=rel, quoted=True)
        )

    # ------------------------------------------------------------------ constants

    def constant(self, expr: exp.Expr) -> Typed | exp.Placeholder | None:
        """What a constant is; a parameter alone as it is; None for what is no constant, or not understood."""
        inner = bare(expr)
        if isinstance(inner, exp.Placeholder):
            return inner
        if inner.find(exp.Column, exp.Subquery, exp.Anonymous, exp.AggFunc) is not None:
            return None
        if inner.find(exp.Placeholder) is not None:
            if type(inner) is exp.Cast and isinstance(inner.this, exp.Placeholder):
                given = self.known.exact(inner.this.name)
                if isinstance(given, float) and declared_type(target_of(inner)) is DOUBLE:
                    return Typed(Kind.DOUBLE, given)
            inner = inner.copy().transform(self._put_in)
        return typed(inner)

    def fixed(self, expr: exp.Expr) -> Typed | None:
        """What a constant is, a parameter too: the plan then rests on its value."""
        constant = self.constant(expr)
        if not isinstance(constant, exp.Placeholder):
            return constant
        literal = literal_of(self.known.exact(constant.name)) if constant.name in self.known.values else None
        return typed(literal) if literal is not None else None

    def _put_in(self, part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Placeholder) and part.name in self.known.values:
            literal = literal_of(self.known.exact(part.name))
            if literal is not None:
                return literal
        return part

    def beside(self, expr: exp.Expr, type_: Type, use: Use) -> exp.Expr:
        """A constant as it compares with values of the type, or is one (use "value")."""
        constant = self.constant(expr)
        assert constant is not None
        if isinstance(constant, exp.Placeholder):
            return self._parameter(constant, type_, use)
        found = canonical(constant, type_, use)
        if isinstance(found, Uncertain):
            raise NotAgreed(expr, f"has it beside a {type_.name} otherwise")
        return self.written(found, type_)

    def _parameter(self, placeholder: exp.Placeholder, type_: Type, use: Use) -> exp.Expr:
        """A parameter that is canonical as it is given stays one; of others the canonical value is bound."""
        name = placeholder.name
        if name not in self.known.values:
            return placeholder.copy()  # not known yet: a subquery's that runs first
        given = self.known.values[name]
        if kind_of(given) in AS_GIVEN.get(type_.family, ()) or self.is_alike(given, type_):
            return self.given(name, type_)
        given = self.known.exact(name)
        literal = literal_of(given)
        constant = typed(literal) if literal is not None else None
        if isinstance(given, float):
            constant = Typed(Kind.DOUBLE, given)
        found = UNCERTAIN if constant is None else canonical(constant, type_, use)
        if isinstance(found, Uncertain):
            raise NotAgreed(placeholder, f"takes its value beside a {type_.name} otherwise")
        if isinstance(given, Written):
            return self.written(found, type_)
        return self.bound(name, found, type_)

    def _of_itself(self, expr: exp.Expr, constant: Typed | exp.Placeholder) -> Value:
        """A constant that stands alone, of its own type."""
        if isinstance(constant, exp.Placeholder):
            kind = kind_of(self.known.values.get(constant.name))
            type_ = _TYPE_OF_GIVEN.get(kind) if isinstance(kind, str) else None
            if type_ is None:
                raise NotAgreed(expr)
            return self._parameter(constant, type_, "value"), type_
        type_ = _TYPE_OF_KIND.get(constant.kind)
        if type_ is None:
            raise NotAgreed(expr)
        found = canonical(constant, type_, "value")
        if isinstance(found, Uncertain):
            raise NotAgreed(expr)
        return self.written(found, type_), type_

    # ------------------------------------------------------------------ several of one type

    def alike(self, exprs: list[exp.Expr]) -> tuple[list[exp.Expr], Type]:
        """The values of expressions of which one is the value of the whole, all of one type."""
        constants = [self.constant(expr) for expr in exprs]
        values = [None if c is not None else self.value(e) for e, c in zip(exprs, constants, strict=True)]
        known = [v[1] for v in values if v is not None]
        type_ = common(known) if known else self._of_constants(exprs)
        if type_ is None:
            raise NotAgreed(exprs[0], "is not known to find the type of these values as DuckDB does")
        result = []
        for expr, constant, found in zip(exprs, constants, values, strict=True):
            if found is not None:
                result.append(found[0])
                continue
            assert constant is not None
            result.append(self.constant_among(expr, constant, type_))
        return result, type_

    def _of_constants(self, exprs: list[exp.Expr]) -> Type | None:
        """The type of constants of one kind."""
        fixed = [self.fixed(expr) for expr in exprs]
        types = {_TYPE_OF_KIND.get(f.kind) for f in fixed if f is not None and f.kind is not Kind.NULL}
        return types.pop() if len(types) == 1 and None not in fixed else None

    def pair(self, left: exp.Expr, right: exp.Expr, use: Use) -> tuple[exp.Expr, exp.Expr, Type]:
        """Two sides of a comparison, in one canonical form."""
        fixed_left, fixed_right = self.constant(left) is not None, self.constant(right) is not None
        if fixed_left and fixed_right:
            raise NotAgreed(left)
        if fixed_right:
            one, type_ = self.value(left)
            return one, self.beside(right, type_, use), type_
        if fixed_left:
            other, type_ = self.value(right)
            return self.beside(left, type_, MIRRORED[use]), other, type_
        one, type_ = self.value(left)
        other, type_of_other = self.value(right)
        one, other = self.aligned(one, type_, other, type_of_other, left)
        return one, other, type_


def is_understood(expr: exp.Expr) -> bool:
    """Whether all that was written of it is what its entry looks at: `negate`, say, is not by chance left
    out."""
    known = _ARGUMENTS.get(type(expr), _TWO_SIDES)
    return all(key in known for key, value_ in expr.args.items() if value_)


_TWO_SIDES: Final = frozenset({"this", "expression"})
_ARGUMENTS: Final[dict[type, frozenset[str]]] = {
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions", "query"}),
    exp.Like: _TWO_SIDES | {"negate"},
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.Coalesce: frozenset({"this", "expressions", "is_nvl"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "requires_string"}),
    exp.Subquery: frozenset({"plan"}),
    exp.Substring: frozenset({"this", "start", "length"}),
}


def is_null_constant(constant: Typed | exp.Placeholder | None) -> bool:
    return isinstance(constant, Typed) and constant.kind is Kind.NULL


# Kinds of values that are canonical as they are, once they are bound; not floats, which may be NaN.
AS_GIVEN: Final[dict[Family, tuple[str, ...]]] = {
    Family.INT: ("int32", "int64"),
    Family.TEXT: ("text",),
    Family.BOOL: ("bool",),
}
_TYPE_OF_GIVEN: Final[dict[str, Type]] = {"int32": BIGINT, "int64": BIGINT, "text": TEXT, "bool": BOOL}
_TYPE_OF_KIND: Final[dict[Kind, Type]] = {
    Kind.INT: BIGINT,
    Kind.STRING: TEXT,
    Kind.TEXT: TEXT,
    Kind.BOOL: BOOL,
}
MIRRORED: Final[dict[Use, Use]] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "value": "value"}


def target_of(expr: exp.Expr) -> str | None:
    text = str(expr.args["to"].sql("duckdb"))
    return text if read_type(text, "duckdb") is not None else None
