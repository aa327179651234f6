"""The tables that the cases ask about, each set a small world of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

from tests.oracle.cluster import (
    Alone,
    By,
    Everywhere,
    Scattered,
    Sharding,
    Table,
    With,
    grid,
    hashed,
    lists,
    mod,
    ranges,
)


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


def _shop() -> World:
    """Every kind of table, many types, NULL keys, duplicates, empty shards. Random, but always the same."""
    random = Random(20261130)
    pick, chance = random.choice, random.random

    def maybe(value: object, null: float = 0.12) -> object:
        return None if chance() < null else value

    def moment() -> datetime:
        return datetime(2025, 1, 1) + timedelta(hours=random.randrange(24 * 120), minutes=pick([0, 15, 30]))

    names = ["ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ida", "joe", "Kim", "lea"]
    users = [
        (
            n if n not in (13, 26) else None,
            maybe(pick(names)),
            maybe(pick([10, 20, 30, 40])),
            maybe(random.randrange(-8, 40) / 4),
            maybe(date(1960 + random.randrange(45), random.randrange(1, 13), random.randrange(1, 28))),
            maybe(chance() < 0.6),
        )
        for n in range(1, 31)
    ]
    # An order's number is its user's plus a multiple of 126, which every number of slots here divides.
    owners = [maybe(random.randrange(1, 36), 0.06) for _ in range(60)]
    orders = [
        (
            (0 if uid is None else uid) + 126 * (n + 1),
            uid,
            maybe(Decimal(random.randrange(100, 9000)) / 100),
            moment(),
            maybe(pick(["new", "paid", "sent", "void"])),
        )
        for n, uid in enumerate(owners)
    ]
    skus = ["pen", "ink", "pad", "cup", "bag", "Ãrt"]
    items = [
        (
            maybe(pick(orders)[0], 0.05),
            random.randrange(1, 5),
            maybe(pick(skus)),
            random.randrange(1, 9),
            maybe(Decimal(random.randrange(10, 4000)) / 100),
        )
        for _ in range(90)
    ]
    events = [
        (
            maybe(random.randrange(1, 36), 0.1),
            moment(),
            maybe(pick(["view", "click", "buy"])),
            maybe(random.randrange(-100, 100) / 8),
            maybe(random.sample(["red", "green", "blue", "x"], random.randrange(0, 4))),
        )
        for _ in range(80)
    ]
    logs = [(n, pick(["info", "warn", "error"]), maybe(f"message {n % 7}")) for n in range(24)]
    countries = [("fr", "France", 65), ("de", "Germany", 83), ("jp", "Japan", 125), ("is", "Iceland", None)]
    colors = [(1, "red"), (2, "green"), (3, None)]
    settings = [("lang", "en"), ("zone", "utc"), ("limit", "20")]
    codes = ["par", "lyo", "ber", "muc", "tok", "osa", "rey", "nyc", "PAR", ""]
    cities = [
        (code, maybe(pick(["fr", "de", "jp", "us"])), maybe(random.randrange(1, 30) * 100000))
        for code in codes
    ]
    cities += [(None, "fr", 5), (None, None, 7), ("ber", "de", 42)]
    sales = [
        (
            maybe(pick(["eu", "uk", "us", "jp", "kr"])),
            date(2025, random.randrange(1, 7), 1),
            random.randrange(50),
        )
        for _ in range(40)
    ]
    temps = [
        (maybe(random.randrange(-10, 40), 0.08), maybe(random.randrange(-20, 90) / 2)) for _ in range(45)
    ]
    cells = [(maybe(random.randrange(5), 0.1), maybe(random.randrange(5), 0.1), n) for n in range(30)]
    docs = """
      SELECT i AS id, CASE WHEN i % 5 <> 0 THEN {'a': (i % 3)::INTEGER, 'b': 'b' || (i % 4)} END AS body,
        CASE WHEN i % 4 <> 0 THEN MAP {'x': (i % 3)::INTEGER, 'y': i::INTEGER} END AS m,
        CASE WHEN i % 6 <> 0 THEN json_object('k', i % 3, 's', 'v' || i) END AS j,
        ('00000000-0000-0000-0000-0000000000' || lpad((i % 7)::VARCHAR, 2, '0'))::UUID AS u,
        encode('b' || (i % 3)) AS b, to_days((i % 4)::INTEGER) AS iv,
        170141183460469231731687303715884105000::HUGEINT + i AS h,
        CASE i % 4 WHEN 0 THEN 'lo' WHEN 1 THEN 'mid' WHEN 2 THEN 'hi' END AS e,
        TIME '08:00:00' + to_minutes(i * 7) AS t, TIMESTAMPTZ '2025-03-30 00:30:00+00' + to_hours(i) AS tz,
        (i * 1.25)::FLOAT AS f4, (i % 100)::TINYINT AS i1, (i * 11)::UINTEGER AS u4,
        ('1' || repeat('0', (i % 5)::INTEGER))::BIT AS bits, [[i, i + 1], [i % 3]] AS nested
      FROM range(1, 25) r(i)
    """
    return World(
        "shop",
        [
            Table(
                "users",
                "id BIGINT, name VARCHAR, grp INTEGER, score DOUBLE, born DATE, active BOOLEAN",
                By("by_id", "id"),
                users,
            ),
            Table(
                "orders",
                "oid BIGINT, uid BIGINT, amt DECIMAL(10,2), placed TIMESTAMP, status VARCHAR",
                By("by_id", "uid", also=("oid",)),
                orders,
                extra="UNIQUE ACROSS SHARDS (oid)",
            ),
            Table(
                "items",
                "oid BIGINT, line INTEGER, sku VARCHAR, qty INTEGER, price DECIMAL(8,2)",
                With("orders", "oid", "oid"),
                items,
            ),
            Table(
                "events",
                "uid BIGINT, seen TIMESTAMP, kind VARCHAR, val DOUBLE, tags VARCHAR[]",
                By("by_id", "uid"),
                events,
                always_shard_grain=True,
            ),
            Table("logs", "id BIGINT, lvl VARCHAR, msg VARCHAR", Scattered("by_id"), logs),
            Table("cities", "code VARCHAR, country VARCHAR, pop BIGINT", By("by_code", "code"), cities),
            Table("sales", "region VARCHAR, day DATE, amount INTEGER", By("by_region", "region"), sales),
            Table("temps", "n INTEGER, v FLOAT", By("by_range", "n"), temps),
            Table("cells", "i INTEGER, j INTEGER, v INTEGER", By("by_cell", "i", "j"), cells),
            Table("countries", "code VARCHAR, name VARCHAR, people INTEGER", Everywhere("by_id"), countries),
            Table(
                "colors",
                "id INTEGER, name VARCHAR",
                Everywhere("by_id"),
                colors,
            ),
            Table(
                "settings",
                "k VARCHAR, v VARCHAR",
                Alone(),
                settings,
            ),
            Table(
                "docs",
                "id BIGINT, body STRUCT(a INTEGER, b VARCHAR), m MAP(VARCHAR, INTEGER), j JSON, u UUID, "
                "b BLOB, iv INTERVAL, h HUGEINT, e ENUM('lo', 'mid', 'hi'), t TIME, tz TIMESTAMPTZ, "
                "f4 FLOAT, i1 TINYINT, u4 UINTEGER, bits BIT, nested BIGINT[][]",
                By("by_id", "id"),
                query=docs,
            ),
            Table("few", "id BIGINT, v INTEGER", By("by_id", "id"), [(126 * n, n % 3) for n in range(8)]),
            Table("hollow", "id BIGINT, v INTEGER, s VARCHAR", By("by_id", "id")),
        ],
        [
            mod("by_id"),
            hashed("by_code", "murmur3"),
            lists("by_region", [("eu", "uk"), ("us",), ("jp",)]),
            ranges("by_range", [0, 10, 20, 30]),
            grid("by_cell"),
        ],
        [
            "paid AS SELECT oid, uid, amt FROM orders WHERE status IN ('paid', 'sent')",
            "totals AS SELECT uid, count(*) AS n, sum(amt) AS total FROM orders GROUP BY uid",
            "people AS SELECT id, name FROM users UNION ALL SELECT uid, kind FROM events",
            "places AS SELECT code, name FROM countries UNION ALL SELECT code, country FROM cities",
            "rich AS SELECT uid, total, name FROM totals JOIN users ON id = uid WHERE total > 60",
        ],
    )


SHOP = _shop()


def _held() -> World:
    """What is hard to hold and to compare in a file of loose types. Random, but always the same."""
    random = Random(20261201)
    pick = random.choice

    def maybe(value: object) -> object:
        return None if random.random() < 0.15 else value

    texts = [
        "",
        "a",
        "A",
        "ab",
        "aB",
        "abc",
        "ABC",
        "abd",
        "á",
        "Á",
        "a%b",
        "a_b",
        "a\0b",
        "a\0",
        "ß",
        "z",
        "z ",
    ]
    texts += ["it's", "5", "05", "\U0001f388", "\uffff", "\ud7ff", "%", "null", "a\\", "\\%", ":p1 %s"]
    whole = [0, 1, -1, 2, 3, 5, 7, 100, 2**31 - 1, -(2**31)]
    big = [*whole, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
    cents = ["0.00", "0.01", "10.00", "10.01", "-0.50", "1.10", "2.50", "9999999999.99", "-9999999999.99"]
    wide = ["0.0000", "0.0001", "-1.5000", "99999999999999.9999", "-99999999999999.9999", "10.0000", "2.5000"]
    real = [
        0.0,
        -0.0,
        0.1,
        2.5,
        -0.5,
        5.0,
        1e15,
        1e308,
        -1e308,
        float("inf"),
        float("-inf"),
        9007199254740992.0,
        5e-324,
    ]
    days = [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(2025, 1, 5), date(2025, 1, 6)]
    moments = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2025, 1, 5)]
    moments += [
        datetime(2025, 1, 5, 10),
        datetime(2025, 1, 5, 10, 0, 0, 500000),
        datetime(2025, 1, 5, 10, 0, 0, 1),
    ]

    def row(key: int) -> tuple[object, ...]:
        return (
            *(maybe(key), maybe(pick(whole)), maybe(pick(big)), maybe(pick(whole[:8]))),
            *(maybe(Decimal(pick(cents))), maybe(Decimal(pick(wide))), maybe(pick(real))),
            *(maybe(pick(texts)), maybe(pick(texts[:6])), maybe(pick(days)), maybe(pick(moments))),
            maybe(random.random() < 0.5),
        )

    def half(key: int) -> tuple[object, ...]:
        all_of_it = row(key)
        return tuple(all_of_it[n] for n in (0, 1, 7, 4, 9, 11))

    columns = "k BIGINT, i INTEGER, b BIGINT, u SMALLINT, d DECIMAL(12,2), w DECIMAL(18,4), x DOUBLE, "
    columns += "s VARCHAR, t VARCHAR, day DATE, seen TIMESTAMP, ok BOOLEAN"
    return World(
        "held",
        [
            Table("h", columns, By("by_k", "k"), [row(n % 40) for n in range(120)]),
            Table(
                "g",
                "k BIGINT, i INTEGER, s VARCHAR, d DECIMAL(12,2), day DATE, ok BOOLEAN",
                By("by_k", "k"),
                [half(n % 50) for n in range(60)],
            ),
            Table(
                "r",
                "i INTEGER, s VARCHAR, d DECIMAL(12,2)",
                Everywhere("by_k"),
                [tuple(half(n)[c] for c in (1, 2, 3)) for n in range(12)],
            ),
        ],
        [mod("by_k")],
    )


HELD = _held()
