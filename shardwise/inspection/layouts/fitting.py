"""Names as templates: from `ds_0.t_00, ds_0.t_01, ds_1.t_02 …` by slot to `ds_{n // 2}` and `t_{n:02}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, pairwise

from shardwise.catalog.shardings import Interval, ShardingFunction

_NUMBER = re.compile(r"(\d+)")


def template_of(texts: Mapping[int, str], variable: str) -> str | None:
    """The template over a whole number that gives each of `texts` for its key; None if none was found.

    >>> template_of({0: "db_00", 8: "db_01", 15: "db_01", 16: "db_02"}, "n")
    'db_{n // 8:02}'
    """
    split = [_NUMBER.split(text) for text in texts.values()]
    if len({len(parts) for parts in split}) != 1:
        return None
    pieces = []
    for at, column in enumerate(zip(*split, strict=True)):
        if len(set(column)) == 1:
            pieces.append(column[0].replace("{", "{{").replace("}", "}}"))
            continue
        field = _field(list(texts), column, variable) if at % 2 else None
        if field is None:
            return None
        pieces.append(field)
    return "".join(pieces)


_DATES = ("%Y%m%d", "%Y_%m_%d", "%Y-%m-%d", "%Y%m", "%Y_%m", "%Y-%m", "%y%m%d", "%y%m", "%Y", "%y", "%m")


def dated_template_of(texts: Mapping[date, str], variable: str) -> str | None:
    """The same over a date.

    >>> dated_template_of({date(2026, 1, 1): "log_202601", date(2026, 2, 1): "log_202602"}, "m")
    'log_{m:%Y%m}'
    """
    first_day, first = next(iter(texts.items()))
    if len(set(texts.values())) == 1:
        return first.replace("{", "{{").replace("}", "}}")
    for pattern in _DATES:
        before, found, after = first.rpartition(first_day.strftime(pattern))
        if found and all(text == f"{before}{day.strftime(pattern)}{after}" for day, text in texts.items()):
            outside = (part.replace("{", "{{").replace("}", "}}") for part in (before, after))
            return f"{{{variable}:{pattern}}}".join(outside)
    return None


def slots_template(function: ShardingFunction, texts: Sequence[str], variable: str) -> str | None:
    """The template over the slots of a function of one level: by date for INTERVAL, else by number."""
    if isinstance(function, Interval):
        days = {label: text for slot, text in enumerate(texts) for label in function.labels(slot)}
        return dated_template_of({day: text for day, text in days.items() if isinstance(day, date)}, variable)
    return template_of(dict(enumerate(texts)), variable)


def _field(keys: Sequence[int], digits: Sequence[str], variable: str) -> str | None:
    widths = {len(text) for text in digits}
    is_padded = any(text.startswith("0") and len(text) > 1 for text in digits)
    if is_padded and (len(widths) != 1):
        return None
    expression = _expression(dict(zip(keys, map(int, digits), strict=True)), variable)
    if expression is None:
        return None
    return f"{{{expression}:0{widths.pop()}}}" if is_padded else f"{{{expression}}}"


def _expression(values: Mapping[int, int], variable: str) -> str | None:
    """`n`, `n // k`, `n % m`, `n // k % m`, each with something added: the simplest that gives all values."""
    span = max(values.values()) - min(values.values()) + 1
    first_key, first = next(iter(values.items()))
    for divisor, modulus in _shapes(values, span):
        key = first_key // divisor
        offset = first - (key % modulus if modulus else key)
        if all(
            value == offset + (key // divisor % modulus if modulus else key // divisor)
            for key, value in values.items()
        ):
            text = variable + (f" // {divisor}" if divisor > 1 else "") + (f" % {modulus}" if modulus else "")
            return text + (f" + {offset}" if offset > 0 else f" - {-offset}" if offset else "")
    return None


def _divisors(values: Mapping[int, int]) -> Sequence[int]:
    """A divisor has a multiple between two keys of different values: looked for between the nearest two.

    Where key 0 is known, it lies between the last key of the first value and the key after it.
    """
    keys = sorted(values)
    changes = [(a, b) for a, b in pairwise(keys) if values[a] != values[b]]
    if keys[0] == 0:
        before, after = changes[0]
        return range(max(2, before + 1), after + 1)
    before, after = min(changes, key=lambda change: change[1] - change[0])
    return [divisor for divisor in range(2, 1 + keys[-1]) if before // divisor != after // divisor]


def _shapes(values: Mapping[int, int], span: int) -> Iterator[tuple[int, int | None]]:
    divisors = _divisors(values)
    return chain(
        [(1, None)],
        ((divisor, None) for divisor in divisors),
        [(1, span)],
        ((divisor, span) for divisor in divisors),
    )
