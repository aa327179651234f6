"""LIKE by bytes: patterns of fixed parts with % between them.

    s LIKE 'ab%'   =>   substr(CAST(s AS BLOB), 1, 2) = x'6162'
    s LIKE '%ab%'  =>   instr(CAST(s AS BLOB), x'6162') > 0

UTF-8 is found in UTF-8 by its bytes, NUL characters too, at which SQLite's functions of text end.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.planner.agreement.make import both, call, case, integer, is_null

_PARTS_MAX = 4
"""With each part between two % the text of the condition doubles."""


def like(text: exp.Expr, pattern: str) -> exp.Expr | None:
    """TRUE, FALSE, or NULL where the text is; None for a pattern with `_`, which stands for one character,
    and for one of many parts."""
    if "_" in pattern or pattern.count("%") > _PARTS_MAX:
        return None
    parts = [part.encode() for part in pattern.split("%")]
    if len(parts) == 1:
        return exp.EQ(this=text, expression=exp.Literal.string(pattern))
    return case((is_null(text), exp.Null()), default=_matches(text, parts))


def prefix(pattern: str) -> str | None:
    """What every text that is like the pattern begins with; None for a pattern with `_` before the first
    %."""
    head = pattern.partition("%")[0]
    return None if "_" in head else head


def after(prefix_: str) -> str | None:
    """The first text, by bytes, that is greater than all that begin so; None if there is none."""
    last = prefix_.rstrip("\U0010ffff")
    if not last:
        return None
    code = ord(last[-1]) + 1
    return last[:-1] + chr(0xE000 if code == 0xD800 else code)


def _matches(text: exp.Expr, parts: list[bytes]) -> exp.Expr:
    """The first part at the start, the last at the end, those between as early as they come.

    The length goes first: of an empty BLOB, substr() is NULL.
    """
    first, *middle, last = parts
    at: exp.Expr = integer(1 + len(first))
    shortest = integer(sum(map(len, parts)))
    conditions: list[exp.Expr] = [exp.GTE(this=call("length", _bytes(text)), expression=shortest)]
    if first:
        start = call("substr", _bytes(text), integer(1), integer(len(first)))
        conditions.append(exp.EQ(this=start, expression=_blob(first)))
    for part in middle:
        if not part:
            continue
        rest = call("substr", _bytes(text), at)
        conditions.append(exp.GT(this=call("instr", rest, _blob(part)), expression=integer(0)))
        found = call("instr", rest.copy(), _blob(part))
        at = exp.Add(this=exp.Add(this=at.copy(), expression=found), expression=integer(len(part) - 1))
    if last:
        end = call("substr", _bytes(text), integer(-len(last)), integer(len(last)))
        conditions.append(exp.EQ(this=end, expression=_blob(last)))
    if any(middle):
        room = exp.Add(this=at.copy(), expression=integer(len(last) - 1))
        conditions.append(exp.GTE(this=call("length", _bytes(text)), expression=room))
    return both(*conditions)


def _bytes(text: exp.Expr) -> exp.Expr:
    return exp.Cast(this=text.copy(), to=exp.DataType.build("BLOB"))


def _blob(value: bytes) -> exp.Expr:
    return exp.HexString(this=value.hex())
