"""Where a database server is: a source's URL, taken apart by us, so that no driver echoes it in an error.

    mysql://report@10.0.0.9:3306/shop?ssl=off

A password is never part of it: the catalog refuses a URL with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlsplit

from shardwise.errors import CatalogError
from shardwise.executor.backends.base import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A database of a server. `socket` is the path of a Unix socket, used in place of host and port."""

    host: str
    port: int
    user: str | None
    database: str | None
    socket: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def server(self) -> str:
        """What the limits of a server are counted by."""
        return self.socket or f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether nothing leaves this machine."""
        if self.socket is not None or self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


_PORTS = {"mysql": 3306, "mariadb": 3306, "postgresql": 5432, "postgres": 5432}


def server_of(location: Location) -> str | None:
    """The server that a source is on, by what limits count it; None of a source that is a file."""
    if location.url.partition(":")[2].startswith("///"):
        return None
    return address_of(location, port=_PORTS.get(location.scheme, 0)).server


def address_of(location: Location, *, port: int) -> Address:
    """The address in a source's URL; `port` is the product's own. Options of the URL go before `WITH (…)`."""
    try:
        parts = urlsplit(location.url)
        given = parts.port
    except ValueError as error:
        raise CatalogError(
            f'source "{location.source}": its URL cannot be read',
            hint="Write 'mysql://user@host:port/database'; % and / in a name as %25 and %2F",
        ) from error
    options = {**location.options, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    socket = options.pop("socket", "") or None
    return Address(
        host=unquote(parts.hostname or "localhost"),
        port=given or port,
        user=unquote(parts.username) if parts.username else None,
        database=unquote(parts.path.lstrip("/")) or None,
        socket=socket,
        options=options,
    )
