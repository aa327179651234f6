"""Folders of Parquet as sources: `parquet:///dir`. Table t is `dir/t.parquet` or `dir/t/**/*.parquet`.

The views are made when the folder is opened, so that a request just names its table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shardwise.errors import Error, ShardUnavailable
from shardwise.executor import duck
from shardwise.executor.backends.base import Location, ReadColumn, SourceOptions
from shardwise.executor.backends.duckdb import DuckDBSource, settings, translate_error
from shardwise.executor.conform import suits


class ParquetBackend:
    """`parquet:///dir`, read by a DuckDB that may read that directory and nothing else."""

    name = "parquet"
    dialect = "duckdb"

    def open(self, location: Location, options: SourceOptions) -> DuckDBSource:
        folder = Path(location.path)
        if not folder.is_dir():
            what = "is not a directory" if folder.exists() else "does not exist"
            raise ShardUnavailable(
                f'source "{location.source}": folder "{folder}" {what}',
                hint="Check the source's URL in the catalog; opening never makes a folder",
                is_missing=not folder.exists(),
            )
        folder = folder.resolve()
        views = [
            f"CREATE VIEW {duck.identifier(name)} AS SELECT * FROM read_parquet({duck.literal(str(files))})"
            for name, files in tables(folder)
        ]
        allowed = [f"{folder}/"]
        return DuckDBSource(
            duck.connect(":memory:", settings(location, options), setup=views, allowed_directories=allowed)
        )

    def suits(self, found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
        return suits(found, column, normal)

    def translate_error(self, error: BaseException, location: Location) -> Error:
        return translate_error(error, location)

    def is_transient(self, error: Error) -> bool:
        return False


def tables(folder: Path) -> list[tuple[str, Path]]:
    """Tables by name, and the file or pattern of each. A file goes before a folder of the same name."""
    found: dict[str, Path] = {}
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and next(entry.rglob("*.parquet"), None) is not None:
            found.setdefault(entry.name, entry / "**" / "*.parquet")
        elif entry.suffix == ".parquet" and entry.is_file():
            found[entry.stem] = entry
    return list(found.items())
