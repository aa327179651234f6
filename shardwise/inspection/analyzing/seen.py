"""What was read of a table's columns: the rows of a sample, and the passes over all partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from shardwise.inspection.analyzing import figures
from shardwise.inspection.analyzing.columns import OFFSET_BYTES, AskedColumn
from shardwise.inspection.analyzing.parts import CUT, Totals, has_width
from shardwise.inspection.analyzing.sketch import distinct_of, united


class Seen:
    """Rows that were read: how often each value was in them."""

    def __init__(self, columns: Sequence[AskedColumn]) -> None:
        self._columns = columns
        self.rows = 0
        self.values: dict[str, Counter[str]] = {column.name: Counter() for column in columns}
        self.nulls: Counter[str] = Counter()
        self._widths: Counter[str] = Counter()
        self._spelled: dict[str, dict[str, str]] = {c.name: {} for c in columns if c.folds}

    def add(self, rows: Sequence[tuple[object, ...]]) -> None:
        """The rows of one partition, as `Asking.sample` gives them."""
        self.rows += len(rows)
        at = 0
        for column in self._columns:
            cells = [row[at] for row in rows]
            present = [cell for cell in cells if cell is not None]
            self.nulls[column.name] += len(cells) - len(present)
            at += 1
            if not column.is_unread:
                self._count(column, present)
            if has_width(column):
                at += not column.is_unread
                self._widths[column.name] += sum(
                    int(str(row[at - 1])) for row in rows if row[at - 1] is not None
                )

    def _count(self, column: AskedColumn, present: Sequence[object]) -> None:
        texts = [figures.normal(column.order, _plain(cell)) for cell in present]
        if not has_width(column) and column.width is None:
            self._widths[column.name] += sum(len(text.encode(errors="replace")) for text in texts)
        if column.folds:
            spelled = self._spelled[column.name]
            texts = [spelled.setdefault(text.casefold().rstrip(" "), text) for text in texts]
        self.values[column.name].update(texts)

    def width(self, column: AskedColumn) -> float | None:
        """The average bytes of a value."""
        filled = self.rows - self.nulls[column.name]
        if not filled or (column.is_unread and not has_width(column)):
            return None
        return self._widths[column.name] / filled + OFFSET_BYTES


def _plain(cell: object) -> str:
    return cell.decode(errors="replace")[:CUT] if isinstance(cell, bytes) else str(cell)


@dataclass(frozen=True, slots=True)
class Scanned:
    """One column over all partitions."""

    count: int
    least: str | None
    most: str | None
    distinct: float
    width: float | None

    @classmethod
    def of(cls, column: AskedColumn, totals: Sequence[Totals], sketches: Sequence[Mapping[str, str]]) -> Self:
        """What the partitions' passes come to together."""
        count = sum(each.count for each in totals)
        least, most = figures.extremes(
            column.order, (text for each in totals for text in (each.least, each.most))
        )
        widths = sum(each.width * each.count for each in totals if each.width is not None)
        return cls(
            count,
            least,
            most,
            sum(each.distinct or 0.0 for each in totals)
            if column.is_apart
            else distinct_of(united(sketches)),
            widths / count + OFFSET_BYTES if has_width(column) and count else None,
        )
