"""A server's URL taken apart."""

from __future__ import annotations

import pytest

from shardwise.errors import CatalogError
from shardwise.executor.backends.address import address_of
from shardwise.executor.backends.base import Location


def test_all_parts() -> None:
    url = "mysql://re%40port@10.0.0.9:3307/my%2Fdb?ssl=off&socket="
    found = address_of(Location(source="s", url=url, options={"ssl": "on", "a": "b"}), port=3306)
    assert (found.user, found.host, found.port, found.database) == ("re@port", "10.0.0.9", 3307, "my/db")
    assert found.options == {"ssl": "off", "a": "b"}
    assert not found.is_loopback


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.3.4.5", "[::1]"])
def test_loopback(host: str) -> None:
    found = address_of(Location(source="s", url=f"postgresql://{host}/db"), port=5432)
    assert found.is_loopback
    assert (found.port, found.user) == (5432, None)


def test_a_port_that_is_none() -> None:
    with pytest.raises(CatalogError, match='source "s": its URL cannot be read'):
        address_of(Location(source="s", url="mysql://host:99999999/db"), port=3306)
