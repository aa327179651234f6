"""Reads rows of lineitem in a process of its own, and drops them: see `bulk.alone`.

There are as many as are asked for: the table is read over and over, by a view that joins it with numbers.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter

from benchmarks.once import peak
from benchmarks.servers.bulk import READERS, repeated
from benchmarks.servers.places import Placed


def main(reader: str, rows: int, place: Placed) -> None:
    with READERS[place.product][reader](place) as read:
        start = perf_counter()
        found = sum(batch.num_rows for batch in read(repeated(rows)))
        seconds = perf_counter() - start
    assert found == rows
    print(json.dumps({"peak": peak(), "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Placed(**json.loads(sys.argv[3])))
