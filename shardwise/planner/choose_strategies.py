"""choose_strategies: how the sides of a join that is not colocated meet, by what is moved and sent.

    Join l.part = p.id                     runs first: rows_1 = SELECT id, name FROM p WHERE brand = 'x'
    ├─ Scan l                       =>     Join l.part = p.id
    └─ Filter p.brand = 'x'                ├─ Filter l.part IN $rows_1
       └─ Scan p                           │  └─ Scan l
                                           └─ Rows of $rows_1

Both sides move to the merge, but only rows that meet another are of use. `strategies` has what may be done
about it: keys of one side narrow the other, or its rows are sent to the other's shards and joined there, so
that groups leave them. The estimates choose; once something has run, its number is known, and what remains is
chosen anew: a side that turns out larger than expected is not sent, one that turns out small is.

Sound: only a side whose unmatched rows vanish is narrowed: either side of an inner or semi join, the null
side of a left join, the inner side of an anti join. A NULL key meets nothing. A side is sent whole, and never
the preserved one: each shard would give its unmatched rows. What runs first gives the rows that are joined
later only if computing it twice gives the same: a LIMIT below it does not.
"""

from __future__ import annotations

from shardwise.plan.nodes import Cte, Distinct, Join, Node, Raw, Recursive, SetOp
from shardwise.plan.tree import (
    columns_in,
    columns_read,
    free_columns,
    map_expressions,
    map_inputs,
    map_plans,
)
from shardwise.planner.distribution import Merged
from shardwise.planner.equivalence import equalities
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.strategies.choosing import Choosing, Needed
from shardwise.planner.strategies.consumers import consumer_of_input
from shardwise.planner.strategies.groups import Group, is_inner
from shardwise.planner.strategies.keys import key_pairs
from shardwise.planner.strategies.programs import Consumer, Program

_SURE = 0.55
"""Of what was not measured a program has to promise so much."""
_KINDS = ("inner", "cross", "left", "right", "semi", "anti")


def choose_strategies(plan: Node, ctx: PlanContext) -> Node:
    return _Pass(ctx).below(plan, plan.output_ids, None) if Join in plan.kinds else plan


class _Pass:
    """Walks down with the columns that are read above, and what becomes of the rows there."""

    def __init__(self, ctx: PlanContext) -> None:
        self.ctx = ctx
        self.analysis = ctx.analysis()

    def below(self, node: Node, needed: Needed, consumer: Consumer | None) -> Node:
        if isinstance(node, Join) and not node.lateral and isinstance(self.analysis.of(node), Merged):
            if is_inner(node):
                return self._inner(node, needed, consumer)
            if node.kind in _KINDS:
                return self._two(node, needed, consumer)
        if node.subplans:
            node = map_expressions(node, lambda e: map_plans(e, self._alone))
        consumer = consumer_of_input(node, consumer, self.ctx)
        return map_inputs(node, lambda n: self.below(n, _read(node, n, needed), consumer))

    def _alone(self, plan: Node) -> Node:
        return self.below(plan, plan.output_ids, None)

    # -- joins ------------------------------------------------------------------------------------

    def _inner(self, node: Join, needed: Needed, consumer: Consumer | None) -> Node:
        group = Group.of(node, self.analysis, keeps_colocated=True)
        read = needed.union(*(columns_in(c) for c in group.on))
        equal = group.equal.with_pairs(key_pairs(group.on, self.ctx))
        choosing = Choosing(group.parts, "inner", group.on, equal, read, consumer, self.ctx, self.analysis)
        program = self._chosen(choosing)
        if program is None:
            return self._parts(node, group, read)
        parts, sent = choosing.done(program)
        parts = [self.below(p, read & p.output_ids, None) for p in parts]
        if not sent and all(a is b for a, b in zip(parts, group.parts, strict=True)):
            return node
        (anchor,) = set(sent.values()) or {0}
        first = [anchor, *sent]
        ordered = [parts[i] for i in first] + [p for i, p in enumerate(parts) if i not in first]
        return group.chained(ordered, group.on)

    def _parts(self, node: Node, group: Group, read: Needed) -> Node:
        """The group as it is, with what is within its parts."""
        if any(node is part for part in group.parts):
            return self.below(node, (read | free_columns(node)) & node.output_ids, None)
        return map_inputs(node, lambda n: self._parts(n, group, read))

    def _two(self, node: Join, needed: Needed, consumer: Consumer | None) -> Node:
        read = needed.union(*(columns_in(c) for c in node.on))
        mine, theirs = self.analysis.equal(node.left), self.analysis.equal(node.right)
        equal = mine.joined(theirs).with_pairs(equalities(node.on, self.ctx.types))
        equal = equal.with_pairs(key_pairs(node.on, self.ctx))
        choosing = Choosing(
            (node.left, node.right), node.kind, node.on, equal, read, consumer, self.ctx, self.analysis
        )
        program = self._chosen(choosing)
        if program is None:
            return map_inputs(node, lambda n: self.below(n, read & n.output_ids, None))
        (left, right), _ = choosing.done(program)
        left, right = (self.below(n, read & n.output_ids, None) for n in (left, right))
        return node if left is node.left and right is node.right else node.but(left=left, right=right)

    def _chosen(self, choosing: Choosing) -> Program | None:
        found = dict(choosing.programs)
        gather = found["gather"]
        if any(choosing.unmeasured) and not any(choosing.came):
            sure = gather.cost * _SURE
            found = {n: p for n, p in found.items() if p is gather or p.cost <= sure or n in self.ctx.forced}
        forced = [name for name in ("keys", "broadcast") if name in self.ctx.forced and name in found]
        best = found[forced[0]] if forced else min(found.values(), key=lambda p: p.cost)
        self.ctx.choices.append(choosing.told(best))
        return None if best is gather and not any(choosing.came) else best


def _read(node: Node, below: Node, needed: Needed) -> Needed:
    """What is read of an input, as `narrow_columns` has it: what compares or passes whole rows reads all."""
    if isinstance(node, SetOp | Cte | Recursive | Distinct | Raw):
        return below.output_ids
    read = needed.union(columns_read(node), *(free_columns(n) for n in node.inputs))
    return read & below.output_ids
