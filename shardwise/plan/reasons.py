"""Every reason that EXPLAIN or an error gives: what it means, and what would remove it.

A reason's slug is stable; its sentence is made for the statement. `docs/reasons.md` is made from here:
`python -m shardwise.plan.reasons > docs/reasons.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from shardwise.errors import Reason
from shardwise.plan.reason_texts import ERRORS, INDEXES, NOT_PUSHED, ROUTES

Kind = Literal["route", "not-pushed", "index", "error"]


class NotPushed(StrEnum):
    """Why a part of a statement runs in the merge, though shards might have been hoped to do it."""

    GROUPS_SPAN_SHARDS = "groups-span-shards"
    DISTINCT_SPANS_SHARDS = "distinct-spans-shards"
    WINDOW_SPANS_SHARDS = "window-spans-shards"
    SET_OPERATION_SPANS_SHARDS = "set-operation-spans-shards"
    ORDER_NEEDS_ALL_ROWS = "order-needs-all-rows"
    LIMIT_NOT_PUSHABLE = "limit-not-pushable"
    AGGREGATE_NOT_SPLITTABLE = "aggregate-not-splittable"
    JOIN_NOT_COLOCATED = "join-not-colocated"
    OUTER_JOIN_PRESERVED_COPIED = "outer-join-preserved-copied"
    SUBQUERY_NOT_COLOCATED = "subquery-not-colocated"
    CORRELATED_OUTSIDE = "correlated-outside"
    LOOSE_KEY = "loose-key"
    KEY_HAS_COLLATION = "key-has-collation"
    VOLATILE = "volatile"
    ORDER_DEPENDENT = "order-dependent"
    PREDICATE_CAN_FAIL = "predicate-can-fail"
    RECURSIVE = "recursive"
    READ_TWICE = "read-twice"
    LOCAL_TABLE = "local-table"
    STATEMENT_KEPT_WHOLE = "statement-kept-whole"
    NOT_IN_AGREEMENT = "not-in-agreement"
    DEEP_PAGE = "deep-page"


class OfIndex(StrEnum):
    """What EXPLAIN tells of an index over shards that a statement may be hoped to use."""

    USED = "index-used"
    NOT_TRUSTED = "index-not-trusted"
    IN_SCOPE = "index-in-scope"
    NO_TABLE = "index-without-table"
    NOT_BUILT = "index-not-built"
    NOT_VALID = "index-not-valid"
    OUTDATED = "index-outdated"
    LACKS_COLUMNS = "index-lacks-columns"
    OTHER_EQUALITY = "index-of-another-equality"
    JOIN_KIND = "index-not-for-this-join"
    NO_KEY = "index-without-a-key"
    NOT_CHEAPER = "index-not-cheaper"
    KEYS_UNKNOWN = "index-leads-nowhere"
    MISS = "index-misses-a-value"


OF_INDEX: Final = frozenset(told.value for told in OfIndex)


class Explanation(NamedTuple):
    """One reason of the reference page. `remedy` says what change to the query or the catalog removes it."""

    slug: str
    kind: Kind
    title: str
    meaning: str
    remedy: str


def _all() -> Iterator[Explanation]:
    for slug, texts in ROUTES.items():
        yield Explanation(slug, "route", *texts)
    for reason in NotPushed:
        yield Explanation(reason.value, "not-pushed", *NOT_PUSHED[reason.value])
    for told in OfIndex:
        yield Explanation(told.value, "index", *INDEXES[told.value])
    for error in Reason:
        yield Explanation(error.value, "error", *ERRORS[error.value])


REASONS: Final[Mapping[str, Explanation]] = {reason.slug: reason for reason in _all()}

_CHAPTERS: Final[dict[Kind, str]] = {
    "route": """Why a fragment goes to these shards

EXPLAIN prints them as `all shards` or `1 of 4 shards`. Most say why the predicates on a shard key
did not narrow the shards further; a wider route costs time and never changes the answer.""",
    "not-pushed": """Why a part runs in the merge

EXPLAIN prints them as `not pushed`. The part is done, and right, but over rows that were moved off
the shards first.""",
    "index": """Why an index over shards answers, or does not

EXPLAIN prints them as `index`, under the plan. Without the index the answer is the same, and of this
moment; more is moved, or more shards are asked.""",
    "error": """Why a statement failed

`error.reason` is the slug. The message has the details; `error.hint` says what to do about them.""",
}


def page() -> str:
    """The reference page of all reasons, in Markdown."""
    lines = [
        "# Reasons",
        "",
        "<!-- Made from the code: python -m shardwise.plan.reasons > docs/reasons.md -->",
        "",
        "Every decision that EXPLAIN explains and every error has a reason with a stable name.",
    ]
    for kind, opening in _CHAPTERS.items():
        lines += ["", f"## {opening}"]
        for reason in REASONS.values():
            if reason.kind == kind:
                lines += ["", f"### `{reason.slug}`", "", f"**{reason.title}.** {reason.meaning}"]
                lines += ["", f"*What removes it:* {reason.remedy}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
