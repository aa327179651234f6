"""The type of a result's column, as the protocol tells it."""

from __future__ import annotations

from typing import Any

from shardwise.executor.backends.mysql.driver import FIELD_TYPE

_UNSIGNED, _ZEROFILL = 32, 64
_ENUM, _SET = 256, 2048
_BINARY = 63
_REALS = (FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE)
_ANY_DECIMALS = 31
"""How many a real number has that is shown with as many as it needs."""
_WIDTH_MAX = 255
_WHOLE = {
    FIELD_TYPE.TINY: "TINYINT",
    FIELD_TYPE.SHORT: "SMALLINT",
    FIELD_TYPE.INT24: "MEDIUMINT",
    FIELD_TYPE.LONG: "INT",
    FIELD_TYPE.LONGLONG: "BIGINT",
}
_OTHER = {
    FIELD_TYPE.FLOAT: "FLOAT",
    FIELD_TYPE.DOUBLE: "DOUBLE",
    FIELD_TYPE.DATE: "DATE",
    FIELD_TYPE.NEWDATE: "DATE",
    FIELD_TYPE.YEAR: "YEAR",
    FIELD_TYPE.NULL: "NULL",
    FIELD_TYPE.JSON: "JSON",
    FIELD_TYPE.GEOMETRY: "GEOMETRY",
}
_MOMENTS = {FIELD_TYPE.DATETIME: "DATETIME", FIELD_TYPE.TIMESTAMP: "TIMESTAMP", FIELD_TYPE.TIME: "TIME"}
_BYTES = frozenset(
    (
        *(FIELD_TYPE.TINY_BLOB, FIELD_TYPE.BLOB, FIELD_TYPE.MEDIUM_BLOB, FIELD_TYPE.LONG_BLOB),
        *(FIELD_TYPE.STRING, FIELD_TYPE.VAR_STRING, FIELD_TYPE.VARCHAR),
    )
)
_NO_TEXTS = {144: "UUID", 156: "INET6", 60: "INET4"}
"""MariaDB's types that are sent as texts of a length (in bytes), and sort otherwise: a flag tells them."""
_TINY = {255: "TINY", 65_535: "", 16_777_215: "MEDIUM"}


def type_text(field: Any) -> str:
    """SQL text of the type of a `FieldDescriptorPacket`."""
    code = field.type_code
    if code in _WHOLE:
        return _WHOLE[code] + (" UNSIGNED" if field.flags & _UNSIGNED else "")
    if code in (FIELD_TYPE.NEWDECIMAL, FIELD_TYPE.DECIMAL):
        return _decimal(field)
    if code in _MOMENTS:
        decimals = field.scale if 0 < field.scale <= 6 else 0
        return _MOMENTS[code] + (f"({decimals})" if decimals else "")
    if code == FIELD_TYPE.BIT:
        return f"BIT({field.length})"
    if code in _OTHER:
        return _OTHER[code]
    return _text(field)


def shown_type(field: Any) -> str:
    """The type with what its texts are shown by: the decimals of a DOUBLE or FLOAT that has a count of them,
    and a width that is filled with zeros."""
    name = type_text(field)
    is_filled = bool(field.flags & _ZEROFILL) and field.type_code != FIELD_TYPE.YEAR
    if field.type_code in _REALS and field.scale < _ANY_DECIMALS:
        name += f"({max(min(field.length, _WIDTH_MAX), field.scale + 1)},{field.scale})"
    if not is_filled:
        return name
    if field.type_code in _WHOLE:
        name = f"{_WHOLE[field.type_code]}({field.length})"
    return f"{name.removesuffix(' UNSIGNED')} UNSIGNED ZEROFILL"


def is_binary(field: Any) -> bool:
    """Whether its values are bytes and no text."""
    if field.type_code in (FIELD_TYPE.BIT, FIELD_TYPE.GEOMETRY):
        return True
    return field.charsetnr == _BINARY and field.type_code in _BYTES


def is_float(field: Any) -> bool:
    """Whether the text of its values is shorter than they are."""
    return bool(field.type_code == FIELD_TYPE.FLOAT)


def _decimal(field: Any) -> str:
    is_unsigned = bool(field.flags & _UNSIGNED)
    digits = field.length - (field.scale > 0) - (not is_unsigned)
    return f"DECIMAL({max(digits, field.scale, 1)},{field.scale})" + (" UNSIGNED" if is_unsigned else "")


def _text(field: Any) -> str:
    if field.flags & _ENUM:
        return "ENUM"
    if field.flags & _SET:
        return "SET"
    is_binary = field.charsetnr == _BINARY
    if field.type_code == FIELD_TYPE.STRING and field.flags & _UNSIGNED and field.length in _NO_TEXTS:
        return _NO_TEXTS[field.length]
    if field.type_code == FIELD_TYPE.STRING:
        return f"BINARY({field.length})" if is_binary else f"CHAR({field.length // 4})"
    if field.type_code in (FIELD_TYPE.VAR_STRING, FIELD_TYPE.VARCHAR):
        return f"VARBINARY({field.length})" if is_binary else f"VARCHAR({field.length // 4})"
    size = field.length if is_binary else field.length // 4
    prefix = next((name for limit, name in _TINY.items() if size <= limit), "LONG")
    return prefix + ("BLOB" if is_binary else "TEXT")
