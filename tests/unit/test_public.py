"""The public names, and nothing else."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator

import shardwise

NAMES = {
    # PEP 249
    *("apilevel", "threadsafety", "paramstyle", "connect", "Connection", "Cursor"),
    *(
        "Warning",
        "Error",
        "InterfaceError",
        "DatabaseError",
        "DataError",
        "OperationalError",
        "IntegrityError",
    ),
    *("InternalError", "ProgrammingError", "NotSupportedError"),
    *("Date", "Time", "Timestamp", "DateFromTicks", "TimeFromTicks", "TimestampFromTicks", "Binary"),
    *("STRING", "BINARY", "NUMBER", "DATETIME", "ROWID"),
    # finer errors
    *("SQLSyntaxError", "UnknownName", "CatalogError", "Unplannable", "ShardUnavailable", "DeadlineExceeded"),
    *("BudgetExceeded", "Cancelled", "Reason", "Position"),
    # shardwise
    *("open", "Cluster", "Catalog", "Options", "Explanation", "__version__"),
}


def test_all_is_exactly_the_public_names() -> None:
    assert set(shardwise.__all__) == NAMES
    assert len(shardwise.__all__) == len(NAMES)
    assert dir(shardwise) == sorted(NAMES)


def test_every_public_name_is_there() -> None:
    for name in shardwise.__all__:
        assert getattr(shardwise, name) is not None


def test_users_meet_no_other_errors() -> None:
    """A finer class that is not public would be a name that no page explains."""
    for module in pkgutil.walk_packages(shardwise.__path__, "shardwise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    inside = {
        "MisfitError",  # made a DataError once shard, table and column are known
        "MembersNeeded",  # the session lists the members, and plans again
    }
    assert {each.__name__ for each in _below(shardwise.Error)} - NAMES == inside


def _below(kind: type[Exception]) -> Iterator[type[Exception]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("shardwise."):
            yield each
            yield from _below(each)


def test_pep_249_globals() -> None:
    assert (shardwise.apilevel, shardwise.threadsafety, shardwise.paramstyle) == ("2.0", 2, "qmark")


def test_importing_the_package_imports_no_engine() -> None:
    code = "import shardwise, sys; sys.exit(bool({'duckdb', 'pyarrow', 'numpy', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
