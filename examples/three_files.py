"""Three DuckDB files, one question: everything in one script, catalog included.

python examples/three_files.py
"""

import tempfile
from pathlib import Path

import duckdb

import shardwise

CATALOG = """
CREATE SOURCE y{year} FOR year IN 2023-2025 URL 'duckdb:///sales_{year}.duckdb' READ ONLY;

-- A file per year: a row is in the file of its day. NULL would be in the first.
CREATE SHARDING by_day USING RANGE (
  y2023 = LESS THAN '2024-01-01',
  y2024 = LESS THAN '2025-01-01',
  y2025 = LESS THAN MAXVALUE
);

-- With the columns written here, no `shardwise catalog import` is needed.
ATTACH TABLE sales (day DATE NOT NULL, shop VARCHAR NOT NULL, amount DECIMAL(9,2)) SHARD BY by_day (day);
"""

QUESTIONS = [
    # A range of the shard key: only the files of 2024 and 2025 are asked.
    "SELECT shop, sum(amount) AS total FROM sales WHERE day >= DATE '2024-07-01' GROUP BY shop",
    # The best day of each shop, over all years: a window over rows of all files.
    "SELECT * FROM sales QUALIFY row_number() OVER (PARTITION BY shop ORDER BY amount DESC) = 1",
]


def make_files(folder: Path) -> None:
    for year in (2023, 2024, 2025):
        with duckdb.connect(str(folder / f"sales_{year}.duckdb")) as db:
            db.execute("CREATE TABLE sales (day DATE NOT NULL, shop VARCHAR NOT NULL, amount DECIMAL(9,2))")
            db.execute(
                "INSERT INTO sales SELECT make_date(?, 1, 1) + CAST(i // 3 AS INTEGER), "
                "['north', 'south', 'west'][1 + i % 3], (i * 7919 + ?) % 10000 / 100 FROM range(1095) t(i)",
                [year, year],
            )
    (folder / "cluster.sql").write_text(CATALOG, encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        with shardwise.connect(folder / "cluster.sql") as con:
            for sql in QUESTIONS:
                cursor = con.execute(sql)
                rows = "\n".join(", ".join(map(str, row)) for row in cursor)
                print(f"{sql}\n\n{rows}\n\n{cursor.stats.rows_moved} rows moved\n\n{con.explain(sql)}\n")


if __name__ == "__main__":
    main()
