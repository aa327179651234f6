"""What all products' aggregates begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from sqlglot import exp

from shardwise.planner.aggregate_sql import Call, take_apart
from shardwise.planner.agreement.forms import NotAgreed
from shardwise.planner.agreement.writer import Value, Writer
from shardwise.planner.functions import is_volatile

_W = TypeVar("_W", bound=Writer)
_R = TypeVar("_R")


def by_table(table: Mapping[str, Callable[[_W, Call, exp.Expr], _R]], writer: _W, expr: exp.Expr) -> _R:
    """An aggregate call as the product's entry for its function writes it."""
    call = take_apart(expr)
    entry = table.get(call.name) if call is not None else None
    if call is None or entry is None or call.order or is_volatile(expr):
        raise NotAgreed(expr)
    return entry(writer, call, expr)


def one_value(writer: Writer, call: Call, expr: exp.Expr) -> Value:
    """The call's only argument, which is not a constant."""
    if len(call.args) != 1 or writer.constant(call.args[0]) is not None:
        raise NotAgreed(expr)
    return writer.value(call.args[0])
