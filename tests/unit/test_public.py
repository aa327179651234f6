"""The public names, and nothing else."""

from __future__ import annotations

import subprocess
import sys

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


def test_pep_249_globals() -> None:
    assert (shardwise.apilevel, shardwise.threadsafety, shardwise.paramstyle) == ("2.0", 2, "qmark")


def test_importing_the_package_imports_no_engine() -> None:
    code = "import shardwise, sys; sys.exit(bool({'duckdb', 'pyarrow', 'numpy', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
