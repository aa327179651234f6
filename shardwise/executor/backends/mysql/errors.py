"""A MySQL error as ours: what, why, and what to do, with the server's own number."""

from __future__ import annotations

import ssl

from shardwise.errors import (
    Cancelled,
    DataError,
    DeadlineExceeded,
    Error,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    Reason,
    ShardUnavailable,
)
from shardwise.executor.backends.address import address_of
from shardwise.executor.backends.base import Location
from shardwise.executor.backends.mysql.driver import CR, cause_of, pymysql

LOST = frozenset((2006, 2013, 2055, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 4031))
"""The connection is gone, for whatever reason: the same statement on another one may do."""

_CHECK = "Run `shardwise catalog check` to see all differences"
_ADDRESS = "Check the source's URL and PASSWORD in the catalog"
_NOT_THERE = {
    1045: ("does not let this user in", "Check the user in the source's URL and its PASSWORD in the catalog"),
    1698: ("does not let this user in", "Check the user in the source's URL and its PASSWORD in the catalog"),
    1044: ("does not let this user into the database", "GRANT SELECT ON database.* TO the user"),
    1049: ("has no such database", "Check the source's URL in the catalog"),
    1130: ("does not let this machine in", "Let the user connect from here: CREATE USER name@'host' …"),
    1129: ("blocks this machine after too many errors", "Run FLUSH HOSTS there"),
    1251: ("asks for a way to log in that is not supported", _ADDRESS),
    2003: ("cannot be reached", "Check that the server runs and the source's URL in the catalog"),
    2005: ("cannot be reached", "Check the source's URL in the catalog"),
    2026: (
        "cannot be reached safely",
        "Check ssl_ca and the server's certificate; ssl=off says that none is wanted",
    ),
    2059: ("asks for a way to log in that is not supported", _ADDRESS),
}
_REFUSED = frozenset((1045, 1698))
_FULL = frozenset((1040, 1203, 1226))
_DATA = frozenset(
    (1264, 1265, 1292, 1365, 1366, 1367, 1406, 1411, 1426, 1427, 1441, 1690, 3020, 3037, 3140, 3141)
)
_DENIED = frozenset((1142, 1143, 1227, 1370))
_DRIFT = frozenset((1054, 1109, 1146, 1356))


def code_of(error: BaseException) -> int:
    """The server's or the driver's number of an error; 0 if it has none."""
    args = error.args
    return args[0] if isinstance(error, pymysql.MySQLError) and args and isinstance(args[0], int) else 0


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone."""
    return code_of(error) in LOST or (isinstance(error, pymysql.InterfaceError) and code_of(error) == 0)


def translate_error(error: BaseException, location: Location) -> Error:
    """Ours for what the driver raised."""
    if isinstance(error, Error):
        return error
    where = f'source "{location.source}"'
    if isinstance(error, UnicodeError):
        return DataError(f"{where}: a text holds what is no Unicode character")
    if isinstance(error, OSError):
        what = f"{_server(location)} cannot be reached: {error.strerror or type(error).__name__}"
        return ShardUnavailable(f"{where}: {what}", hint=_NOT_THERE[2003][1], is_passing=True)
    if not isinstance(error, pymysql.MySQLError):
        return OperationalError(f"{where}: {type(error).__name__} in the driver: {_told(error, location)}")
    ours = _of_server(error, where, location)
    ours.sqlstate = getattr(error, "sqlstate", None) or ours.sqlstate
    return ours


def _of_server(error: BaseException, where: str, location: Location) -> Error:
    code, told = code_of(error), _told(error, location)
    if isinstance(cause_of(error), ssl.SSLError):
        code = CR.CR_SSL_CONNECTION_ERROR
    said = f"{told} ({code})" if code else told
    if code in _NOT_THERE:
        what, hint = _NOT_THERE[code]
        if code in _REFUSED and location.password is None:
            hint = (
                "No password was found for it: give the source a PASSWORD, and see that its variable is set"
            )
        return ShardUnavailable(
            f"{where}: {_server(location)} {what}: {said}", hint=hint, is_passing=code == 2003
        )
    if is_lost(error):
        what = f"the connection to {_server(location)} was lost: {said}"
        return ShardUnavailable(f"{where}: {what}", hint="Try again", is_passing=True)
    if code in _FULL:
        what = f"{_server(location)} has no connection free: {said}"
        return ShardUnavailable(
            f"{where}: {what}",
            hint="Lower connections_per_server of the catalog, or raise its limit",
            is_passing=True,
        )
    if code == 1317:
        return Cancelled("the statement was cancelled")
    if code in (1969, 3024):
        return DeadlineExceeded(
            f"{where}: the statement took longer than it may there: {said}",
            hint="Raise statement_timeout_s of the source (or max_statement_time there), or narrow the query",
        )
    if code in _DRIFT:
        return OperationalError(
            f"{where} is not as the catalog says: {said}", reason=Reason.SCHEMA_DRIFT, hint=_CHECK
        )
    if code in _DENIED:
        return OperationalError(f"{where}: {said}", hint="Reading needs SELECT rights: GRANT SELECT ON …")
    if code == 1792:
        return NotSupportedError(f"{where} is read only: {said}")
    state = getattr(error, "sqlstate", None) or ""
    if code in _DATA or state.startswith("22"):
        return DataError(f"{where}: {said}")
    if state.startswith("23"):
        return IntegrityError(f"{where}: {said}")
    return OperationalError(f"{where}: {said}")


def _server(location: Location) -> str:
    return f"server {address_of(location, port=3306).server}"


def _told(error: BaseException, location: Location) -> str:
    """What it says, without a password that someone may have put into it."""
    args = error.args
    text = str(args[1] if len(args) > 1 else args[0] if args else type(error).__name__).rstrip(". ")
    return text.replace(location.password, "***") if location.password else text
