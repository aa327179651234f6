"""MySQL's types: taken apart, told from one another, and as Arrow's."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

import pyarrow as pa

from shardwise.catalog.types import Family, read_type
from shardwise.errors import NotSupportedError

_TYPE = re.compile(
    r"\s*([A-Za-z]\w*(?: (?:PRECISION|VARYING|CHARACTER))?)\s*(?:\((.*?)\))?\s*(.*)", re.DOTALL
)
_TEXTS: Final = frozenset({"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET"})
_OTHER_TEXTS: Final = frozenset({"JSON", "UUID", "INET4", "INET6", "NULL"})
_BYTES: Final = frozenset({"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"})
WHOLE: Final = frozenset({"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "YEAR"})
DOUBLES: Final = frozenset({"DOUBLE", "DOUBLE PRECISION", "REAL"})
REALS: Final = DOUBLES | {"FLOAT"}
SIZES: Final = {"TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "BIGINT": 8}
DECIMALS: Final = frozenset({"DECIMAL", "NUMERIC", "DEC", "FIXED"})
CAST_BACK: Final = frozenset({"UUID", "INET4", "INET6"})
"""Types that JSON_TABLE does not know."""


class Type(NamedTuple):
    """A type taken apart."""

    name: str
    arguments: str
    rest: str

    @property
    def size(self) -> int:
        return int(self.arguments) if self.arguments.isdigit() else 0

    @property
    def is_text(self) -> bool:
        return self.name in _TEXTS or self.name in _OTHER_TEXTS

    @property
    def is_bytes(self) -> bool:
        return self.name in _BYTES


def taken_apart(type_text: str) -> Type:
    """`decimal(10,2) unsigned` as "DECIMAL", "10,2" and "UNSIGNED"."""
    found = _TYPE.match(type_text)
    name, arguments, rest = found.groups() if found else (type_text, "", "")
    return Type(" ".join(name.upper().split()), arguments or "", rest.upper())


def is_shown_otherwise(type_text: str) -> bool:
    """Whether a number's text has zeros that its value does not need."""
    type_ = taken_apart(type_text)
    return (type_.name in REALS and bool(type_.arguments)) or "ZEROFILL" in type_.rest


ARROW: Final = {
    "TINYINT": (pa.int8(), pa.uint8()),
    "SMALLINT": (pa.int16(), pa.uint16()),
    "MEDIUMINT": (pa.int32(), pa.uint32()),
    "INT": (pa.int32(), pa.uint32()),
    "INTEGER": (pa.int32(), pa.uint32()),
    "BIGINT": (pa.int64(), pa.uint64()),
    "YEAR": (pa.int16(), pa.int16()),
    "FLOAT": (pa.float32(), pa.float32()),
    "DOUBLE": (pa.float64(), pa.float64()),
    "REAL": (pa.float64(), pa.float64()),
    "DATE": (pa.date32(), pa.date32()),
    "DATETIME": (pa.timestamp("us"), pa.timestamp("us")),
    "TIMESTAMP": (pa.timestamp("us"), pa.timestamp("us")),
    "TIME": (pa.duration("us"), pa.duration("us")),
    "NULL": (pa.null(), pa.null()),
}


@lru_cache(maxsize=4096)
def kind_of(type_text: str) -> str:
    """`Product.kind`."""
    written, _, collation = type_text.partition(" COLLATE ")
    type_ = taken_apart(as_declared(written))
    suffix = f" COLLATE {collation}" if collation else ""
    if type_.name in ("ENUM", "SET"):
        members = re.sub(r"'\s*,\s*'", "','", written.strip()[3:].lstrip("umUM").strip())
        return f"{type_.name}{members}{suffix}"
    unsigned = " UNSIGNED" if "UNSIGNED" in type_.rest or "ZEROFILL" in type_.rest else ""
    filled = " ZEROFILL" if "ZEROFILL" in type_.rest else ""
    if type_.name in WHOLE or type_.name in REALS:
        name = {"INTEGER": "INT", "REAL": "DOUBLE", "DOUBLE PRECISION": "DOUBLE"}.get(type_.name, type_.name)
        is_shown = bool(filled) if type_.name in WHOLE else "," in type_.arguments
        width = type_.arguments or (_FILLED_WIDTHS.get(name, "") if filled else "")
        shown = f" SHOWN({width}){filled}" if is_shown or filled else ""
        return f"{name}{unsigned}{shown}"
    if type_.name in DECIMALS:
        digits, _, scale = type_.arguments.partition(",")
        shown = f" SHOWN(){filled}" if filled else ""
        return f"DECIMAL({int(digits or 10)},{int(scale or 0)}){unsigned}{shown}"
    if type_.is_text:
        return f"{'CHAR' if type_.name == 'CHAR' else 'TEXT'}{suffix}"
    if type_.is_bytes:
        return f"BINARY({type_.arguments or 1})" if type_.name == "BINARY" else "BYTES"
    return f"{type_.name}({type_.arguments})" if type_.arguments not in ("", "0") else type_.name


_FILLED_WIDTHS: Final = {"TINYINT": "3", "SMALLINT": "5", "MEDIUMINT": "8", "INT": "10", "BIGINT": "20"}
"""How many digits ZEROFILL shows, where nothing is said."""


def as_shown(kind: str) -> tuple[str, str]:
    """A kind without how its numbers are shown, and how they are."""
    plain, _, shown = kind.partition(" SHOWN(")
    return plain, shown


def as_declared(type_text: str) -> str:
    """A type that the catalog declares, as the server would say it of a result."""
    found = read_type(type_text, "mysql")
    if found is None:
        return type_text
    if found.family is Family.ENUM:
        return "ENUM"
    if found.name in ("BOOL", "BOOLEAN"):
        return "TINYINT(1)"
    if found.name == "SERIAL":
        return "BIGINT UNSIGNED"
    if found.name in ("CHAR", "CHARACTER", "NCHAR", "NATIONAL CHAR", "NATIONAL CHARACTER"):
        return f"CHAR({','.join(found.arguments) or 1})"
    if found.family is Family.TEXT and found.arguments:
        return f"VARCHAR({found.arguments[0]})"
    if found.family is Family.TEXT:
        return "LONGTEXT"
    if found.family is Family.BLOB:
        return "LONGBLOB"
    return type_text


def type_of_arrow(field: pa.Field) -> str:
    """What a column of a registered table is to be."""
    type_ = field.type
    for of_arrow, name in _TYPES_OF_ARROW:
        if type_ == of_arrow:
            return name
    if pa.types.is_boolean(type_):
        return "TINYINT(1)"
    if pa.types.is_decimal(type_):
        return f"DECIMAL({type_.precision},{max(type_.scale, 0)})"
    if pa.types.is_timestamp(type_) and type_.tz is None:
        return "DATETIME(6)"
    if pa.types.is_date(type_):
        return "DATE"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "LONGTEXT"
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return "LONGBLOB"
    raise NotSupportedError(
        f'the registered column "{field.name}" is {type_}, which MySQL has no type for',
        hint="Register it as numbers, texts, dates or bytes",
    )


_TYPES_OF_ARROW: Final = tuple(
    (of_arrow, f"{name} UNSIGNED" if is_unsigned else name)
    for name, types in ARROW.items()
    if name in ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")
    for is_unsigned, of_arrow in enumerate(types)
)
