"""Where the rows of every node of one statement are: each asked of its rule once, and of `agreement`.

Whether a source of another dialect than the query's computes a node alike is asked here alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from shardwise.catalog.model import Catalog
from shardwise.plan.nodes import ColumnId, Node, Output
from shardwise.planner.agreement import Disagreement, Known, agree
from shardwise.planner.distribution.questions import Questions
from shardwise.planner.distribution.rules import distribution_of
from shardwise.planner.distribution.values import MERGED, Copied, Distribution, Merged, Shards, Split


class Analysis(Questions):
    """The distribution of every node of one statement, each computed once and kept with the node.

    `known` is what sources of another dialect are asked about with.
    """

    def __init__(
        self,
        catalog: Catalog,
        types: Mapping[ColumnId, Output],
        known: Known | None = None,
    ) -> None:
        super().__init__(catalog, types)
        self.known = known or Known(types)
        self._ctes: dict[str, Distribution] = {}

    def of(self, node: Node) -> Distribution:
        known: tuple[Mapping[str, Distribution], Distribution] | None = node.__dict__.get("_distribution")
        if known is None or known[0] != self._ctes:  # CTEs may be read from elsewhere than when it was asked
            found = self._agreed(node, distribution_of(node, self))
            known = node.__dict__["_distribution"] = self._ctes, found
        return known[1]

    def spread(self, node: Node) -> int:
        """How many shards have some of its rows; 1 of what is merged, or a copy of what others have."""
        where = self.of(node)
        return max(len(where.shards), 1) if isinstance(where, Split) else 1

    def allows(self, node: Node, shards: Shards) -> bool:
        """Whether the sources of all these shards compute the whole tree as the query's dialect does.

        For what a pass puts below a Gather.
        """
        return self.disagreement(node, shards) is None

    def disagreement(self, node: Node, shards: Shards) -> tuple[str, Disagreement] | None:
        """A dialect of these shards' sources, and what it would compute otherwise; a Gather is its input."""
        for dialect in sorted(self._foreign(shards)):
            found = agree(node, dialect, self.known)
            if isinstance(found, Disagreement):
                return dialect, found
        return None

    def are_foreign(self, shards: Shards) -> bool:
        """Whether a source of these shards speaks another dialect: what one shard has whole may be merged."""
        return bool(self._foreign(shards))

    def _agreed(self, node: Node, found: Distribution) -> Distribution:
        """`found`, if every source of it agrees; of copies, those on sources that do.

        What is on no shard (ANYWHERE) is asked about with whatever it is joined to.
        """
        shards = () if isinstance(found, Merged) else found.shards or ()
        if not self._foreign(shards) or self.allows(node, shards):
            return found
        if isinstance(found, Copied):
            native = tuple(s for s in shards if self.catalog.dialect_of_shard(s) == self.catalog.dialect)
            return Copied(native) if native else MERGED
        return MERGED

    def _foreign(self, shards: Shards) -> frozenset[str]:
        """The dialects of the shards' sources other than the query's."""
        own = {self.catalog.dialect}
        if self.catalog.dialects == own:
            return frozenset()
        return self.catalog.dialects_of_shards(shards) - own

    def cte(self, name: str) -> Distribution:
        return self._ctes.get(name, MERGED)

    def reading(self, name: str, distribution: Distribution) -> Analysis:
        inner = Analysis(self.catalog, self.types, self.known)
        inner._ctes = {**self._ctes, name: distribution}
        return inner
