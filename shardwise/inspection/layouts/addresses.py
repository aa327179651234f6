"""Where other systems' files say a database is, as a source of ours. Passwords in them are never copied."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from shardwise.catalog.sources import Secret, Source
from shardwise.errors import CatalogError

SECRET = Secret(env="SHARDWISE_PASSWORD")
"""Where the passwords of what was translated are to be put."""
_JDBC = re.compile(
    r"jdbc:(?P<product>mysql|mariadb|postgresql|opengauss):(?:\w+:)?//(?P<at>[^/?]+)/(?P<database>[^?;]*)"
)
_SCHEMES = {"mysql": "mysql", "mariadb": "mysql", "postgresql": "postgresql", "opengauss": "postgresql"}


def jdbc_source(name: str, given: Mapping[str, Any]) -> Source:
    """A data source of ShardingSphere."""
    url = str(given.get("url") or given.get("jdbcUrl") or given.get("standardJdbcUrl") or "")
    found = _JDBC.match(url)
    if found is None:
        raise CatalogError(f'the data source "{name}" has no JDBC URL of MySQL, MariaDB or PostgreSQL')
    return server_source(
        name, _SCHEMES[found["product"]], found["at"], found["database"], given.get("username")
    )


def server_source(name: str, scheme: str, at: str, database: str, user: object) -> Source:
    """A database of a server (`host:port`)."""
    who = f"{quote(str(user), safe='')}@" if user else ""
    url = f"{scheme}://{who}{at}/{quote(database, safe='')}"
    return Source(name=name, url=url, password=SECRET, read_only=True)
