"""Catalogs in files: `cluster.sql`, which people edit, and `cluster.lock.sql`, which is read off the sources.

The only file of this package that does I/O.
"""

from __future__ import annotations

import os
from pathlib import Path

from shardwise.catalog.language import catalog_of
from shardwise.catalog.model import Catalog
from shardwise.catalog.statements import read_script
from shardwise.errors import CatalogError


def load(path: str | os.PathLike[str], *, locked: bool = True) -> Catalog:
    """The catalog of a file, with what its lock file knows; raises CatalogError.

    Without `locked` the lock file is not looked at, as when it is about to be written anew: what it
    says may be at odds with what the catalog's file says by now.
    """
    file = Path(path)

    def include(name: str) -> str:
        return (file.parent / name).read_text(encoding="utf-8-sig")

    script = read_script(_read(file), file=str(file), include=include)
    lock = lock_path(file)
    if locked and lock.exists():
        script.extend(read_script(_read(lock), file=str(lock), dialect=script.dialect, is_part=True))
    return catalog_of(script)


def lock_path(path: str | os.PathLike[str]) -> Path:
    """Where the lock file of a catalog's file is: `cluster.sql` → `cluster.lock.sql`."""
    return Path(path).with_suffix(".lock.sql")


def save_lock(catalog: Catalog, path: str | os.PathLike[str]) -> None:
    """Write the lock file beside a catalog's file, whole or not at all."""
    lock = lock_path(path)
    partial = lock.with_name(lock.name + ".partial")
    partial.write_text(_LOCK_HEAD + catalog.lock_to_sql(), encoding="utf-8")
    partial.replace(lock)


_LOCK_HEAD = "-- Read off the sources by `shardwise catalog import`. Do not edit: it is written anew.\n"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CatalogError(
            f'there is no catalog file "{file}"', hint="Give the path of a cluster.sql"
        ) from None
    except UnicodeDecodeError:
        raise CatalogError("the file is not UTF-8 text", file=str(file)) from None
    except OSError as error:
        raise CatalogError(f'cannot read "{file}": {error.strerror}') from error
