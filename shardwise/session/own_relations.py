"""What a statement reads that is on no shard: the connection's own relations, and information_schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from shardwise.catalog.model import Catalog, View
from shardwise.executor.describe import Describer
from shardwise.executor.describing import AnyDescriber
from shardwise.planner.bind.information import INFORMATION
from shardwise.session import information
from shardwise.session.local_names import mentioned


class OwnRelations:
    """Finds them for each statement; remembers which of the catalog's views read information_schema."""

    def __init__(self) -> None:
        self._views: tuple[Catalog, Sequence[str]] | None = None

    def read_by(
        self,
        sql: str,
        catalog: Catalog,
        locals: Mapping[str, Any],  # noqa: A002  the connection's own
        describer: Callable[[], AnyDescriber],
        *,
        shows_texts: bool,
    ) -> Mapping[str, Any]:
        """By name. What was found already is left as it is; `shows_texts`: those of views, too."""
        views = self._views_of(catalog)
        if not locals and not views and INFORMATION not in sql.casefold():
            return locals
        if information.is_in(locals):
            return locals
        found = mentioned(sql, locals)
        texts = (sql, *(r.sql for r in found.values() if isinstance(r, View)), *views)
        names = information.wanted(texts)
        describes = describer() if names else None
        if isinstance(describes, Describer):
            found |= information.relations(names, describes.information, locals, shows_texts=shows_texts)
        return found

    def _views_of(self, catalog: Catalog) -> Sequence[str]:
        """The texts of the catalog's views that read information_schema."""
        if self._views is None or self._views[0] is not catalog:
            self._views = (catalog, information.views_of(catalog))
        return self._views[1]
