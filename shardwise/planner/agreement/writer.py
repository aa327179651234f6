"""The table: which expressions every source computes as DuckDB does, and how they are written there.

What is not in `ENTRIES` (or in a product's own, which go first) is not in agreement, and neither is what an
entry is not certain of: it raises `NotAgreed`. An entry gives the expression over canonical values and its
type, exact in all three of TRUE, FALSE and NULL; conditions that only have to be TRUE for the same rows are
the products' `conditions.py`'s, which can use an index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Protocol

from sqlglot import exp

from shardwise.catalog.types import read_type
from shardwise.plan.holes import Written
from shardwise.plan.kinds import kind_of
from shardwise.plan.nodes import Aggregate, ColumnId, Keep, Node, Project
from shardwise.plan.tree import bare, plan_of
from shardwise.planner.agreement.constants import (
    UNCERTAIN,
    Canonical,
    Uncertain,
    Use,
    canonical,
    typed,
)
from shardwise.planner.agreement.forms import Done, Form, Forms, NotAgreed
from shardwise.planner.agreement.known import BOUND, KEYS, Known
from shardwise.planner.agreement.make import NULL, both, call, case, is_null
from shardwise.planner.agreement.types import BIGINT, BOOL, DOUBLE, TEXT, Family, Type, common
from shardwise.planner.agreement.types import type_of as declared_type
from shardwise.planner.literals import Kind, Typed
from shardwise.planner.parameters import literal_of

Value = tuple[exp.Expr, Type]


class Subqueries(Protocol):
    """What writes the plans of subqueries: the product's `Tree`."""

    @property
    def known(self) -> Known: ...

    def of(self, node: Node, outer: Forms) -> Done: ...

    def any_row(self, done: Done) -> Node: ...

    def one_value(self, done: Done, where: exp.Expr) -> tuple[Node, Type]: ...


class Writer(ABC):
    """Writes the expressions of one node. `forms` say how the columns in sight are read.

    `tree` writes a subquery's plan, with these columns as its outer ones. A product has a subclass, which
    says how values look there, and has entries of its own.
    """

    entries: ClassVar[Mapping[type, Callable[[Any, Any], Value]]] = {}
    """The product's own, before `ENTRIES`."""
    why: ClassVar[Mapping[type, str]] = {}
    """Why an expression of a type is not in the table."""

    def __init__(self, tree: Subqueries, forms: Forms) -> None:
        self.tree = tree
        self.known = tree.known
        self.forms = forms

    @staticmethod
    def shared(kind: type) -> Callable[[Any, Any], Value]:
        """The entry that products share, for one that has its own besides."""
        return ENTRIES[kind]

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
    def keys(self, bound: exp.Placeholder, type_: Type) -> exp.Expr:
        """A list that is bound as JSON, as what IN reads."""

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

    def reads_in_plan(self, plan: Node) -> bool:
        """Whether IN reads a subquery of this plan."""
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
        entry = self.entries.get(type(expr)) or ENTRIES.get(type(expr))
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
USES: Final[dict[type, Use]] = {
    exp.EQ: "=",
    exp.NEQ: "=",
    exp.NullSafeEQ: "=",
    exp.NullSafeNEQ: "=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


# ------------------------------------------------------------------ the entries


def _comparison(writer: Writer, expr: exp.Expr) -> Value:
    """Text by its bytes, numbers exactly, dates and times as their text sorts."""
    left, right, _ = writer.pair(expr.this, expr.args["expression"], USES[type(expr)])
    return type(expr)(this=left, expression=right), BOOL


def _between(writer: Writer, expr: exp.Expr) -> Value:
    low, high = expr.args["low"], expr.args["high"]
    same_kinds(writer, [low, high], expr)
    above = writer.pair(expr.this, low, ">=")
    below = writer.pair(expr.this, high, "<=")
    return both(
        exp.GTE(this=above[0], expression=above[1]), exp.LTE(this=below[0], expression=below[1])
    ), BOOL


def _in(writer: Writer, expr: exp.Expr) -> Value:
    query = expr.args.get("query")
    if query is not None:
        return _in_query(writer, expr, query), BOOL
    if not expr.expressions:
        raise NotAgreed(expr)
    one, type_ = writer.value(expr.this)
    same_kinds(writer, expr.expressions, expr)
    return exp.In(this=one, expressions=[member(writer, e, type_, expr) for e in expr.expressions]), BOOL


def member(writer: Writer, expr: exp.Expr, type_: Type, where: exp.Expr) -> exp.Expr:
    """One of an IN list."""
    if writer.constant(expr) is not None:
        return writer.beside(expr, type_, "=")
    found, of_member = writer.value(expr)
    if (of_member.family, of_member.scale) != (type_.family, type_.scale):
        raise NotAgreed(where)
    return found


def same_kinds(writer: Writer, exprs: Iterable[exp.Expr], where: exp.Expr) -> None:
    """DuckDB compares with all of a list in one common type: of one kind that is the type of each."""
    kinds = {c.kind for e in exprs if isinstance(c := writer.constant(e), Typed)} - {Kind.NULL}
    if len(kinds) > 1 and kinds not in ({Kind.INT, Kind.DECIMAL}, {Kind.STRING, Kind.TEXT}):
        raise NotAgreed(where, "finds another common type for these values")


def _in_query(writer: Writer, expr: exp.Expr, query: exp.Expr) -> exp.Expr:
    one, type_ = writer.value(expr.this)
    keys = key_list(writer, query, type_, expr)
    if keys is not None:
        return exp.In(this=one, query=keys)
    return exp.In(this=one, query=in_plan(writer, query, type_, expr))


def in_plan(writer: Writer, query: exp.Expr, type_: Type, where: exp.Expr) -> exp.Expr:
    """A subquery's plan of one column, as what IN reads."""
    plan = plan_of(query)
    if plan is None or not writer.reads_in_plan(plan):
        raise NotAgreed(where)
    done = writer.tree.of(plan, writer.forms)
    node, of_plan = writer.tree.one_value(done, where)
    if (of_plan.family, of_plan.scale) != (type_.family, type_.scale):
        raise NotAgreed(where, f"compares a {type_.name} with a {of_plan.name} otherwise")
    return exp.Subquery(plan=node)


def key_list(writer: Writer, query: exp.Expr, type_: Type, where: exp.Expr) -> exp.Expr | None:
    """`SELECT unnest(CAST($keys AS T[]))`, as keys_first writes it, over a JSON text; None if it is none."""
    select = query.this
    if not isinstance(select, exp.Select) or len(select.expressions) != 1 or plan_of(query) is not None:
        return None
    unnest = select.expressions[0]
    name = next((p.name for p in unnest.find_all(exp.Placeholder)), None)
    keys = writer.known.exact(name) if name is not None else None
    python = _KEYS.get(type_.family)
    if python is None or not isinstance(keys, list) or not all(type(key) is python for key in keys):
        raise NotAgreed(where)
    if any("\0" in key if python is str else kind_of(key) not in AS_GIVEN[Family.INT] for key in keys):
        raise NotAgreed(where)  # JSON in SQLite has no such text, and makes a REAL of the number
    bound = exp.Placeholder(this=writer.known.name_for(str(name), "keys"))
    bound.meta[KEYS] = name
    return writer.keys(bound, type_)


_KEYS: Final[dict[Family, type]] = {Family.INT: int, Family.TEXT: str}


def _is(writer: Writer, expr: exp.Expr) -> Value:
    """IS NULL asks nothing of the value but whether there is one."""
    right = expr.args["expression"]
    if isinstance(right, exp.Null):
        inner = bare(expr.this)
        if isinstance(inner, exp.Column):
            return is_null(writer.column(inner)), BOOL
        return is_null(writer.value(inner)[0]), BOOL
    if isinstance(right, exp.Boolean):
        return writer.is_truth(writer.truth(expr.this), bool(right.this)), BOOL
    raise NotAgreed(expr)


def _connector(writer: Writer, expr: exp.Expr) -> Value:
    return type(expr)(this=writer.truth(expr.this), expression=writer.truth(expr.args["expression"])), BOOL


def _not(writer: Writer, expr: exp.Expr) -> Value:
    return exp.Not(this=writer.truth(expr.this)), BOOL


def _paren(writer: Writer, expr: exp.Expr) -> Value:
    return writer.value(expr.this)


def _case(writer: Writer, expr: exp.Expr) -> Value:
    subject = expr.args.get("this")
    tests = []
    for arm in expr.args["ifs"]:
        test = arm.this if subject is None else exp.EQ(this=subject.copy(), expression=arm.this.copy())
        tests.append(writer.truth(test))
    values = [arm.args["true"] for arm in expr.args["ifs"]]
    default = expr.args.get("default")
    if default is not None:
        values.append(default)
    found, type_ = writer.alike(values)
    last = found.pop() if default is not None else None
    return case(*zip(tests, found, strict=True), default=last), type_


def _coalesce(writer: Writer, expr: exp.Expr) -> Value:
    found, type_ = writer.alike([expr.this, *expr.expressions])
    return (call("coalesce", *found) if len(found) > 1 else found[0]), type_


def _nullif(writer: Writer, expr: exp.Expr) -> Value:
    one, other, type_ = writer.pair(expr.this, expr.args["expression"], "=")
    if writer.constant(expr.this) is not None or writer.value(expr.this)[1] != type_:
        raise NotAgreed(expr)
    value_of = writer.value(expr.this)[0]
    return case((exp.EQ(this=one, expression=other), NULL()), default=value_of), type_


def _like(writer: Writer, expr: exp.Expr) -> Value:
    """By bytes, of a pattern that is known."""
    text, type_ = writer.value(expr.this)
    pattern = writer.fixed(expr.args["expression"])
    if type_ is not TEXT or not isinstance(pattern, Typed) or not isinstance(pattern.value, str):
        raise NotAgreed(expr)
    found = writer.like(text, pattern.value, expr)
    return (exp.Not(this=found) if expr.args.get("negate") else found), BOOL


def _cast(writer: Writer, expr: exp.Expr) -> Value:
    """Casts that lose nothing and cannot fail."""
    one, type_ = writer.value(expr.this)
    target = declared_type(target_of(expr))
    if target is None:
        raise NotAgreed(expr)
    if target.family is type_.family and target.family not in (Family.INT, Family.DECIMAL):
        return one, target
    is_exact = target.low <= type_.low and type_.high <= target.high
    if target.family is Family.INT and type_.family in (Family.INT, Family.BOOL) and is_exact:
        return (writer.as_whole(one) if type_ is BOOL else one), target
    if target == type_:
        return one, target
    if target.family is Family.TIMESTAMP and type_.family is Family.DATE:
        return writer.at_midnight(one), target
    if target is DOUBLE and type_.family is Family.INT and type_.low >= -(1 << 53) and type_.high <= 1 << 53:
        return writer.as_double(one), target
    raise NotAgreed(expr)


def target_of(expr: exp.Expr) -> str | None:
    text = str(expr.args["to"].sql("duckdb"))
    return text if read_type(text, "duckdb") is not None else None


def _mod(writer: Writer, expr: exp.Expr) -> Value:
    """By a whole number of 2 or more; of a negative number it is negative in both."""
    one, type_ = writer.value(expr.this)
    by = writer.constant(expr.args["expression"])
    is_safe = isinstance(by, Typed) and by.kind is Kind.INT and isinstance(by.value, int)
    if type_.family is not Family.INT or not is_safe or not 2 <= by.value <= type_.high:  # type: ignore[union-attr,operator]
        raise NotAgreed(expr)
    return exp.Mod(this=one, expression=writer.written(by.value, type_)), type_  # type: ignore[union-attr,arg-type]


def _exists(writer: Writer, expr: exp.Expr) -> Value:
    plan = plan_of(expr.this)
    if plan is None:
        raise NotAgreed(expr)
    return exp.Exists(this=exp.Subquery(plan=writer.tree.any_row(writer.tree.of(plan, writer.forms)))), BOOL


def is_one_row(plan: Node) -> bool:
    """Whether it has one row, whatever the tables hold."""
    while isinstance(plan, Project | Keep):
        plan = plan.input
    return isinstance(plan, Aggregate) and not plan.keys and plan.sets is None


def _scalar(writer: Writer, expr: exp.Expr) -> Value:
    """A subquery of one row: of more, DuckDB fails and SQLite takes the first."""
    plan = plan_of(expr)
    if plan is None or not is_one_row(plan):
        raise NotAgreed(expr, "takes the first of several rows, which are an error")
    node, type_ = writer.tree.one_value(writer.tree.of(plan, writer.forms), expr)
    return exp.Subquery(plan=node), type_


ENTRIES: Final[Mapping[type, Callable[[Writer, Any], Value]]] = {
    **dict.fromkeys(USES, _comparison),
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.And: _connector,
    exp.Or: _connector,
    exp.Not: _not,
    exp.Paren: _paren,
    exp.Case: _case,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Like: _like,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Mod: _mod,
    exp.Exists: _exists,
    exp.Subquery: _scalar,
}
