"""A PostgreSQL source where psycopg is not installed."""

from __future__ import annotations

import subprocess
import sys


def test_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from shardwise.errors import NotSupportedError\n"
        "from shardwise.executor.backends import backend_of\n"
        "try:\n    backend_of('postgresql', 'a')\n"
        "except NotSupportedError as error:\n    print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "shardwise[postgres]"' in found.stdout


def test_a_catalog_of_the_postgres_dialect_says_so_too() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import shardwise\n"
        "from shardwise.catalog import parse\n"
        "text = \"CREATE CATALOG c DIALECT postgres; CREATE SOURCE a URL 'postgresql://h/d';\"\n"
        "try:\n    shardwise.open(parse(text)).connect()\n"
        "except shardwise.NotSupportedError as error:\n    print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "shardwise[postgres]"' in found.stdout
