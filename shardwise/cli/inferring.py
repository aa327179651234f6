"""`shardwise catalog infer`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from rich.text import Text

from shardwise.catalog import Catalog
from shardwise.catalog.sources import Secret, Source
from shardwise.cli import console as consoles
from shardwise.cli.console import DEFAULT_CATALOG, failing
from shardwise.dbapi.files import writing
from shardwise.errors import CatalogError
from shardwise.inspection.inferring import Server, Survey, add_schemas, infer, listed
from shardwise.inspection.layouts.draft import Draft
from shardwise.plan.wrap import count_text
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
    with failing(own=_own_words):
        secret = _secret(password_env, password_file)
        draft = inferred(urls, secret)
        text = draft.text()
        if output is None:
            consoles.stdout().print(Text(text), soft_wrap=True, end="")
            return
        if output.exists():
            raise CatalogError(
                f"{output} is there already", hint="Give another file: it is never overwritten"
            )
        with writing(output):
            output.write_text(text, encoding="utf-8")
    found = f"{count_text(len(draft.tables), 'table')} on {count_text(len(draft.sources), 'source')}"
    option = "" if output == DEFAULT_CATALOG else f" -c {quote(str(output))}"
    consoles.stderr().print(
        Text(
            f"wrote {output}: {found}. Read its comments, then:\n"
            f"  shardwise catalog import{option}\n  shardwise catalog check --rows{option}"
        ),
        soft_wrap=True,
    )


def inferred(urls: Sequence[str], secret: Secret | None) -> Draft:
    """The catalog that was found on some servers."""
    servers = [Server.of(url) for url in dict.fromkeys(urls)]
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
            add_schemas(draft, survey.elsewhere(list(sources)))
    return draft


_GIVE = f"{PASSWORD_ENV}, --password-env or --password-file"
_WORDS = (
    (r'^source "server_\d+": ', ""),
    (r"\b([Gg])ive the source a PASSWORD( in the catalog|, and see .*)?", rf"\1ive one by {_GIVE}"),
    (r"\b(its )?PASSWORD in the catalog", f"the password that {_GIVE} gives"),
    (r"\bthe source's URL( in the catalog)?", "the URL"),
)
"""There is no catalog yet, to which messages could send the user."""


def _own_words(text: str) -> str:
    return consoles.rewritten(text, _WORDS)


def _secret(env: str | None, file: Path | None) -> Secret | None:
    if file is not None:
        return Secret(file=str(file))
    if env is not None or PASSWORD_ENV in os.environ:
        return Secret(env=env or PASSWORD_ENV)
    return None


def _word(name: str) -> str:
    text = re.sub(r"\W", "_", name)
    return text if text[:1].isalpha() else f"d_{text}"
