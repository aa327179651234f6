"""A source's URL and options as the driver's arguments, and the session that every statement runs in.

    postgresql://report@10.0.0.9:5432/shop?sslrootcert=/etc/ca.pem
    WITH (search_path = 'sales, public', connect_timeout_s = 5, statement_timeout_s = 60)

Off this machine the server's certificate and name are verified, unless `sslmode` (or `ssl = off`) says
otherwise: libpq's own default encrypts if it happens to be possible, and verifies nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shardwise.errors import CatalogError
from shardwise.executor.backends.address import Address, address_of
from shardwise.executor.backends.base import Location
from shardwise.executor.backends.postgres.errors import PORT

PINNED: Mapping[str, str] = {
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "default_transaction_read_only": "on",
}
"""What the text of values and the meaning of statements depend on, whatever a server's or role's defaults."""

_SSL = {
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslcrl": "sslcrl",
    "ssl_ca": "sslrootcert",
    "ssl_cert": "sslcert",
    "ssl_key": "sslkey",
}
_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SECONDS = {"connect_timeout_s": 10.0, "read_timeout_s": 30.0, "statement_timeout_s": 0.0, "idle_s": 300.0}
_OTHERS = ("ssl", "search_path", "idle_max", "application_name", "open_max", "dialect", "version")
_SWITCH = {"verify": "verify-full", "unverified": "require", "off": "disable"}
"""What `ssl` may say, as of a MySQL source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`driver` are the arguments of a connection, without the password.

    `read_timeout_s`: after so long without a byte the server is asked whether it still answers.
    """

    source: str
    address: Address
    password: str | None = field(repr=False)
    driver: Mapping[str, str]
    pinned: Mapping[str, str]
    connect_timeout_s: float
    read_timeout_s: float
    idle_s: float
    idle_max: int

    @classmethod
    def of(cls, location: Location) -> Settings:
        """Raises CatalogError for an option that there is not, or a value that is none of it."""
        address = address_of(location, port=PORT)
        known = {*_SSL, *_SECONDS, *_OTHERS}
        for name in address.options:
            if name not in known:
                raise CatalogError(
                    f'source "{location.source}": a PostgreSQL source has no option "{name}"',
                    hint=f"There are {', '.join(sorted(known))}",
                )
        seconds = {name: _seconds(location, address, name) for name in _SECONDS}
        pinned = dict(PINNED)
        if seconds["statement_timeout_s"]:
            pinned["statement_timeout"] = f"{round(seconds['statement_timeout_s'] * 1000)}ms"
        if "search_path" in address.options:
            pinned["search_path"] = address.options["search_path"]
        idle_max = address.options.get("idle_max", "32")
        if not idle_max.isdecimal():
            raise _no_value(location, "idle_max", "a number of connections")
        return cls(
            source=location.source,
            address=address,
            password=location.password,
            driver=_driver(location, address, pinned, seconds["connect_timeout_s"]),
            pinned=pinned,
            connect_timeout_s=seconds["connect_timeout_s"],
            read_timeout_s=seconds["read_timeout_s"],
            idle_s=seconds["idle_s"],
            idle_max=int(idle_max),
        )


def _driver(
    location: Location, address: Address, pinned: Mapping[str, str], timeout_s: float
) -> dict[str, str]:
    made = {
        "host": address.socket or address.host,
        "port": str(address.port),
        "application_name": address.options.get("application_name", "shardwise"),
        "client_encoding": "UTF8",
        "connect_timeout": str(max(1, round(timeout_s))),
        "gssencmode": "disable",
        "options": " ".join(f"-c {name}={_escaped(value)}" for name, value in pinned.items()),
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        **_ssl(location, address),
    }
    if address.user is not None:
        made["user"] = address.user
    if address.database is not None:
        made["dbname"] = address.database
    return made


def _ssl(location: Location, address: Address) -> dict[str, str]:
    given = {_SSL[name]: value for name, value in address.options.items() if name in _SSL}
    switch = address.options.get("ssl")
    if switch is not None:
        if switch not in _SWITCH:
            raise _no_value(location, "ssl", f"one of {', '.join(_SWITCH)}")
        given.setdefault("sslmode", _SWITCH[switch])
    is_verified = bool(given) or not address.is_loopback
    mode = given.setdefault("sslmode", "verify-full" if is_verified else "prefer")
    if mode not in _MODES:
        raise _no_value(location, "sslmode", f"one of {', '.join(_MODES)}")
    if mode == "verify-full":
        given.setdefault("sslrootcert", "system")
    return given


def _escaped(value: str) -> str:
    """A value in `options`, where blanks part words."""
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


def _seconds(location: Location, address: Address, name: str) -> float:
    value = address.options.get(name)
    if value is None:
        return _SECONDS[name]
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise _no_value(location, name, "a number of seconds")
    return seconds


def _no_value(location: Location, option: str, wanted: str) -> CatalogError:
    return CatalogError(
        f'source "{location.source}": {option} is not {wanted}', hint=f"Write WITH ({option} = …)"
    )
