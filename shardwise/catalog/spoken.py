"""What differs by the SQL that a product speaks, where nothing else of the product is asked.

Who needs more of a dialect has an object of its own for it: the planner's dialects, the executor's products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One of sqlglot's dialects.

    `quote` stands around a name; `text_type` is what CAST makes texts of. `is_server`: its products are asked
    over a connection, and have types, a time zone and collations of their own. `has_unsigned_bits`: &
    and shifts give whole numbers of 64 bits without a sign.
    """

    quote: str = '"'
    text_type: str = "VARCHAR"
    is_server: bool = False
    has_unsigned_bits: bool = False

    def quoted(self, name: str) -> str:
        """A name in quotes."""
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote


_OTHER: Final = Spoken()
_SPOKEN: Final = {
    "mysql": Spoken(quote="`", text_type="CHAR", is_server=True, has_unsigned_bits=True),
    "postgres": Spoken(is_server=True),
}


def spoken(dialect: str) -> Spoken:
    """What is known of a dialect by sqlglot's name for it."""
    return _SPOKEN.get(dialect, _OTHER)
