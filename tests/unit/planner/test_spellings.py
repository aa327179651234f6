"""Which text of an EXACT column may equal a constant."""

from __future__ import annotations

import pytest

from shardwise.catalog.model import Column, Spelling
from shardwise.planner.dialects import DUCKDB, query_dialect
from shardwise.planner.spellings import Folds, fits, text_of

LOWER, UPPER, AS_IT_IS = Spelling.LOWER, Spelling.UPPER, Spelling.AS_IT_IS


@pytest.mark.parametrize(
    ("constant", "spelling", "folds", "text"),
    [
        ("aBc  ", LOWER, Folds.CASE, "abc"),
        ("aBc  ", UPPER, Folds.CASE, "ABC"),
        ("   ", LOWER, Folds.CASE, ""),
        (" a", LOWER, Folds.CASE, " a"),
        ("~!", LOWER, Folds.CASE, "~!"),
        ("ábc", LOWER, Folds.CASE, None),
        ("a\tb", LOWER, Folds.CASE, None),
        ("a\x00", LOWER, Folds.CASE, None),
        ("\u212a", LOWER, Folds.CASE, None),  # the Kelvin sign, whose lower case is k
        ("bi", LOWER, Folds.MORE, None),
        ("aBc ", AS_IT_IS, Folds.CASE, "aBc"),
        ("aBc ", AS_IT_IS, Folds.MORE, "aBc"),
        ("北京", AS_IT_IS, Folds.MORE, "北京"),
        ("Ábc", AS_IT_IS, Folds.CASE, None),
        ("straße", AS_IT_IS, Folds.CASE, None),
        ("а", AS_IT_IS, Folds.CASE, None),  # Cyrillic, which has letter case
        ("が", AS_IT_IS, Folds.CASE, None),
        ("ª", AS_IT_IS, Folds.CASE, None),
        ("🍣", AS_IT_IS, Folds.CASE, None),
        ("a\u200b", AS_IT_IS, Folds.CASE, None),
        ("a\n", AS_IT_IS, Folds.CASE, None),
        ("Ábc🍣\x01 ", AS_IT_IS, Folds.BLANKS, "Ábc🍣\x01"),
        ("ABC ", LOWER, Folds.BLANKS, "ABC"),
    ],
)
def test_text_of(constant: str, spelling: Spelling, folds: Folds, text: str | None) -> None:
    assert text_of(constant, spelling, folds) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("abc", {LOWER, AS_IT_IS}),
        ("ABC", {UPPER, AS_IT_IS}),
        ("Abc", {AS_IT_IS}),
        ("a-1", {LOWER, AS_IT_IS}),
        ("1", set(Spelling)),
        ("", set(Spelling)),
        ("abc ", set()),
        ("ábc", {AS_IT_IS}),
        ("a\x01", {AS_IT_IS}),
    ],
)
def test_fits(text: str, found: set[Spelling]) -> None:
    assert {spelling for spelling in Spelling if fits(text, spelling)} == found


@pytest.mark.parametrize(
    ("dialect", "collation", "folds"),
    [
        ("mysql", "utf8mb4_general_ci", Folds.CASE),
        ("mysql", "UTF8MB4_UNICODE_520_NOPAD_CI", Folds.CASE),
        ("mysql", "utf8mb4_0900_ai_ci", Folds.CASE),
        ("mysql", "utf8mb4_uca1400_as_ci", Folds.CASE),
        ("mysql", "latin1_swedish_ci", Folds.CASE),
        ("mysql", "utf8mb4_uca1400_roman_ai_ci", Folds.MORE),
        ("mysql", "utf8mb4_lithuanian_ci", Folds.MORE),
        ("mysql", "gbk_chinese_ci", Folds.MORE),
        ("mysql", "utf8mb4_bin", Folds.BLANKS),
        ("mysql", "utf8mb4_nopad_bin", None),
        ("mysql", "binary", None),
        ("mysql", None, None),
        ("sqlite", "NoCase", Folds.CASE),
        ("sqlite", "RTRIM", Folds.BLANKS),
        ("sqlite", "BINARY", None),
        ("sqlite", None, None),
        ("duckdb", "NOCASE", None),
        ("postgres", "ignoring_case", None),
    ],
)
def test_what_a_collation_folds(dialect: str, collation: str | None, folds: Folds | None) -> None:
    column = Column(name="k", type="VARCHAR(20)", collation=collation)
    assert query_dialect(dialect).folds(column) is folds


def test_duckdbs_collations_are_not_relied_on() -> None:
    assert DUCKDB.folds(Column(name="k", type="VARCHAR", collation="NOCASE", spelling=LOWER)) is None
