"""What to do about a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the known name that comes closest, or some of those there are."""
    names = list(dict.fromkeys(known))
    folded = {each.casefold(): each for each in names}
    close = get_close_matches(name.casefold(), list(folded), 1, 0.6)
    if close:
        return f'Did you mean "{folded[close[0]]}"?'
    if not names:
        return None
    return "There are: " + ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
