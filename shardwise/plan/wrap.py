"""SQL and sentences broken into lines, for EXPLAIN. Lines break only where SQL has a blank of its own."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_WIDTH = 100
# A string or quoted name is one word, blanks, line ends and doubled quotes in it too.
_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_CLAUSES = re.compile(
    "WITH|SELECT|FROM|WHERE|GROUP|HAVING|QUALIFY|WINDOW|ORDER|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT"
)


def sql_lines(sql: str, width: int = _WIDTH) -> list[str]:
    """The statement in lines of at most `width` columns where its words allow, broken before clauses first.

    >>> sql_lines("SELECT c.city, SUM(o.total) AS p0 FROM orders AS o WHERE o.x > 1", 50)
    ['SELECT c.city, SUM(o.total) AS p0 FROM orders AS o', 'WHERE o.x > 1']
    """
    lines: list[str] = []
    for clause in _clauses(sql):
        if lines and len(lines[-1]) + 1 + len(clause) <= width:
            lines[-1] += " " + clause
        else:
            lines += _filled(clause, width)
    return lines


def _clauses(sql: str) -> Iterator[str]:
    """The clauses of the outermost query, one by one."""
    depth, words = 0, list[str]()
    for word in _WORD.findall(sql):
        if depth == 0 and _CLAUSES.fullmatch(word) and words:
            yield " ".join(words)
            words = []
        words.append(word)
        bare = _QUOTED.sub("", word)
        depth += bare.count("(") - bare.count(")")
    if words:
        yield " ".join(words)


def _filled(clause: str, width: int) -> list[str]:
    """Words put into lines; continued lines are indented."""
    lines: list[str] = []
    for word in _WORD.findall(clause):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append("  " * bool(lines) + word)
    return lines


def labelled(rows: list[tuple[str, str]], width: int = _WIDTH) -> list[str]:
    """(label, sentence) pairs in two columns, long sentences continued under themselves."""
    if not rows:
        return []
    left = max(12, *(len(label) for label, _ in rows)) + 2
    lines = []
    for label, sentence in rows:
        parts = textwrap.wrap(sentence, max(width - left, 40), break_long_words=False) or [""]
        lines.append((label.ljust(left) + parts[0]).rstrip())
        lines += [" " * left + part for part in parts[1:]]
    return lines


def aligned(table: list[tuple[str, ...]]) -> list[str]:
    """The rows as lines: the first column to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]


def shard_list(shards: tuple[str, ...], width: int = 60) -> str:
    """All names if they are short together, else the first two and the last.

    >>> shard_list(tuple(f"s{n}" for n in range(10_000)))
    's0, s1, … s9999'
    """
    if len(shards) <= 3 or (len(shards) <= width and len(", ".join(shards)) <= width):
        return ", ".join(shards)
    return f"{shards[0]}, {shards[1]}, … {shards[-1]}"


def count_text(n: int, noun: str) -> str:
    """`1 row`, `1,234 rows`."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def bytes_text(n: int) -> str:
    """`532 B`, `14 kB`, `2.3 MB`."""
    value = float(n)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.1f} {unit}" if unit != "B" and value < 10 else f"{value:,.0f} {unit}"


def seconds_text(seconds: float) -> str:
    """`0.4 ms`, `12 ms`, `1.3 s`."""
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
