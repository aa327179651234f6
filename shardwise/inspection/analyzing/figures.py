"""From values and how often each was seen to the figures of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from math import exp, sqrt
from typing import Final

from shardwise.catalog.types import Family
from shardwise.inspection.analyzing.columns import AskedColumn

BOUNDS_MAX: Final = 33
"""Bounds of a column: 32 parts with as many rows each."""
COMMON_MAX: Final = 20
"""Common values of a column."""
LENGTH_MAX: Final = 64
"""Characters of a common value; longer ones are not kept."""
SEEN_MIN: Final = 5
"""Rows of a sample that a value must be in to be called common."""

_DIGITS_MAX: Final = 40
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  all are in UTC
_DAY: Final = 86_400_000_000
_FRACTION = re.compile(r"\.?0+$")


def normal(order: str | None, text: str) -> str:
    """A value as it is kept: numbers without zeros at their end, moments as `2024-01-31 08:00:00.5`."""
    if order == "number":
        number = _number(text)
        return text if number is None else _plain(number)
    if order == "moment":
        text = text.strip().replace("T", " ")
        day, _, time = text.partition(" ")
        if "." in time:
            text = f"{day} {_FRACTION.sub('', time)}"
    return text


def rank(order: str | None, text: str) -> Decimal | None:
    """The place of a normal value among those of its column; None for what has none (NaN, no day)."""
    if order == "number":
        return _number(text)
    return _microseconds(text) if order == "moment" else None


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _plain(number: Decimal) -> str:
    if not number:
        return "0"
    if abs(number.adjusted()) > _DIGITS_MAX:  # a DOUBLE
        return str(number.normalize())
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _microseconds(text: str) -> Decimal | None:
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
    return Decimal((moment - _EPOCH) // timedelta(microseconds=1))


def bounds(
    order: str, seen: Mapping[str, float], least: str | None = None, most: str | None = None
) -> tuple[str, ...]:
    """Equi-depth quantiles of values by how often each was seen; `least` and `most` are those of all rows."""
    ranked = sorted(
        (place, text, count) for text, count in seen.items() if (place := rank(order, text)) is not None
    )
    total = sum(count for _, _, count in ranked)
    parts = min(BOUNDS_MAX - 1, max(int(total) - 1, len(ranked) - 1, 1))
    found: list[str] = []
    passed = 0.0
    for _, text, count in ranked:
        passed += count
        while len(found) < parts and len(found) * total <= passed * parts:
            found.append(text)
    found += [ranked[-1][1]] * (parts + 1 - len(found)) if ranked else []
    for extreme, end in ((least, 0), (most, -1)):
        if extreme is not None and rank(order, extreme) is not None:
            found = found or [extreme, extreme]
            found[end] = extreme
    return tuple(found)


def common(
    seen: Mapping[str, float], rows: float, distinct: float, *, is_whole: bool
) -> tuple[tuple[str, float], ...]:
    """The most common values with their share of `rows`: all of few, else those that are more common than an
    average one, by a quarter, and in a sample by more than chance makes them (four standard deviations).
    """
    total = sum(seen.values())
    if not seen or not rows:
        return ()
    average = total / max(distinct, len(seen))
    least = max(1.25 * average, 2 if is_whole else SEEN_MIN + average + 4 * sqrt(average))
    least = 0 if len(seen) <= COMMON_MAX else least
    ordered = sorted(seen.items(), key=lambda each: (-each[1], each[0]))[:COMMON_MAX]
    return tuple((text, short(count / rows)) for text, count in ordered if count >= least and is_kept(text))


def short(share: float) -> float:
    """A share to five digits: what is kept is no more exact than that, and is read by people."""
    return float(f"{min(share, 1.0):.5g}")


def is_kept(text: str) -> bool:
    """Whether a value may stand in the lock file: short, and of characters that print."""
    return len(text) <= LENGTH_MAX and text.isprintable()


def distinct_of_sample(seen: Mapping[str, float], sampled: float, rows: float) -> float:
    """The distinct values of `rows` rows, of which `sampled` were seen: Haas and Stokes' "Duj1" (1998), which
    PostgreSQL uses too: n·d / (n − f1 + f1·n/N), where f1 of the d values were seen once."""
    different = len(seen)
    if not different or sampled >= rows:
        return float(different)
    once = sum(1 for count in seen.values() if count == 1)
    estimate = sampled * different / (sampled - once + once * sampled / rows)
    return min(max(estimate, different), rows)


def distinct_of_union(parts: Sequence[tuple[float, float]]) -> float:
    """The distinct values of several partitions, of each of which (distinct values, rows not NULL) are known.

    Rows are taken to draw their values evenly from one domain of D values (Cardenas, 1975): of r rows
    D·(1 − e^(−r/D)) are different. D is what fits the partitions best; the answer is between the most of one
    partition and the sum of all.
    """
    known = [(distinct, rows) for distinct, rows in parts if distinct > 0 and rows > 0]
    if not known:
        return 0.0
    most, total = max(d for d, _ in known), sum(d for d, _ in known)
    rows = sum(r for _, r in known)
    low, high = most, max(rows * 1e6, most)
    for _ in range(200):
        domain = (low + high) / 2
        if sum(_drawn(domain, r) for _, r in known) < total:
            low = domain
        else:
            high = domain
        if high - low < 1e-6 * high:
            break
    return min(max(_drawn(high, rows), most), total)


def _drawn(domain: float, rows: float) -> float:
    ratio = rows / domain
    return domain * (1 - exp(-ratio)) if ratio < 700 else domain


def capped(column: AskedColumn, distinct: float, least: str | None, most: str | None) -> float:
    """No more than there are whole numbers, or days, between the least and the most of all rows."""
    low, high = (None if text is None else rank(column.order, text) for text in (least, most))
    if low is None or high is None:
        return distinct
    if column.family is Family.INT:
        return min(distinct, float(high - low) + 1)
    if column.family is Family.DATE:
        return min(distinct, float(high - low) // _DAY + 1)
    return distinct


def extremes(order: str | None, texts: Iterable[str | None]) -> tuple[str | None, str | None]:
    """The least and the most of some values."""
    ranked = [
        (place, text) for text in texts if text is not None and (place := rank(order, text)) is not None
    ]
    return (min(ranked)[1], max(ranked)[1]) if ranked else (None, None)
