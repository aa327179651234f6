"""PostgreSQL's errors as ours: what, why and what to do, with the server's SQLSTATE; no password in any."""

from __future__ import annotations

import re
from urllib.parse import quote

import psycopg

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
from shardwise.executor.backends.address import Address, address_of
from shardwise.executor.backends.base import Location

PORT = 5432
CHECK = "Run `shardwise catalog check` to see all differences"


class Silence(psycopg.OperationalError):
    """The connection was cut because the server did not answer: to ask again is to wait as long again.

    `is_servers`: a new connection was not answered either.
    """

    def __init__(self, why: str, *, is_servers: bool) -> None:
        super().__init__(why)
        self.is_servers = is_servers


def translate_error(error: BaseException, location: Location) -> Error:
    """Ours for what connecting or reading raised."""
    where = f'source "{location.source}"'
    if isinstance(error, Error):
        if isinstance(error, NotSupportedError) and where not in error.message:
            error.message = f"{where}: {error.message}"
        return error
    if isinstance(error, Silence):
        what = f"{_at(address_of(location, port=PORT))} {error}"
        return ShardUnavailable(f"{where}: {what}", hint="Check the server and the network")
    text = redacted(_primary(error), location.password)
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    if state is None:
        return _of_client(error, text, where, location)
    hint = error.diag.message_hint if isinstance(error, psycopg.Error) else None
    made = _of_state(state, text, where, location, hint)
    made.sqlstate = state
    return made


def redacted(text: str, password: str | None) -> str:
    """A driver's text without the password, should it have quoted it."""
    for secret in {password, quote(password or "", safe=""), repr(password or "")[1:-1]} - {None, ""}:
        text = text.replace(str(secret), "***")
    return text


def _primary(error: BaseException) -> str:
    """The server's own message, without its details, which quote values of rows."""
    if isinstance(error, psycopg.Error) and error.diag.message_primary:
        return error.diag.message_primary
    return " ".join(str(error).split()) or type(error).__name__


def _of_state(state: str, text: str, where: str, location: Location, hint: str | None) -> Error:
    address = address_of(location, port=PORT)
    if state == "57014":
        return _stopped(text, where)
    if state in _PASSING:
        return ShardUnavailable(f"{where}: {text}", hint=_PASSING[state], is_passing=True)
    if state in _DRIFT:
        return OperationalError(
            f"{where} is not as the catalog says: {text}", reason=Reason.SCHEMA_DRIFT, hint=CHECK
        )
    if state == "3D000":
        return ShardUnavailable(
            f"{where}: {text}", hint="Check the source's URL in the catalog", is_missing=True
        )
    if state[:2] == "28":
        return ShardUnavailable(
            f'{where}: {_at(address)} refused user "{address.user or ""}": {text}',
            hint="Check the user in the source's URL and its PASSWORD in the catalog",
        )
    if state == "42501":
        return OperationalError(f"{where}: {text}", hint="Reading needs USAGE on the schema and SELECT")
    if state == "25006":
        return NotSupportedError(f"{where}: {text}", hint="Sources are read in read-only transactions")
    kind = _KINDS.get(state[:2], OperationalError)
    return kind(f"{where}: {text}", hint=hint)


def _stopped(text: str, where: str) -> Error:
    if "statement timeout" in text:
        return DeadlineExceeded(
            f"{where}: {text}",
            hint="Raise statement_timeout_s, an option of the source (or the server's statement_timeout)",
        )
    return Cancelled("the statement was cancelled")


_SOON = "Try again"
_PASSING = {
    "40001": _SOON,
    "40P01": _SOON,
    "57P01": "The connection was ended on the server; try again",
    "57P02": "The server crashed and comes back; try again",
    "57P03": "The server is starting up or shutting down; try again",
    "57P05": "The connection was idle too long; try again",
    "53300": "Lower connections_per_server in the catalog, or raise the server's max_connections",
    "08006": _SOON,
    "08003": _SOON,
}
_DRIFT = frozenset(("42703", "42P01", "3F000", "42883", "42804"))
_KINDS: dict[str, type[Error]] = {"22": DataError, "23": IntegrityError, "0A": NotSupportedError}


def _of_client(error: BaseException, text: str, where: str, location: Location) -> Error:
    """What libpq says without a SQLSTATE: that of a connection that was refused is in its text alone."""
    if isinstance(error, psycopg.DataError) and _NO_SUCH_MOMENT.match(text):
        return DataError(f"{where}: {text}", hint="Cast it to text", sqlstate="22008")
    if isinstance(error, psycopg.DataError | psycopg.ProgrammingError):
        return DataError(f"{where}: {text}")
    if not isinstance(error, psycopg.OperationalError | OSError):
        return OperationalError(f"{where}: {text}")
    server = _at(address_of(location, port=PORT))
    if isinstance(error, psycopg.Error) and not text.startswith(_CONNECTING):
        lost = f"the connection was lost to {server}: {text}"
        return ShardUnavailable(f"{where}: {lost}", hint=_SOON, is_passing=True)
    said = list(dict.fromkeys(filter(None, _TRIED.split(text))))
    text = "; ".join(said)
    for pattern, state in _REFUSED:
        if re.search(pattern, text):
            made = _of_state(state, text.removeprefix("FATAL: "), where, location, None)
            made.sqlstate = state
            return made
    hint = next((hint for word, hint in _REACHING if word in text), "Check the source's URL, and the server")
    return ShardUnavailable(f"{where}: {server} cannot be reached: {text}", hint=hint)


_NO_SUCH_MOMENT = re.compile(r"(date|timestamp|timestamptz) too (large|small)")
"""For which Python has no object."""
_CONNECTING = (
    *("connection failed", "connection is bad", "connection timeout", "Multiple connection attempts"),
    "failed to resolve host",
)
_TRIED = re.compile(
    r"(?:connection (?:failed|is bad): )|(?:connection to server at .*? failed: )|\s+(?=connection to)"
)
_REFUSED = (
    ("password authentication failed", "28P01"),
    ("authentication failed|requires a valid client certificate|pg_hba.conf", "28000"),
    ('role ".*" does not exist', "28000"),
    ('database ".*" does not exist', "3D000"),
    ("too many (clients|connections)|connection slots are reserved", "53300"),
    ("is (starting up|shutting down)", "57P03"),
)
_REACHING = (
    (
        "no password supplied",
        "Give the source a PASSWORD, and see that its variable is set or its file there",
    ),
    ("refused", "Check host and port in the source's URL, and that the server runs"),
    (
        "timeout expired",
        "It does not answer. connect_timeout_s, an option of the source, says how long to wait",
    ),
    ("certificate", "ssl_ca, an option of the source, names the CA's file; ssl or sslmode what is verified"),
    ("SSL", "The connection is to be encrypted, unless the source says ssl=off"),
    ("resolve host", "Check the host in the source's URL"),
    ("translate host name", "Check the host in the source's URL"),
    ("password", "Give the source a PASSWORD in the catalog"),
)


def _at(address: Address) -> str:
    return f"the server at {address.server}"
