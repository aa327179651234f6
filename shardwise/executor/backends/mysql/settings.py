"""What a source's URL and `WITH (…)` say about how it is reached."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from shardwise.errors import CatalogError
from shardwise.executor.backends.address import Address, address_of
from shardwise.executor.backends.base import Location

TLS = Literal["verify", "unverified", "off"]

SQL_MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
"""Known, and alike on all sources: what a statement means must not rest on a server's configuration."""

_CHANGES_MEANING = frozenset(
    (
        *("ANSI", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "PIPES_AS_CONCAT", "HIGH_NOT_PRECEDENCE"),
        *("IGNORE_SPACE", "ORACLE", "MSSQL", "DB2", "POSTGRESQL", "MAXDB", "MYSQL323", "MYSQL40"),
        *("NO_UNSIGNED_SUBTRACTION", "EMPTY_STRING_IS_NULL"),
    )
)
_OURS = (
    *("ssl", "ssl_ca", "ssl_cert", "ssl_key", "ssl_server_name", "sql_mode", "connect_timeout_s"),
    *("read_timeout_s", "statement_timeout_s", "idle_max", "idle_s"),
)
_OPTIONS = frozenset((*_OURS, "open_max", "dialect", "version"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Sources alike in all of it share sessions."""

    address: Address
    source: str = field(compare=False)
    password: str | None = field(repr=False)
    tls: TLS
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    server_name: str | None = None
    sql_mode: str = SQL_MODE
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 30.0
    statement_timeout_s: float | None = None
    idle_max: int = 32
    idle_s: float = 60.0
    session_key: object = field(init=False, repr=False, compare=False)
    """Equal for settings that give the same sessions."""

    def __post_init__(self) -> None:
        address = self.address
        reach = (address.server, address.user, address.database, self.password)
        safety = (self.tls, self.ca, self.certificate, self.key, self.server_name)
        key = (*reach, *safety, self.sql_mode, self.statement_timeout_s)
        object.__setattr__(self, "session_key", key)

    def driver_arguments(self) -> Mapping[str, Any]:
        """For PyMySQL's Connection."""
        address = self.address
        return {
            "host": address.host,
            "port": address.port,
            "unix_socket": address.socket,
            "user": address.user,
            # PyMySQL would encode text as Latin-1.
            "password": (self.password or "").encode(),
            "database": address.database,
            "charset": "utf8mb4",
            "autocommit": True,
            "connect_timeout": self.connect_timeout_s,
            "read_timeout": self.connect_timeout_s,  # until the session is there
            "write_timeout": None,
            "ssl": self._context(),
            "ssl_disabled": self.tls == "off",
            "program_name": "shardwise",
            "defer_connect": True,
        }

    def _context(self) -> ssl.SSLContext | None:
        if self.tls == "off":
            return None
        try:
            context = _Context(ssl.PROTOCOL_TLS_CLIENT)
            context.server_name = self.server_name
            if self.tls == "unverified":
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            elif self.ca is None:
                context.load_default_certs()
            else:
                context.load_verify_locations(cafile=self.ca)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, keyfile=self.key)
        except OSError as error:  # ssl.SSLError is one
            raise CatalogError(
                f'source "{self.source}": its certificates cannot be read: {error.strerror or error}',
                hint="ssl_ca, ssl_cert and ssl_key are paths of PEM files",
            ) from error
        return context


class _Context(ssl.SSLContext):
    """One that verifies the name which the source gives, where it is not the host's."""

    server_name: str | None = None

    def wrap_socket(self, sock: Any, *args: Any, **more: Any) -> ssl.SSLSocket:
        name = self.server_name or more.pop("server_hostname", None)
        return super().wrap_socket(sock, *args, **{**more, "server_hostname": name})


def settings_of(location: Location) -> Settings:
    """The settings of a source; raises CatalogError for what cannot be."""
    address = address_of(location, port=3306)
    options = {name.lower(): value for name, value in address.options.items()}
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise _wrong(location, f'there is no option "{unknown[0]}" of a MySQL source', _KNOWN)
    if address.database is None:
        raise _wrong(
            location,
            "its URL names no database",
            "Write 'mysql://user@host:port/database', one source for each",
        )
    return Settings(
        address=address,
        source=location.source,
        password=location.password,
        tls=_tls(location, address, options),
        ca=options.get("ssl_ca"),
        certificate=options.get("ssl_cert"),
        key=options.get("ssl_key"),
        server_name=options.get("ssl_server_name"),
        sql_mode=_sql_mode(location, options.get("sql_mode", SQL_MODE)),
        connect_timeout_s=_seconds(location, options, "connect_timeout_s", 10.0),
        read_timeout_s=_seconds(location, options, "read_timeout_s", 30.0),
        statement_timeout_s=_seconds(location, options, "statement_timeout_s", 0.0) or None,
        idle_max=int(_seconds(location, options, "idle_max", 32)),
        idle_s=_seconds(location, options, "idle_s", 60.0),
    )


_KNOWN = f"Options are {', '.join(_OURS)}"


def _tls(location: Location, address: Address, options: Mapping[str, str]) -> TLS:
    given = options.get("ssl", "").lower()
    if not given:
        asks = any(name in options for name in ("ssl_ca", "ssl_cert", "ssl_server_name"))
        return "verify" if asks or not address.is_loopback else "off"
    for known in get_args(TLS):
        if given == known:
            found: TLS = known
            return found
    raise _wrong(
        location,
        f'ssl cannot be "{given}"',
        "It is verify (as by default for other hosts than this one), unverified, or off",
    )


def _sql_mode(location: Location, given: str) -> str:
    modes = [mode.strip().upper() for mode in given.split(",") if mode.strip()]
    bad = sorted(_CHANGES_MEANING & set(modes))
    if bad:
        raise _wrong(
            location,
            f"sql_mode cannot have {bad[0]}: statements would mean something else there",
            f"Leave it out; without the option it is {SQL_MODE}",
        )
    return ",".join(modes)


def _seconds(location: Location, options: Mapping[str, str], name: str, default: float) -> float:
    given = options.get(name)
    if given is None:
        return default
    try:
        found = float(given)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e9 or (found == 0 and name.endswith("timeout_s") and name != "statement_timeout_s"):
        raise _wrong(location, f'{name} cannot be "{given}"', "It is a number above 0")
    return found


def _wrong(location: Location, what: str, hint: str) -> CatalogError:
    return CatalogError(f'source "{location.source}": {what}', hint=hint)
