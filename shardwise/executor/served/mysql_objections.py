"""What MySQL has against a statement, as errors of ours."""

from __future__ import annotations

import re
from typing import Final

from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    ProgrammingError,
    Reason,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.executor.served.product import Objection

_RIGHTS: Final = frozenset((1142, 1143, 1227, 1370))
"""A right is missing: nothing is wrong with the statement."""
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_NEAR = re.compile(r"near '(.*)' at line (\d+)$", re.DOTALL)
_DATA: Final = frozenset((1264, 1265, 1292, 1365, 1366, 1367, 1406, 1411, 1426, 1427, 1441, 1690, 1242, 1241))
_DATA_5: Final = range(3140, 3160)
_CONNECTION: Final = frozenset((1040, 1044, 1045, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1203))
_TIMEOUT: Final = frozenset((1969, 3024))  # as of any statement


def objection_of(code: int, message: str) -> Objection | None:
    """None where nothing is wrong with the statement itself."""
    named = _QUOTED.search(message)
    name = named[1] if named else ""
    if code in _RIGHTS or code in _CONNECTION or code in _TIMEOUT or 2000 <= code < 3000:
        return None
    if code == 1054:
        column = name.rpartition(".")[2]
        return Objection(UnknownName(f'column "{name}" does not exist'), near=column)
    if code in (1146, 1109):
        table = name.rpartition(".")[2]
        unknown = UnknownName(
            f'table "{table}" does not exist', reason=Reason.UNKNOWN_TABLE, sqlstate="42P01"
        )
        return Objection(unknown, near=table)
    if code == 1052:
        ambiguous = UnknownName(
            f'column "{name}" is ambiguous', reason=Reason.AMBIGUOUS_COLUMN, sqlstate="42702"
        )
        return Objection(ambiguous, near=name.rpartition(".")[2])
    if code in (1305, 1630):
        function = re.sub(r"^FUNCTION \S*?\.?(\w+) does not exist.*", r"\1", message)
        missing = UnknownName(
            f'function "{function}" does not exist', reason=Reason.NOT_SUPPORTED, sqlstate="42883"
        )
        return Objection(missing, near=function)
    if code == 1064:
        near = _NEAR.search(message)
        text = near[1] if near else ""
        where = f' near "{text.split(None, 1)[0]}"' if text.strip() else " at its end"
        return Objection(SQLSyntaxError(f"syntax error{where}"), near=text or None)
    if code == 1317:
        return Objection(Cancelled("the statement was cancelled"))
    if code in (1021, 1114, 1135, 1037, 1038, 1041, 1153):
        return Objection(
            BudgetExceeded(
                f"the merge needs more than its server allows: {message} ({code})",
                hint="Narrow the query, or raise max_allowed_packet or tmp_disk_table_size of the server",
                sqlstate="53200",
            )
        )
    if code in _DATA or code in _DATA_5 or 4030 <= code < 4050:
        sqlstate = "21000" if code in (1242, 1241) else "22000"
        return Objection(DataError(f"{message} ({code})", sqlstate=sqlstate))
    return Objection(ProgrammingError(f"{message} ({code})"))
