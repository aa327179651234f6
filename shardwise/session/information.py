"""information_schema: what the catalog knows, as relations that a statement reads in the merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from shardwise.catalog.model import Catalog, View
from shardwise.planner.bind.information import INFORMATION, PREFIX, VIEWS
from shardwise.session.local_names import in_order


def views_of(catalog: Catalog) -> Sequence[str]:
    """The texts of the catalog's views that read information_schema."""
    texts = (view.sql for view in catalog.tables() if isinstance(view, View))
    return tuple(text for text in texts if INFORMATION in text.casefold())


def wanted(texts: Iterable[str]) -> Sequence[str]:
    """The views of information_schema that a statement may read, itself or by a view."""
    of_it = " ".join(text for text in map(str.casefold, texts) if INFORMATION in text)
    return [name for name in VIEWS if name in of_it] if of_it else ()


def is_in(relations: Mapping[str, Any]) -> bool:
    """Whether they were added already."""
    return any(name.startswith(PREFIX) for name in relations)


def relations(
    names: Iterable[str],
    read: Callable[[str, Mapping[str, Any]], pa.Table],
    locals: Mapping[str, Any],  # noqa: A002
    *,
    shows_texts: bool,
) -> dict[str, pa.Table]:
    """By the names under which the binder looks for them; `locals` are the connection's own relations.

    Texts of views may name tenants: whoever sees one only is not shown them.
    """
    own = in_order(locals)
    found = {f"{PREFIX}{name}": read(name, own) for name in names}
    views = found.get(f"{PREFIX}views")
    if views is not None and not shows_texts:
        at = views.column_names.index("view_definition")
        hidden = pa.nulls(views.num_rows, views.schema.field(at).type)
        found[f"{PREFIX}views"] = views.set_column(at, "view_definition", hidden)
    return found
