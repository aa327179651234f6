"""`shardwise catalog infer`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from shardwise.catalog import Catalog
from shardwise.catalog.sources import Secret, Source
from shardwise.cli import console as consoles
from shardwise.cli.console import failing
from shardwise.dbapi.files import writing
from shardwise.errors import CatalogError
from shardwise.inspection.inferring import Server, Survey, infer, listed
from shardwise.session import open as open_cluster

PASSWORD_ENV = "SHARDWISE_PASSWORD"  # noqa: S105  the name of a variable


def infer_(
    urls: Annotated[
        list[str], typer.Argument(metavar="URL...", help="Servers: mysql://user@host, or …/shop_* of it.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the catalog there, not to the screen.")
    ] = None,
    password_env: Annotated[
        str | None, typer.Option("--password-env", help=f"The variable with the password ({PASSWORD_ENV}).")
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="The file with the password.")
    ] = None,
) -> None:
    """Find out how databases and tables are laid out, and print a catalog with the evidence.

    Reads a sample of the rows (20,000 in all), and needs SELECT rights only. Check what it says with
    `shardwise catalog check --rows` before you rely on it.
    """
    with failing():
        secret = _secret(password_env, password_file)
        text = inferred(urls, secret)
        if output is None:
            consoles.stdout().print(Text(text), soft_wrap=True, end="")
            return
        if output.exists():
            raise CatalogError(
                f"{output} is there already", hint="Give another file: it is never overwritten"
            )
        with writing(output):
            output.write_text(text, encoding="utf-8")
    consoles.stderr().print(
        Text(f"wrote {output}; now: shardwise catalog import -c {output}, then catalog check --rows")
    )


def inferred(urls: Sequence[str], secret: Secret | None) -> str:
    """The text of the catalog that was found on some servers."""
    servers = [Server.of(url) for url in urls]
    dialect = servers[0].dialect
    if any(server.dialect != dialect for server in servers):
        raise CatalogError("these are servers of several products", hint="Infer them one by one")
    roots = {f"server_{at}": server for at, server in enumerate(servers)}
    items = tuple(server.root(name, secret) for name, server in roots.items())
    errors = consoles.stderr()
    sources: dict[str, Source] = {}
    with errors.status("listing databases"), open_cluster(Catalog(dialect=dialect, items=items)) as cluster:
        for root, server in roots.items():
            for database in listed(server, cluster.open_source, root):
                name = _word(database)
                while name in sources:
                    name += "_b"
                sources[name] = server.source(name, database, secret)
    if not sources:
        raise CatalogError("no database matches", hint="A user sees only what it has rights on")
    catalog = Catalog(dialect=dialect, items=tuple(sources.values()))
    with errors.status("reading") as status, open_cluster(catalog) as cluster:
        survey = Survey(cluster.open_source, dialect, lambda name: status.update(f"reading {name}"))
        with closing(survey):
            draft = infer(
                survey.members(list(sources)),
                list(sources.values()),
                survey,
                name="found",
                dialect=dialect,
                on_family=lambda name: status.update(f"trying {name}"),
            )
    return draft.text()


def _secret(env: str | None, file: Path | None) -> Secret | None:
    if file is not None:
        return Secret(file=str(file))
    if env is not None or PASSWORD_ENV in os.environ:
        return Secret(env=env or PASSWORD_ENV)
    return None


def _word(name: str) -> str:
    text = re.sub(r"\W", "_", name)
    return text if text[:1].isalpha() else f"d_{text}"
