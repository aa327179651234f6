"""The tables that the cases ask about, each set a small world of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.cluster import Alone, By, Everywhere, Sharding, Table, grid, hashed, lists, mod, ranges


@dataclass(frozen=True)
class World:
    """Tables, how they are split, and views over them."""

    name: str
    tables: Sequence[Table]
    shardings: Sequence[Sharding]
    views: Sequence[str] = ()


# People, their movements and comments on these; a reference table, a single one, an empty one.
MEMBERS = World(
    "members",
    [
        Table(
            "u",
            "id BIGINT, name VARCHAR, grp INTEGER",
            By("by_id", "id"),
            [
                (1, "ann", 10),
                (2, "bob", 10),
                (3, "cyd", 20),
                (4, "dan", None),
                (5, "eve", 20),
                (6, "fay", None),
            ],
        ),
        Table(
            "m",
            "id BIGINT, uid BIGINT, amt INTEGER",
            By("by_id", "uid"),
            [(101, 1, 7), (102, 1, 3), (103, 2, 7), (104, 3, 5), (105, 3, None), (106, 9, 8), (107, 8, 2)],
        ),
        Table(
            "c",
            "id BIGINT, mid BIGINT, txt VARCHAR",
            By("by_id", "id"),
            [(1, 101, "x"), (2, 103, "y"), (3, 103, "x"), (4, 104, "z"), (5, 999, "x")],
        ),
        Table(
            "r",
            "id BIGINT, label VARCHAR",
            Everywhere("by_id"),
            [(1, "one"), (2, "two"), (7, "seven"), (8, "eight")],
        ),
        Table("s", "k VARCHAR, v INTEGER", Alone(), [("a", 1), ("b", 110)]),
        Table("p", "k BIGINT", By("by_id", "k"), [(n,) for n in range(1, 6)]),
        Table("q", "k BIGINT", By("by_id", "k"), [(n,) for n in range(5, 10)]),
        Table("g", "x INTEGER, y INTEGER", By("by_id", "x"), [(n, 1) for n in range(1, 11)]),
        Table("e", "a BIGINT, b BIGINT", By("by_id", "a"), [(1, 2), (2, 3), (3, 1), (4, 4), (6, 5)]),
        Table(
            "big",
            "id BIGINT, v BIGINT",
            By("by_id", "id"),
            [(1, 9223372036854775000), (2, 9223372036854775000), (3, -5)],
        ),
        Table("nobody", "id BIGINT, v INTEGER", By("by_id", "id")),
    ],
    [mod("by_id")],
)

_T_ROWS = [
    # k, id, g1, g2, v, f, s
    (0, 1, "x", 1, 10, 1.5, "Ann"),
    (1, 2, "x", 2, 20, 2.5, "ann"),
    (2, 3, "y", 1, 30, -0.0, "B"),
    (3, 4, "y", None, 40, 0.0, "b"),
    (4, 5, None, 1, 50, None, "a"),
    (5, 6, None, None, 60, float("nan"), "C"),
    (6, 7, "x", 1, None, 1e9 + 1, "c"),
    (7, 8, "z", 3, 70, 1e9 + 2, "A"),
    (None, 9, "z", 3, 5, 1e9 + 3, None),
    (None, 10, None, 2, 15, None, "ab"),
    (2, 11, "x", 2, 25, 7.25, "aB"),
    (5, 12, "y", 3, 60, 7.25, "Ab"),
    (12, 13, "w", 9, 1, 3.0, "zz"),
]

# a, b, c and t are split by k alike, NULL on the first shard with the even keys; n and r are copied.
LETTERS = World(
    "letters",
    [
        Table(
            "a",
            "k BIGINT, x INTEGER, v INTEGER, t VARCHAR",
            By("by_k", "k"),
            [
                (1, 1, 10, "n"),
                (2, 1, 20, "s"),
                (2, 9, 21, "n"),
                (3, 2, None, "s"),
                (4, None, 5, "n"),
                (5, 5, 50, "s"),
                (6, 3, 7, "n"),
                (None, 1, 3, "n"),
                (None, None, 4, "s"),
                (7, 4, 10, "n"),
            ],
        ),
        Table(
            "b",
            "k BIGINT, x INTEGER, v INTEGER",
            By("by_k", "k"),
            [
                (1, 5, 1),
                (2, 1, 2),
                (3, 3, 3),
                (5, 2, 4),
                (8, 2, 5),
                (9, None, 6),
                (None, 4, 7),
                (4, 4, None),
                (2, 5, 8),
            ],
        ),
        Table("c", "k BIGINT", By("by_k", "k"), [(2,), (3,), (4,), (None,), (11,)]),
        Table(
            "t",
            "k BIGINT, id BIGINT, g1 VARCHAR, g2 INTEGER, v INTEGER, f DOUBLE, s VARCHAR",
            By("by_k", "k"),
            _T_ROWS,
        ),
        Table(
            "e",
            "src BIGINT, dst BIGINT",
            By("by_k", "src"),
            [(1, 2), (2, 3), (3, 4), (4, 1), (6, 5), (8, None)],
        ),
        Table(
            "o",
            "id BIGINT, c BIGINT, v INTEGER",
            By("by_k", "id"),
            [(1, 1, 5), (2, 1, 9), (3, 2, 7), (4, 2, 7), (5, 4, 1), (6, None, 8), (7, 1, 9)],
        ),
        Table(
            "n",
            "c BIGINT, name VARCHAR, region VARCHAR",
            Everywhere("by_k"),
            [(1, "one", "eu"), (2, "two", "eu"), (3, "three", "us"), (4, "four", "eu"), (None, "none", "us")],
        ),
        Table(
            "r", "c BIGINT, label VARCHAR", Everywhere("by_k"), [(1, "x"), (2, "y"), (10, "w"), (20, None)]
        ),
        Table("one_row", "x INTEGER", Alone(), [(1,)]),
        Table("nothing", "k BIGINT, x INTEGER", By("by_k", "k")),
        Table(
            "far",
            "k BIGINT, v INTEGER",
            By("by_k", "k"),
            # Nearly all rows on one shard, a few high values on the others.
            [(126 * n, n) for n in range(60)] + [(126 * n + 1, 1000 + n) for n in range(3)],
        ),
        Table(
            "t1",
            "p INTEGER, q INTEGER, w INTEGER",
            By("by_pq", "p", "q"),
            [(n % 4, n % 5, n) for n in range(12)],
        ),
        Table(
            "t2",
            "p INTEGER, q INTEGER, w INTEGER",
            By("by_pq", "p", "q"),
            [(n % 5, n % 4, n) for n in range(12)],
        ),
        Table(
            "txt",
            "k VARCHAR, v INTEGER",
            By("by_text", "k"),
            [("1", 1), ("01", 2), ("1.0", 3), (" 1", 4), ("A", 5), ("a", 6), ("a ", 7), (None, 8), ("", 9)],
        ),
        Table(
            "txt2",
            "k VARCHAR, w INTEGER",
            By("by_text", "k"),
            [("1", 10), ("A", 50), ("b", 60), (None, 80), ("", 90)],
        ),
        Table(
            "dbl",
            "k DOUBLE, v INTEGER",
            By("by_real", "k"),
            [(0.0, 1), (-0.0, 2), (1.0, 3), (1.5, 4), (float("nan"), 5), (None, 6)],
        ),
        Table(
            "dec",
            "k DECIMAL(9,2), v INTEGER",
            By("by_decimal", "k"),
            [("1.00", 1), ("1.50", 2), ("0.00", 3), ("-1.00", 4), (None, 5)],
        ),
        Table(
            "rg",
            "k INTEGER, v INTEGER",
            By("by_range", "k"),
            [(n, n % 3) for n in range(-3, 25)] + [(None, 9)],
        ),
        Table(
            "ls",
            "region VARCHAR, v INTEGER",
            By("by_region", "region"),
            [("eu", 1), ("uk", 2), ("us", 3), ("jp", 4), (None, 5), ("eu", 6), ("EU", 7)],
        ),
    ],
    [
        mod("by_k"),
        grid("by_pq"),
        hashed("by_text", "crc32"),
        hashed("by_real", "xxhash64"),
        hashed("by_decimal", "murmur3"),
        ranges("by_range", [2, 5, 10, 20]),
        lists("by_region", [("eu", "uk"), ("us",), ("cn", "kr")]),
    ],
)
