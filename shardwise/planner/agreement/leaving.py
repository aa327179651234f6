"""What leaves a fragment: its columns as the reader takes them.

Sort n                      Sort k0
└─ Project n: n + 1   =>    └─ Project c0: '#' || n, k0: n
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Item, Keep, Limit, Node, Project, Sort, SortKey
from shardwise.plan.tree import column, columns_in, replace_columns
from shardwise.planner.agreement.forms import Done, Form
from shardwise.planner.agreement.known import Agreed


class Leaves(Protocol):
    """What knows how columns leave: the product's `Tree`."""

    def leaving(self, form: Form) -> exp.Expr | None: ...

    def is_encoded(self, form: Form) -> bool: ...


def finished(done: Done, tree: Leaves) -> Agreed:
    """The tree with its columns as the reader takes them."""
    forms = list(done.forms.values())
    made = [tree.leaving(form) for form in forms]
    flags = tuple(tree.is_encoded(form) for form in forms)
    if not any(m is not None for m in made):
        return Agreed(only(done.node, forms), flags)
    above: list[Sort | Limit] = []
    base = done.node
    while isinstance(base, Sort | Limit):  # an order stays the outermost: nothing else keeps it
        above.append(base)
        base = base.input
    rel = f"{forms[0].id.rel}:out"
    items = [
        Item(f"c{i}", column(f.id) if m is None else m)
        for i, (f, m) in enumerate(zip(forms, made, strict=True))
    ]
    moved: dict[ColumnId, exp.Expr] = {}
    for id in dict.fromkeys(i for node in above if isinstance(node, Sort) for i in _read(node.keys, base)):
        items.append(Item(f"k{len(moved)}", column(id)))
        moved[id] = column(ColumnId(rel, items[-1].name))
    node: Node = Project(input=base, rel=rel, items=tuple(items))
    for each in reversed(above):
        if isinstance(each, Sort):
            keys = tuple(k._replace(expr=replace_columns(k.expr, moved)) for k in each.keys)
            node = each.but(input=node, keys=keys)
        else:
            node = each.but(input=node)
    return Agreed(only(node, [Form(ColumnId(rel, f"c{i}"), None) for i in range(len(forms))]), flags)


def only(node: Node, forms: Iterable[Form]) -> Node:
    """The columns of these forms, in their order."""
    wanted = [form.id for form in forms]
    if [output.id for output in node.outputs] == wanted:
        return node
    by_id = {output.id: output for output in node.outputs}
    return Keep(input=node, columns=tuple(by_id[id] for id in wanted))


def _read(keys: tuple[SortKey, ...], base: Node) -> list[ColumnId]:
    ids = base.output_ids
    return [id for key in keys for id in sorted(columns_in(key.expr)) if id in ids]
