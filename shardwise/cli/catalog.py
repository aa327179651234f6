"""`shardwise catalog analyze | check | import | infer | format`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from shardwise.catalog import Catalog, lock_path, save_lock
from shardwise.cli import console as consoles
from shardwise.cli.console import DEFAULT_CATALOG, Exit, failing
from shardwise.cli.inferring import infer_
from shardwise.dbapi.files import writing
from shardwise.inspection import Extent, Finding, Imported, check, import_tables
from shardwise.inspection.layouts import translate
from shardwise.plan.wrap import count_text
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from shardwise.session.analyzing import Analyzed
from shardwise.session.clock import now

app = typer.Typer(
    help="Read a catalog off its sources, check it against them, or print it.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("infer")(infer_)

CatalogPath = Annotated[
    Path, typer.Option("-c", "--catalog", envvar="SHARDWISE_CATALOG", help="The catalog file.")
]
Only = Annotated[list[str] | None, typer.Argument(metavar="[TABLE]...", help="Only these tables.")]


def existing(catalog: Path) -> Path:
    """The catalog's path; a missing file is wrong usage."""
    if not catalog.is_file():
        raise typer.BadParameter(
            f"no catalog {catalog}: give --catalog FILE, set SHARDWISE_CATALOG, or try `shardwise demo`"
        )
    return catalog


@app.command("import")
def import_(
    tables: Only = None,
    catalog: CatalogPath = DEFAULT_CATALOG,
    stdout: Annotated[bool, typer.Option("--stdout", help="Print the lock file, do not write it.")] = False,
    other: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Print a catalog made of another system's file: ShardingSphere's YAML, Vitess's "
            "vschema.json, Mycat's or Cobar's schema.xml and rule.xml (--from twice).",
        ),
    ] = None,
    shards: Annotated[
        str, typer.Option("--shards", help="With vschema.json: the keyspace's shards, as -80,80-.")
    ] = "",
) -> None:
    """Read columns, keys and row counts off the sources into the lock file beside the catalog."""
    if other:
        with failing():
            text = translate(other, shards=[each for each in shards.split(",") if each]).text()
        consoles.stdout().print(Text(text), soft_wrap=True, end="")
        return
    path = existing(catalog)
    errors = consoles.stderr()
    with failing(), open_cluster(path) as cluster:
        imported, read = read_off(cluster, tables or [], errors)
        if stdout:
            consoles.stdout().print(Text(read.lock_to_sql()), soft_wrap=True, end="")
        else:
            with writing(lock_path(path)):
                save_lock(read, path)
    _show_findings(errors, list(imported.findings))
    rows = sum(table.rows or 0 for table in imported.tables)
    told = f"{count_text(len(imported.tables), 'table')}, {count_text(rows, 'row')}"
    errors.print(Text(f"read {told}" + ("" if stdout else f" into {lock_path(path)}")))
    if any(finding.is_error for finding in imported.findings):
        raise typer.Exit(Exit.DRIFT)


def read_off(cluster: Cluster, tables: list[str], errors: Console) -> tuple[Imported, Catalog]:
    """What the sources say, and the catalog with it; what is known of tables not asked for stays."""
    with errors.status("reading") as status:
        imported = import_tables(
            cluster.listed(),
            cluster.open_source,
            read_at=now(),
            only=tables,
            on_table=lambda t: status.update(f"reading {t}"),
        )
    return imported, cluster.declared.with_(*imported.tables)


@app.command("analyze")
def analyze_(
    tables: Only = None,
    catalog: CatalogPath = DEFAULT_CATALOG,
    from_sources: Annotated[
        bool, typer.Option("--from-sources", help="Take what the sources know without reading rows.")
    ] = False,
    without_values: Annotated[
        bool, typer.Option("--without-values", help="Keep no value of a row: no bounds, no common values.")
    ] = False,
) -> None:
    """Collect statistics of tables into the lock file: the planner's estimates rest on them."""
    path = existing(catalog)
    errors = consoles.stderr()
    with failing(), open_cluster(path) as cluster:
        with errors.status("reading") as status:
            done = cluster.analyze(
                *(tables or ()),
                from_sources=from_sources,
                values=not without_values,
                on_table=lambda t: status.update(f"reading {t}"),
            )
        for each in done:
            consoles.stdout().print(Text(_analyzed_text(each)), soft_wrap=True)
    kept = {each.kept_in for each in done}
    for place in kept:
        errors.print(Text(f"into {place}" if place else f"{lock_path(path)} cannot be written: not kept"))
    if None in kept:
        raise typer.Exit(Exit.FAILED)


def _analyzed_text(done: Analyzed) -> str:
    statistics = done.statistics
    known = count_text(len(statistics.columns), "column")
    text = f"{statistics.full_name}: {count_text(statistics.rows, 'row')}, {known} ({done.looked_at})"
    if done.left_out:
        left_out = (f"{name} ({kind})" for name, kind in done.left_out.items())
        text += f"; without the values of {', '.join(left_out)}"
    return text


@app.command("check")
def check_(
    tables: Only = None,
    catalog: CatalogPath = DEFAULT_CATALOG,
    rows: Annotated[
        bool, typer.Option("--rows", help="Look at all rows, and at unique keys and reference tables.")
    ] = False,
) -> None:
    """Tell where the sources differ from the catalog, and which rows are on the wrong shard.

    Without --rows a thousand rows of each physical table are looked at.
    """
    path = existing(catalog)
    screen = consoles.stdout()
    extent = Extent(sample_rows=None, keys=True) if rows else Extent()
    found = []
    looked: list[str] = []
    with failing(), open_cluster(path) as cluster:
        for finding in check(
            cluster.listed(), cluster.open_source, extent, only=tables or [], on_table=looked.append
        ):
            _show_findings(screen, [finding])
            found.append(finding)
    count = sum(finding.is_error for finding in found)
    checked = f"{count_text(len(looked), 'table')} checked, " + (
        "all rows" if rows else "a sample of the rows"
    )
    screen.print(
        Text(f"{checked}: {count_text(count, 'difference') if count else 'all as the catalog says'}")
    )
    if count:
        raise typer.Exit(Exit.DRIFT)


def _show_findings(screen: Console, findings: list[Finding]) -> None:
    for finding in findings:
        style = "bold red" if finding.is_error else "yellow"
        kind, _, rest = str(finding).partition(": ")
        screen.print(Text.assemble((kind, style), ": ", rest), soft_wrap=True)


@app.command("format")
def format_(
    catalog: CatalogPath = DEFAULT_CATALOG,
    write: Annotated[bool, typer.Option("--write", help="Rewrite the file.")] = False,
) -> None:
    """Print the catalog in its normal form, included files put in, comments left out.

    --write refuses a file with comments or INCLUDE: they would be lost.
    """
    path = existing(catalog)
    with failing(), open_cluster(path) as cluster:
        text = cluster.declared.to_sql(locked=False)
    if not write:
        consoles.stdout().print(Text(text), soft_wrap=True, end="")
        return
    if _would_lose(path.read_text(encoding="utf-8")):
        consoles.stderr().print(Text(f"{path} has comments or INCLUDE, which the normal form does not keep"))
        raise typer.Exit(Exit.FAILED)
    with failing(), writing(path):
        path.write_text(text, encoding="utf-8")


_LOST = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|(?P<lost>--|/\*|\binclude\s+')", re.IGNORECASE)


def _would_lose(text: str) -> bool:
    return any(match["lost"] for match in _LOST.finditer(text))
