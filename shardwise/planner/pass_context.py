"""What a pass may ask."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from shardwise.caching import cached_property
from shardwise.catalog.model import Catalog, IndexState
from shardwise.plan.choices import Choice
from shardwise.plan.nodes import (
    ColumnId,
    Cte,
    Distinct,
    Fence,
    Filter,
    Gather,
    Join,
    Limit,
    Node,
    Output,
    Scan,
    Sort,
)
from shardwise.plan.route import Note
from shardwise.plan.tree import walk
from shardwise.planner.agreement import Known
from shardwise.planner.bind.names import Names
from shardwise.planner.dialects import Dialect, query_dialect
from shardwise.planner.distribution import Analysis
from shardwise.planner.early_values import EarlyValues
from shardwise.planner.estimates import Estimates
from shardwise.planner.firsts import Firsts
from shardwise.planner.page import Page
from shardwise.planner.parameters import Parameters

_PASSING = (Cte, Distinct, Fence, Filter, Gather, Join, Limit, Sort)
"""Nodes that make no column of their own."""


@dataclass
class PlanContext:
    """What passes may ask: the catalog, the parameters' values, and types of columns.

    `notes` collects what was not done, and why, under the fragment or the statement it is about.
    `forced` names what is done wherever it is right, whatever is estimated. `trusts_indexes`: answers as of
    an index's build will do. `is_scoped`: the connection does not see all rows. `time_zone` is the session's.
    """

    catalog: Catalog
    parameters: Parameters
    names: Names
    types: dict[ColumnId, Output] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    firsts: Firsts = field(default_factory=Firsts)
    forced: frozenset[str] = frozenset()
    trusts_indexes: bool = False
    is_scoped: bool = False
    time_zone: str = "UTC"
    page: Page | None = None
    """The statement's page, if seeks are to find it."""
    indexes: set[IndexState] = field(default_factory=set)
    """The states of those indexes that the statement reads."""

    def analysis(self) -> Analysis:
        """Distributions of the statement's nodes."""
        return Analysis(self.catalog, self.types, self.known)

    @cached_property
    def dialect(self) -> Dialect:
        """The query's."""
        return query_dialect(self.catalog.dialect)

    @cached_property
    def estimates(self) -> Estimates:
        """How many rows nodes are expected to give."""
        return Estimates(self.catalog, self.types, self.parameters, self._rows_expected)

    def _rows_expected(self, name: str) -> float | None:
        """Of a subquery that runs first, by its name."""
        bound = self.firsts.bound.get(name)
        if bound is not None and bound.rows is not None:
            return float(len(bound.rows))
        early = next((early for early in self.firsts.found if early.name == name), None)
        return None if early is None else self.estimates.rows(early.plan)

    @property
    def early(self) -> EarlyValues:
        """How what ran first stands in the statement."""
        return self.dialect.early

    @property
    def known(self) -> Known:
        """What an agreement may ask."""
        return Known(self.types, self.parameters.values, self.parameters.exact)

    def learn(self, tree: Node) -> None:
        """Registers the columns of a tree that was just made, with their types. Identities are unique."""
        for node in walk(tree):
            if not isinstance(node, _PASSING) and not self._is_known(node):
                self.types.update((output.id, output) for output in node.outputs)

    def _is_known(self, node: Node) -> bool:
        """Whether it is a scan that was in the tree before: a table's columns stay as they are."""
        return isinstance(node, Scan) and bool(node.columns) and node.columns[0].id in self.types

    def type_of(self, column: exp.Column) -> str | None:
        output = self.types.get(ColumnId(column.table, column.name))
        return output.type if output is not None else None
