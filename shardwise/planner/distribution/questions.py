"""What a rule may ask of the statement that its node is of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from sqlglot import exp

from shardwise.catalog.model import Catalog
from shardwise.plan.nodes import ColumnId, Node, Output
from shardwise.planner.borders import Use, comes_of_no_column, gives_way, loses, use_of_input
from shardwise.planner.dialects import query_dialect
from shardwise.planner.distribution.values import Distribution
from shardwise.planner.equivalence import Equivalence, equivalence, is_binary
from shardwise.planner.quotients import has_quotient


class Questions(ABC):
    """`of` and `cte` are where inputs are; the rest is what is known of columns and values.

    `types` knows every column of the statement, outer ones too: identities are unique.
    """

    def __init__(self, catalog: Catalog, types: Mapping[ColumnId, Output]) -> None:
        self.catalog = catalog
        self.types = types
        dialect = query_dialect(catalog.dialect)
        self._carries_collations = dialect.carries_collations
        self._cuts_quotients = dialect.reader.cuts_quotients

    @abstractmethod
    def of(self, node: Node) -> Distribution:
        """Where the node's rows are."""

    @abstractmethod
    def cte(self, name: str) -> Distribution:
        """Where references to this CTE find its rows."""

    @abstractmethod
    def reading(self, name: str, distribution: Distribution) -> Questions:
        """The same statement, where references to the CTE `name` have this distribution."""

    def equal(self, node: Node) -> Equivalence:
        return equivalence(node, self.types)

    def is_fragile(self, expr: exp.Expr) -> bool:
        """Whether the value may compare in the merge otherwise than on the shards."""
        if self._carries_collations:
            return expr.find(exp.Collate) is not None
        return is_fragile(expr, self.types)

    def is_cut(self, expr: exp.Expr) -> bool:
        """Whether the value would have fewer digits in the merge than on the shards."""
        return self._cuts_quotients and has_quotient(expr, self.types)

    def loses(self, node: Node, use: Use) -> bool:
        """Whether a value of the node's would come otherwise to its use in the merge than it left a shard."""
        return self._cuts_quotients and loses(node, use, self.types)

    def use_of_input(self, node: Node, use: Use) -> Use:
        """What becomes of the columns of the node's inputs, where `loses` and `gives_way` look at it."""
        return use_of_input(node, use, self.types) if self._cuts_quotients else use

    def gives_way(self, node: Node, use: Use) -> bool:
        """Whether a value of the node's has a type or collation there that it has not behind a border."""
        return self._cuts_quotients and gives_way(node, use, self.types)

    def is_extreme_of_constants(self, call: exp.Expr) -> bool:
        """Whether an aggregate's parts would come to the merge with another type or collation than theirs."""
        return self._cuts_quotients and isinstance(call, exp.Min | exp.Max) and comes_of_no_column(call)


def is_fragile(expr: exp.Expr, types: Mapping[ColumnId, Output]) -> bool:
    """Whether the value may compare in a way that Arrow does not carry: by a collation, or as an ENUM."""
    if expr.find(exp.Collate) is not None:
        return True
    outputs = (types.get(ColumnId(c.table, c.name)) for c in expr.find_all(exp.Column))
    return any(
        o is not None and (not is_binary(o.collation) or "ENUM" in (o.type or "").upper()) for o in outputs
    )
