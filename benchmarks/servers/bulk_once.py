"""Reads rows of lineitem in a process of its own and says how much memory that took: see `bulk.memory`.

There are as many as are asked for: the table is read over and over, by a join with numbers.
"""

from __future__ import annotations

import json
import os
import sys

from benchmarks.once import peak
from benchmarks.servers.bulk import SQL, WANTED
from benchmarks.servers.places import PASSWORD
from shardwise.executor.backends import backend_of
from shardwise.executor.backends.base import Location, SourceOptions

NUMBERS = {
    "mysql": "CROSS JOIN seq_1_to_1000",
    "postgresql": "CROSS JOIN generate_series(1, 1000)",
}


def main(url: str, rows: int) -> None:
    location = Location(source="one", url=url, password=os.environ[PASSWORD])
    source = backend_of(location.scheme, location.source).open(location, SourceOptions())
    connection = source.connect("UTC")
    sql = f"{SQL} {NUMBERS[location.scheme]} LIMIT {rows}"
    found = sum(batch.num_rows for batch in connection.arrow(sql, {}, 16_384, WANTED))
    connection.close()
    source.close()
    assert found == rows
    print(json.dumps({"peak": peak()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
