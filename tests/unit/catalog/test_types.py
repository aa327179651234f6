"""Column types: the families of known names, and what is no type."""

import pytest

from shardwise.catalog.types import Family, read_type, similar_types, type_family


@pytest.mark.parametrize(
    ("text", "dialect", "family"),
    [
        ("BIGINT", "duckdb", Family.INT),
        ("hugeint", "duckdb", Family.INT),
        ("DECIMAL(12, 2)", "duckdb", Family.DECIMAL),
        ("DOUBLE", "duckdb", Family.FLOAT),
        ("VARCHAR", "duckdb", Family.TEXT),
        ("TIMESTAMP", "duckdb", Family.TIMESTAMP),
        ("TIMESTAMP WITH TIME ZONE", "duckdb", Family.TIMESTAMPTZ),
        ("STRUCT(a INT, b VARCHAR[])", "duckdb", Family.NESTED),
        ('ROW("a b" INT)', "duckdb", Family.NESTED),
        ("MAP(VARCHAR, STRUCT(x DECIMAL(3,1)))", "duckdb", Family.NESTED),
        ("UNION(num INT, str VARCHAR)", "duckdb", Family.NESTED),
        ("INT[]", "duckdb", Family.NESTED),
        ("INT[3][]", "duckdb", Family.NESTED),
        ("INTEGER ARRAY", "postgres", Family.NESTED),
        ("ENUM('a', 'it''s')", "duckdb", Family.ENUM),
        ("SET('a','b')", "mysql", Family.ENUM),
        ("BIGINT(20) UNSIGNED ZEROFILL", "mysql", Family.INT),
        ("TIMESTAMP(3)", "mysql", Family.TIMESTAMPTZ),
        ("BOOLEAN", "mysql", Family.INT),
        ("BOOLEAN", "postgres", Family.BOOL),
        ("character varying(20)", "postgres", Family.TEXT),
        ("double   precision", "postgres", Family.FLOAT),
        ("TIMESTAMP(3) WITH TIME ZONE", "postgres", Family.TIMESTAMPTZ),
        ("INTERVAL DAY TO SECOND", "postgres", Family.INTERVAL),
        ("jsonb", "postgres", Family.JSON),
        ("uuid", "postgres", Family.UUID),
        ("BIT(8)", "mysql", Family.BIT),
        ("BLOB", "sqlite", Family.BLOB),
        ("", "sqlite", Family.OTHER),
        ("INT", "unheard of", Family.INT),
    ],
)
def test_family(text, dialect, family):
    assert read_type(text, dialect) is not None
    assert type_family(text, dialect) is family


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("BIGINTT", "duckdb"),
        ("", "duckdb"),
        ("INT)", "duckdb"),
        ("INT(", "duckdb"),
        ("INT[", "duckdb"),
        ("DECIMAL(a)", "duckdb"),
        ("DECIMAL(1,2,3)", "duckdb"),
        ("ENUM(a)", "duckdb"),
        ("ENUM()", "duckdb"),
        ("STRUCT(a)", "duckdb"),
        ("STRUCT(1 INT)", "duckdb"),
        ("MAP(", "duckdb"),
        ("JSONB", "duckdb"),
        ("UNSIGNED", "mysql"),
        ("INT INT", "mysql"),
    ],
)
def test_no_type(text, dialect):
    assert read_type(text, dialect) is None
    assert type_family(text, dialect) is Family.OTHER


def test_parts_of_a_type():
    assert read_type("decimal(12,2) unsigned", "mysql") == ("DECIMAL", Family.DECIMAL, ("12", "2"), True)
    assert read_type("ENUM('x','y')", "mysql").arguments == ("x", "y")


def test_similar_names():
    assert similar_types("BIGINTT", "duckdb")[0] == "BIGINT"
    assert similar_types("", "duckdb") == []
