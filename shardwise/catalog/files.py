"""Catalogs in files: `cluster.sql`, which people edit, and `cluster.lock.sql`, which is read off the sources.

The only file of this package that does I/O.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shardwise.catalog.items import Item, item_key
from shardwise.catalog.language import catalog_of
from shardwise.catalog.model import Catalog, IndexState, JoinIndex, LookupIndex
from shardwise.catalog.printing import print_item
from shardwise.catalog.statements import Script, read_script
from shardwise.errors import CatalogError

if sys.platform != "win32":
    import fcntl


def load(path: str | os.PathLike[str], *, locked: bool = True) -> Catalog:
    """The catalog of a file, with what its lock file knows; raises CatalogError.

    Without `locked` the lock file is not looked at, as when it is about to be written anew: what it
    says may be at odds with what the catalog's file says by now.
    """
    file = Path(path)
    script = _script(file)
    lock = lock_path(file)
    if locked and lock.exists():
        known = read_script(_read(lock), file=str(lock), dialect=script.dialect, is_part=True)
        declared = {item_key(step.what) for step in script.steps if isinstance(step.what, _Index)}
        # An index that was made by a statement is kept in the lock file until the catalog's declares it.
        known.steps = [
            step
            for step in known.steps
            if not (isinstance(step.what, _Index) and item_key(step.what) in declared)
        ]
        script.extend(known)
    return catalog_of(script)


_Index = LookupIndex | JoinIndex


def _script(file: Path) -> Script:
    def include(name: str) -> str:
        return (file.parent / name).read_text(encoding="utf-8-sig")

    return read_script(_read(file), file=str(file), include=include)


def lock_path(path: str | os.PathLike[str]) -> Path:
    """Where the lock file of a catalog's file is: `cluster.sql` → `cluster.lock.sql`."""
    return Path(path).with_suffix(".lock.sql")


def save_lock(catalog: Catalog, path: str | os.PathLike[str]) -> None:
    """Write the lock file beside a catalog's file, whole or not at all.

    Indexes of `catalog` that the file itself does not declare are kept in it, too.
    """
    lock = lock_path(path)
    partial = lock.with_name(lock.name + ".partial")
    text = _LOCK_HEAD + "".join(
        print_item(each, catalog.dialect) + "\n" for each in _undeclared(catalog, path)
    )
    with partial.open("w", encoding="utf-8") as out:
        out.write(text + catalog.lock_to_sql())
        out.flush()
        os.fsync(out.fileno())
    partial.replace(lock)


def read_states(path: str | os.PathLike[str], dialect: str) -> list[IndexState]:
    """How far the indexes are, as the lock file of a catalog's file says now."""
    lock = lock_path(path)
    if not lock.exists():
        return []
    script = read_script(_read(lock), file=str(lock), dialect=dialect, is_part=True)
    return [step.what for step in script.steps if isinstance(step.what, IndexState)]


def update_lock(path: str | os.PathLike[str], change: Callable[[Catalog], Catalog]) -> None:
    """Writes the lock file anew, with what `change` makes of what the files say now.

    Processes that do so at once take turns, so that none undoes what another has kept.
    """
    with _turn(Path(path)):
        save_lock(change(load(path)), path)


def may_save_lock(path: str | os.PathLike[str]) -> bool:
    """Whether the lock file of a catalog's file may be written here."""
    lock = lock_path(path)
    return os.access(lock.parent, os.W_OK) and (not lock.exists() or os.access(lock, os.W_OK))


@contextmanager
def _turn(file: Path) -> Iterator[None]:
    """Where the system has such locks, the folder's: no file is made for it, and it ends with the process."""
    if sys.platform == "win32":
        yield
        return
    folder = os.open(file.resolve().parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _undeclared(catalog: Catalog, path: str | os.PathLike[str]) -> Iterator[Item]:
    """The indexes that were made by statements, and are not in the file that people edit."""
    indexes = catalog.indexes()
    file = Path(path)
    if not indexes or not file.exists():
        return
    declared = {item_key(step.what) for step in _script(file).steps if isinstance(step.what, _Index)}
    yield from (index for index in indexes if item_key(index) not in declared)


_LOCK_HEAD = "-- Read off the sources, or made on them, by shardwise. Do not edit: it is written anew.\n"


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
