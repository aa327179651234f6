"""Which of a connection's own relations a statement may read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardwise.catalog.model import View


def mentioned(sql: str, relations: Mapping[str, Any]) -> dict[str, Any]:
    """Those whose names are somewhere in the text, or in a view that is; each after those that it reads."""
    found: dict[str, Any] = {}
    if relations:
        _add(sql, relations, found, ())
    return found


def in_order(relations: Mapping[str, Any]) -> dict[str, Any]:
    """All, each after those that it reads."""
    return mentioned("\n".join(name.replace('"', '""') for name in relations), relations)


def _add(sql: str, relations: Mapping[str, Any], found: dict[str, Any], open_views: tuple[str, ...]) -> None:
    text = sql.casefold()
    for name, relation in relations.items():
        if name in found or name in open_views or name.casefold().replace('"', '""') not in text:
            continue
        if isinstance(relation, View):
            _add(relation.sql, relations, found, (*open_views, name))
        found[name] = relation
