"""Plan nodes as SQLite is to compute them."""

from __future__ import annotations

from shardwise.plan.nodes import Gather, Keep, Node, Scan
from shardwise.planner.agreement.known import Agreed, Disagreement, Known


def agree(node: Node, known: Known) -> Agreed | Disagreement:
    """The tree in SQLite's expressions, or what SQLite would compute otherwise."""
    if isinstance(node, Scan):
        return Agreed(node)
    if isinstance(node, Keep):
        below = agree(node.input, known)
        return Agreed(node.but(input=below.node)) if isinstance(below, Agreed) else below
    if isinstance(node, Gather):
        return agree(node.input, known)
    return Disagreement(node, "it is computed in the merge")
