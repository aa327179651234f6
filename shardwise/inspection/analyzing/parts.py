"""The statements that ANALYZE sends to one physical table, in its source's own SQL, and what they answer.

All values come as texts, so that those of several products are alike: `2024-01-31 08:00:00` in UTC, `true`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlglot import exp

from shardwise.catalog.model import Stored
from shardwise.catalog.types import Family
from shardwise.inspection.analyzing.columns import AskedColumn
from shardwise.inspection.analyzing.figures import normal
from shardwise.inspection.analyzing.sketch import DIGITS, REGISTERS, register_of, rest_of, sketch_of
from shardwise.inspection.physical import SourceReader
from shardwise.inspection.reading import quoted, quoted_table

CUT = 200
"""Characters that are read of a text."""

Rows = Sequence[tuple[Any, ...]]


class Part(NamedTuple):
    """A physical table, and the member of a DIRECTORY that its rows are of."""

    shard: str
    name: str
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks one source about one physical table.

    `names` are the columns' names there, by folded name; `fills` what stands for those that it lacks.
    """

    reader: SourceReader
    part: Part
    names: Mapping[str, str]
    fills: Mapping[str, exp.Expr]

    @property
    def _place(self) -> str:
        return quoted_table(self.part.name, self.reader.dialect)

    def count(self) -> int:
        """The exact number of rows."""
        ((count,),) = self.reader.rows(f"SELECT count(*) FROM {self._place}")
        return int(count)

    def sample(self, columns: Sequence[AskedColumn], share: float) -> Rows:
        """About this share of the rows, each drawn by itself; of a column its text, and its width if values
        have widths of their own."""
        texts = [text for column in columns for text in self._read(column)]
        where = f" WHERE {_drawn(self.reader.dialect, share)}" if share < 1 else ""
        return self.reader.rows(f"SELECT {', '.join(texts) or '1'} FROM {self._place}{where}")

    def _read(self, column: AskedColumn) -> list[str]:
        value = self._value(column)
        width = [f"{_octets(value, column, self.reader.dialect)}"] if has_width(column) else []
        if column.is_unread:
            return width or [f"CASE WHEN {value} IS NULL THEN NULL ELSE 1 END"]
        return [_cut(self._text(column), column, self.reader.dialect), *width]

    def totals(self, columns: Sequence[AskedColumn]) -> dict[str, Totals]:
        """What one pass over all rows tells of each column."""
        dialect, texts = self.reader.dialect, ["count(*)"]
        for column in columns:
            value = self._value(column)
            texts.append(f"count({value})")
            if column.order:
                texts += [self._shown(f"{extreme}({value})", column) for extreme in ("min", "max")]
            if column.is_apart:
                texts.append(f"count(DISTINCT {value})")
            if has_width(column):
                texts.append(f"avg({_octets(value, column, dialect)})")
        (row,) = self.reader.rows(f"SELECT {', '.join(texts)} FROM {self._place}")
        cells = iter(row)
        rows, found = int(next(cells)), {}
        for column in columns:
            count = int(next(cells))
            least, most = (
                (_said(next(cells), column.order) for _ in range(2)) if column.order else (None, None)
            )
            distinct = float(next(cells)) if column.is_apart else None
            width = next(cells) if has_width(column) else None
            found[column.name] = Totals(
                rows, count, least, most, distinct, None if width is None else float(width)
            )
        return found

    def sketches(self, columns: Sequence[AskedColumn], *, by_md5: bool) -> dict[str, Mapping[str, str]]:
        """A sketch of each column's values, `by_md5` so that it is one with those of other products.

        Between DuckDBs alone their own hash will do, which takes a sixth of the time.
        """
        if self.reader.dialect == "sqlite":  # which has no hash
            return {column.name: self._sketch_here(column) for column in columns}
        sketch = self._sketch if by_md5 else self._sketch_by_hash
        queries = [sketch(number, column) for number, column in enumerate(columns)]
        found: dict[str, dict[str, str]] = {column.name: {} for column in columns}
        if queries:
            for number, register, rest in self.reader.rows(" UNION ALL ".join(queries)):
                digits = str(rest) if by_md5 else f"{int(rest):0{DIGITS}x}"
                found[columns[int(number)].name][str(register)] = digits
        return dict(found)

    def _sketch_by_hash(self, number: int, column: AskedColumn) -> str:
        text, value = self._text(column), self._value(column)
        digest = f"hash({f'lower({text})' if column.folds else text})"
        rows = f"(SELECT {digest} AS h FROM {self._place} WHERE {value} IS NOT NULL) AS q{number}"
        least = f"min(h >> {64 - 4 * DIGITS})"
        return f"SELECT {number} AS n, h & {REGISTERS - 1} AS r, {least} AS m FROM {rows} GROUP BY 2"

    def _sketch(self, number: int, column: AskedColumn) -> str:
        text = self._text(column)
        digest = f"md5({f'lower({text})' if column.folds else text})"
        if self.reader.dialect == "postgres":
            digest += ' COLLATE "C"'
        rows = f"(SELECT {digest} AS h FROM {self._place}) AS q{number}"
        register = register_of("h")
        return (
            f"SELECT {number} AS n, {register} AS r, min({rest_of('h')}) AS m FROM {rows}"
            f" WHERE h IS NOT NULL GROUP BY {register}"
        )

    def _sketch_here(self, column: AskedColumn) -> Mapping[str, str]:
        rows = self.reader.rows(f"SELECT DISTINCT {self._text(column)} FROM {self._place}")
        texts = (str(text) for (text,) in rows if text is not None)
        return sketch_of(text.lower() if column.folds else text for text in texts)

    def _value(self, column: AskedColumn) -> str:
        name = self.names.get(column.name.casefold())
        if name is not None:
            return quoted(name, self.reader.dialect)
        fill = self.fills.get(column.name.casefold())
        if fill is None:
            return quoted(column.name, self.reader.dialect)  # the source says that there is none
        return f"CAST({fill.sql(self.reader.dialect)} AS {_TEXT_TYPES[self.reader.dialect]})"

    def _text(self, column: AskedColumn) -> str:
        return self._shown(self._value(column), column)

    def _shown(self, value: str, column: AskedColumn) -> str:
        """A value as text; what stands for a column that is missing is one."""
        is_filled = column.name.casefold() in self.fills and column.name.casefold() not in self.names
        return value if is_filled else _text(value, column, self.reader.dialect)


@dataclass(frozen=True, slots=True)
class Totals:
    """Of one column of one physical table. `count` is of values that are not NULL."""

    rows: int
    count: int
    least: str | None = field(default=None)
    most: str | None = field(default=None)
    distinct: float | None = field(default=None)
    width: float | None = field(default=None)


def has_width(column: AskedColumn) -> bool:
    """Whether each value has a width of its own, which is asked for beside it."""
    return column.is_text or column.family in (Family.BLOB, Family.JSON)


def _said(value: Any, order: str | None) -> str | None:
    return None if value is None else normal(order, str(value))


_TEXT_TYPES = {"duckdb": "VARCHAR", "mysql": "CHAR", "postgres": "TEXT", "sqlite": "TEXT"}
_EPOCHS = {Stored.SECONDS: "{}", Stored.MILLISECONDS: "{} / 1000.0", Stored.MICROSECONDS: "{} / 1000000.0"}


def _text(value: str, column: AskedColumn, dialect: str) -> str:
    """A value as text, alike on all products."""
    kind = _TEXT_TYPES[dialect]
    match column.family:
        case Family.BOOL if dialect == "sqlite":
            false = "(0, '0', 'f', 'false', 'no', 'off')"
            return f"CASE WHEN {value} IS NULL THEN NULL WHEN {value} IN {false} THEN 'false' ELSE 'true' END"
        case Family.BOOL:
            return f"CASE WHEN {value} THEN 'true' WHEN NOT ({value}) THEN 'false' END"
        case Family.TIMESTAMP | Family.TIMESTAMPTZ if dialect == "duckdb":
            return f"CAST(CAST({value} AS TIMESTAMP) AS VARCHAR)"
        case Family.TIMESTAMPTZ if dialect == "postgres":
            return f"CAST({value} AT TIME ZONE 'UTC' AS TEXT)"
        case Family.DATE | Family.TIMESTAMP | Family.TIMESTAMPTZ if column.stored is not None:
            form = "%Y-%m-%d" if column.family is Family.DATE else "%Y-%m-%d %H:%M:%f"
            if column.stored is Stored.JULIAN:
                return f"strftime('{form}', {value})"
            return f"strftime('{form}', {_EPOCHS[column.stored].format(value)}, 'unixepoch')"
    if dialect == "sqlite":  # whose columns of any type may hold bytes that are no text
        return f"CASE typeof({value}) WHEN 'blob' THEN hex({value}) ELSE CAST({value} AS TEXT) END"
    return f"CAST({value} AS {kind})"


def _cut(text: str, column: AskedColumn, dialect: str) -> str:
    if not column.is_text:
        return text
    return f"substr({text}, 1, {CUT})" if dialect == "sqlite" else f"left({text}, {CUT})"


def _octets(value: str, column: AskedColumn, dialect: str) -> str:
    match dialect:
        case "duckdb" if column.family is Family.BLOB:
            return f"octet_length({value})"
        case "duckdb":
            return f"strlen(CAST({value} AS VARCHAR))"
        case "mysql":
            return f"length({value})"
        case "postgres":
            return f"octet_length({value if column.family is Family.BLOB else f'CAST({value} AS TEXT)'})"
    return f"length(CAST({value} AS BLOB))"


def _drawn(dialect: str, share: float) -> str:
    """A condition that holds for about this share of the rows, drawn anew for each."""
    if dialect == "mysql":
        return f"rand() < {share!r}"
    if dialect == "sqlite":
        return f"(random() & 4294967295) < {int(share * 4294967296)}"
    return f"random() < {share!r}"
