"""HASH(postgres) gives what PostgreSQL itself gives; remainders are written as servers have them."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from shardwise.catalog.shardings import Hash, canonical, hash_function, mod
from shardwise.catalog.types import Family
from tests.servers import mariadb, postgres

DAY = "'2000-01-01'::date"
ASKED: dict[Family, str] = {
    Family.INT: "hashint8(%s::int8)",
    Family.TEXT: "hashtext(%s::text)",
    Family.DECIMAL: "hash_numeric(%s::numeric)",
    Family.FLOAT: "hashfloat8(%s::float8)",
    Family.DATE: f"hashint4(%s::date - {DAY})",
    Family.TIMESTAMP: "timestamp_hash(%s::timestamp)",
    Family.TIMESTAMPTZ: "timestamp_hash(%s::timestamptz AT TIME ZONE 'UTC')",
    Family.UUID: "uuid_hash(%s::uuid)",
}


def values(family: Family, chance: random.Random) -> list[object]:
    def one() -> object:
        match family:
            case Family.INT:
                return chance.randrange(-(2 ** chance.randrange(1, 64)), 2 ** chance.randrange(1, 64))
            case Family.TEXT:
                return "".join(chance.choices("aZ9 é日😀\t'", k=chance.randrange(40)))
            case Family.DECIMAL:
                top = 10 ** chance.randrange(1, 25)
                return Decimal(chance.randrange(-top, top)) * Decimal(10) ** chance.randrange(-20, 20)
            case Family.FLOAT:
                return chance.choice(
                    [0.0, -0.0, 1.0, chance.uniform(-1e9, 1e9), chance.gauss(0, 1), float("inf")]
                )
            case Family.DATE:
                return date(1900, 1, 1) + timedelta(days=chance.randrange(90_000))
            case Family.UUID:
                return UUID(bytes=chance.randbytes(16))
        moment = datetime(1900, 1, 1) + timedelta(microseconds=chance.randrange(10**16))
        return moment.replace(tzinfo=UTC) if family is Family.TIMESTAMPTZ else moment

    return [one() for _ in range(150)]


def test_hashes_are_those_of_postgresql() -> None:
    chance = random.Random(4)
    function = hash_function("postgres", 32)
    assert isinstance(function, Hash)
    with postgres().connect() as con:
        for family, asked in ASKED.items():
            for value in values(family, chance):
                row = con.execute(f"SELECT {asked}", (value,)).fetchone()
                assert row is not None
                key = canonical(value, family)
                assert function.hash(key) == row[0] % 2**32, (family, value)


def test_bytes_hash_as_their_text() -> None:
    """`hash_any` takes both; the server has no function of its own for bytea."""
    function = hash_function("postgres", 32)
    assert isinstance(function, Hash)
    assert function.hash(b"hello") == function.hash("hello")


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_remainders_are_the_servers(dialect: str) -> None:
    chance = random.Random(5)
    numbers = [str(chance.randrange(-(2**40), 2**40)) for _ in range(20)]
    server, ends = (
        (mariadb(), ["-9223372036854775808", "18446744073709551615"])
        if dialect == "mysql"
        else (
            postgres(),
            ["'-9223372036854775808'::bigint", "'9223372036854775807'::bigint", "'-32768'::smallint"],
        )
    )
    for slots in (1, 3, 64, 100_000):
        template = mod(slots).sql(dialect)
        assert template is not None
        for text in (*ends, *numbers, "NULL"):
            ((found,),) = server.run(f"SELECT {template.format(f'({text})')}")
            key = None if text == "NULL" else int(text.partition("::")[0].strip("'"))
            assert found == mod(slots).slot((key,)), (slots, text)
