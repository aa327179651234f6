"""Reading STATISTICS off its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Tree

from shardwise.catalog.read_tables import read_table_name
from shardwise.catalog.statistics import ORIGINS, ColumnStatistics, TableStatistics
from shardwise.catalog.text import Node, Text, child, name_of, number_of, plain, subtrees, token_at


def read_statistics(tree: Node, text: Text) -> TableStatistics:
    """STATISTICS name ROWS n FROM SCAN | SAMPLE | SOURCES AT '…' [(column (…), …)]."""
    schema, name = read_table_name(child(tree, 0))
    said = token_at(tree, 2).lower()
    columns: dict[str, ColumnStatistics] = {}
    for each in subtrees(tree, "column_statistics"):
        column = name_of(child(each, 0))
        if column.casefold() in map(str.casefold, columns):
            raise text.error(each, f'column "{column}" has statistics twice')
        columns[column] = _column(each, text)
    return TableStatistics(
        name=name,
        schema=schema,
        rows=number_of(text, token_at(tree, 1)),
        source=next(origin for origin in ORIGINS if origin == said),
        read_at=plain(token_at(tree, 3)),
        columns=columns,
    )


def _column(tree: Node, text: Text) -> ColumnStatistics:
    """name (DISTINCT n, NULLS share, WIDTH bytes, BOUNDS (…), COMMON ('…' share, …)), in any order."""
    figures: dict[str, Node] = {}
    for figure in tree.children[1:]:
        if not isinstance(figure, Tree):
            continue
        kind = str(figure.data)
        if kind in figures:
            raise text.error(figure, f"{kind.upper()} is given twice")
        figures[kind] = figure
    distinct, nulls, width = (figures.get(kind) for kind in ("distinct", "nulls", "width"))
    return ColumnStatistics(
        distinct=_number(distinct) if distinct is not None else None,
        nulls=_number(nulls) if nulls is not None else 0.0,
        width=_number(width) if width is not None else None,
        bounds=tuple(_plain(each) for each in _TEXT.findall(_list(figures.get("bounds")))),
        common=tuple(_shares(figures["common"], text)) if "common" in figures else (),
    )


_TEXT = re.compile(r"'((?:[^']|'')*)'")
_SHARE = re.compile(r"'((?:[^']|'')*)'\s+([\d.eE+-]+)")


def _list(tree: Node | None) -> str:
    return "" if tree is None else str(token_at(tree))


def _shares(tree: Node, text: Text) -> Iterator[tuple[str, float]]:
    for value, share in _SHARE.findall(_list(tree)):
        try:
            yield _plain(value), float(share)
        except ValueError:
            raise text.error(tree, f'expected a number, found "{share}"') from None


def _plain(text: str) -> str:
    return text.replace("''", "'")


def _number(tree: Node) -> float:
    return float(token_at(tree))
