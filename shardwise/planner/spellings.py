"""Which text an EXACT column holds, if one that equals a constant: what the constant's place is the place of.

    EXACT LOWER, utf8mb4_general_ci     'ABC', 'abc ' and 'abc' are all where 'abc' is
    EXACT, utf8mb4_general_ci           'ABC' is where 'ABC' is: the catalog promises that it is asked for so
    EXACT, utf8mb4_bin                  'abc ' is where 'abc' is, and 'ABC' is another text

None is where that does not follow, and all shards are asked: 'ábc' equals 'abc' under utf8mb4_general_ci.
"""

from __future__ import annotations

import unicodedata
from enum import Enum

from shardwise.catalog.model import Spelling


class Folds(Enum):
    """What a collation takes as equal."""

    BLANKS = "texts that differ in the blanks at the end alone, if any"
    CASE = (
        "of ASCII that prints, texts that differ in letter case and blanks at the end alone; more beyond it"
    )
    MORE = "whatever it likes"


def text_of(constant: str, spelling: Spelling, folds: Folds) -> str | None:
    """The only text of the column that may equal `constant`; None if that is not known.

    >>> text_of("Abc ", Spelling.LOWER, Folds.CASE), text_of("ábc", Spelling.LOWER, Folds.CASE)
    ('abc', None)
    """
    text = constant.rstrip(" ")
    if folds is Folds.BLANKS:
        return text
    if spelling is Spelling.AS_IT_IS:
        return text if all(map(_has_one_form, text)) else None
    if folds is not Folds.CASE or not all(map(_is_plain, text)):
        return None
    return text.lower() if spelling is Spelling.LOWER else text.upper()


def fits(text: str, spelling: Spelling) -> bool:
    """Whether a row's text is spelled so.

    >>> fits("abc", Spelling.LOWER), fits("abc ", Spelling.AS_IT_IS), fits("ä", Spelling.LOWER)
    (True, False, False)
    """
    if text.endswith(" "):
        return False
    if spelling is Spelling.AS_IT_IS:
        return True
    return all(map(_is_plain, text)) and text == (
        text.lower() if spelling is Spelling.LOWER else text.upper()
    )


def _is_plain(character: str) -> bool:
    return " " <= character <= "~"


def _has_one_form(character: str) -> bool:
    """ASCII that prints, or a letter that has neither case nor accents, such as those of Chinese.

    What else a text is asked for with (accents, signs that do not show, emoji, which are all equal under
    utf8mb4_general_ci) is what people and programs spell in several ways.
    """
    is_letter = unicodedata.category(character) == "Lo" and character <= "\uffff"
    return _is_plain(character) or (is_letter and not unicodedata.decomposition(character))
