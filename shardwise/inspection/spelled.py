"""Are text keys spelled in one way: those that are EXACT, as they promise, and others, so that they could be?

Which texts a collation takes as equal its own server says, by its sort keys: what is looked at is put
together over shards, and over all columns of one collation and spelling, for these are joined where they are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Catalog, Column, Sharded, Spelling, Table
from shardwise.catalog.types import Family
from shardwise.inspection.findings import Finding, Kind
from shardwise.inspection.importing import Partition
from shardwise.inspection.physical import SourceReader
from shardwise.inspection.reading import quoted, quoted_table
from shardwise.planner.dialects import query_dialect
from shardwise.planner.spellings import Folds, fits

EVIDENCE_MIN = 20
"""With fewer values nothing is proposed."""

_FORMS = {
    Spelling.AS_IT_IS: "no blank at the end",
    Spelling.LOWER: "printing ASCII in lower case, no blank at the end",
    Spelling.UPPER: "printing ASCII in upper case, no blank at the end",
}


class _Text(NamedTuple):
    """A value, and what all values have that its collation takes as equal to it."""

    text: str
    weight: str


class SpellingEvidence:
    """What was seen of a key that is not EXACT: `values` are its texts, each by what its equals have too."""

    def __init__(self, folds: Folds) -> None:
        # Of constants LOWER and UPPER say something only where nothing of ASCII is folded but case.
        self.possible = set(Spelling) if folds is Folds.CASE else {Spelling.AS_IT_IS}
        self.values: dict[str, str] = {}

    def learn(self, texts: Iterable[tuple[str, str]]) -> None:
        """Texts with what all have that are equal to them."""
        for text, weight in texts:
            self.possible = {each for each in self.possible if fits(text, each)}
            if self.values.setdefault(weight, text) != text:
                self.possible = set()

    @property
    def spelling(self) -> Spelling | None:
        """The one that promises most of constants."""
        if len(self.values) < EVIDENCE_MIN:
            return None
        order = (Spelling.LOWER, Spelling.UPPER, Spelling.AS_IT_IS)
        return next((each for each in order if each in self.possible), None)


def likely_weight(text: str, folds: Folds) -> str:
    """What a text has that its equals have too, as far as that can be said without its server."""
    if folds is Folds.BLANKS:
        return text.rstrip(" ")
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c)).casefold().rstrip(" ")


class Spellings:
    """What one run of `catalog check` has seen of texts, table by table."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[tuple[Spelling, str], dict[str, tuple[str, str]]] = {}
        self._evidence: dict[tuple[str, str], SpellingEvidence] = {}

    def look(
        self,
        reader: SourceReader,
        table: Table,
        partition: Partition,
        *,
        columns: Sequence[Column],
        sample_rows: int | None,
    ) -> Iterator[Finding]:
        """The EXACT columns of a physical table, whose own `columns` are given, and its other text keys."""
        if reader.dialect != self._catalog.dialect or reader.dialect not in ("mysql", "sqlite"):
            return
        by_name = {column.name.lower(): column for column in columns}
        for name, spelling in table.exact:
            column = by_name.get(name.lower())
            if column is not None:
                texts = _texts(reader, partition, column, sample_rows)
                yield from self._broken(table, partition, column, spelling, texts)
        for name in _keys(table):
            column = by_name.get(name)
            folds = self._folds(column) if column is not None else None
            if column is not None and folds is not None:
                found = self._evidence.setdefault((table.full_name, column.name), SpellingEvidence(folds))
                found.learn(_texts(reader, partition, column, sample_rows))

    def proposals(self, table: Table) -> Iterator[Finding]:
        """What could be said of the table's keys; no more than a hint, for rows are yet to come."""
        for (name, column), found in self._evidence.items():
            if name == table.full_name and found.spelling is not None:
                yield Finding(
                    kind=Kind.NOT_EXACT,
                    table=name,
                    column=column,
                    found=f"it could be {found.spelling} ({column}), for all {len(found.values):,} values "
                    "are spelled so. If that stays true, declare it: then queries by it ask one shard",
                    is_error=False,
                )

    def _folds(self, column: Column) -> Folds | None:
        dialect = query_dialect(self._catalog.dialect)
        return dialect.folds(column) if dialect.family(column.type) is Family.TEXT else None

    def _broken(
        self,
        table: Table,
        partition: Partition,
        column: Column,
        spelling: Spelling,
        texts: Sequence[_Text],
    ) -> Iterator[Finding]:
        wrong = [text for text, _ in texts if not fits(text, spelling)]
        if wrong:
            yield Finding(
                kind=Kind.SPELLING,
                table=table.full_name,
                shard=partition.shard,
                column=column.name,
                expected=f"{spelling}: {_FORMS[spelling]}",
                found=f"{len(wrong):,} of {len(texts):,} values otherwise, such as {wrong[0]!r}",
            )
        known = self._known.setdefault((spelling, (column.collation or "").lower()), {})
        pairs = [(text, *known.setdefault(weight, (text, table.full_name))) for text, weight in texts]
        apart = [pair for pair in pairs if pair[0] != pair[1]]
        if apart:
            here, there, where = apart[0]
            such = f"such as {here!r}, which is {there!r} in {where}"
            yield Finding(
                kind=Kind.SPELLING,
                table=table.full_name,
                shard=partition.shard,
                column=column.name,
                expected="one spelling of each value",
                found=f"{len(apart):,} of {len(texts):,} otherwise, {such}",
            )


def _keys(table: Table) -> Iterator[str]:
    """The plain columns that a table is sharded by and that are not EXACT, in lower case."""
    if not isinstance(table.placement, Sharded):
        return
    others = {name.lower() for name, _ in table.exact}
    others |= {column.name.lower() for column in table.placement.virtual}
    parts = [part for key in table.placement.keys for part in key.parts if isinstance(part, exp.Column)]
    yield from dict.fromkeys(part.name.lower() for part in parts if part.name.lower() not in others)


def _texts(
    reader: SourceReader, partition: Partition, column: Column, sample_rows: int | None
) -> list[_Text]:
    """The different texts of a column, byte for byte."""
    limit = "" if sample_rows is None else f" LIMIT {sample_rows}"
    name, place = quoted(column.name, reader.dialect), quoted_table(partition.name, reader.dialect)
    rows = f"(SELECT {name} AS v FROM {place}{limit}) AS r"
    if reader.dialect == "mysql":
        weight = "HEX(WEIGHT_STRING(RTRIM(v)))"
        sql = f"SELECT MIN(v), MIN({weight}) FROM {rows} WHERE v IS NOT NULL GROUP BY BINARY v"
    else:
        folded = {"NOCASE": "lower(v)", "RTRIM": "rtrim(v, ' ')"}.get((column.collation or "").upper(), "v")
        sql = f"SELECT DISTINCT v COLLATE BINARY, {folded} FROM {rows} WHERE typeof(v) = 'text'"
    return [_Text(str(text), str(weight)) for text, weight in reader.rows(sql)]
