"""Texts apart into statements and commands, and whether Enter should run what is typed."""

from __future__ import annotations

import pytest

from shardwise.cli.shell.lexing import Kind, tokens
from shardwise.cli.shell.splitting import Command, Statement, is_finished, pieces

AWKWARD = """SELECT 'it''s; ', "a "";" , $$x;y$$, $t$ $$;$t$, E'a\\';', 1.5e3, a::int -- ;
/* ; /* ; */ ; */ FROM [t]"""


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    "text", [AWKWARD, "SELECT 'open", '"open', "$$ open", "/* open", "E'open\\'", "`a` [b"]
)
def test_tokens_are_the_text(text: str, dialect: str) -> None:
    found = list(tokens(text, dialect))
    assert "".join(token.text for token in found) == text
    assert [token.start for token in found] == [
        sum(len(t.text) for t in found[:i]) for i in range(len(found))
    ]


def test_tokens_tell_what_they_are() -> None:
    found = {t.text: (t.kind, t.is_open) for t in tokens('SELECT "a""b", :p, $1, x::int, \'o', "duckdb")}
    assert found["SELECT"] == (Kind.WORD, False)
    assert found[":p"] == found["$1"] == (Kind.PARAMETER, False)
    assert found["::"] == (Kind.SYMBOL, False)
    assert found["'o"] == (Kind.STRING, True)
    (name,) = (t for t in tokens('"a""b"') if t.kind is Kind.QUOTED)
    assert name.name == 'a"b'
    assert [t.name for t in tokens("[a b]`c``d`", "sqlite")] == ["a b", "c`d"]


def test_semicolons_end_statements_only_where_they_are_code() -> None:
    assert pieces(AWKWARD) == [Statement(AWKWARD, is_ended=False)]
    assert pieces(AWKWARD + " ;; SELECT 2;") == [Statement(AWKWARD), Statement("SELECT 2", 2)]


def test_dialects_differ() -> None:
    assert len(pieces("SELECT [a;b];", "sqlite")) == 1
    assert len(pieces("SELECT [a;b];", "duckdb")) == 2
    assert len(pieces("/* /* */ SELECT 1; */ SELECT 2;", "duckdb")) == 1
    assert len(pieces("/* /* */ SELECT 1; */ SELECT 2;", "sqlite")) == 2
    assert len(pieces("SELECT $$;$$;", "duckdb")) == 1


def test_a_body_is_one_statement() -> None:
    body = "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT CASE WHEN a THEN b END; SELECT 2; END"
    assert pieces(f"{body}; SELECT 1;") == [Statement(body), Statement("SELECT 1")]
    assert not is_finished("CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1;")


def test_blanks_and_comments_are_nothing() -> None:
    assert pieces(" ;; \n-- SELECT 1;\n/* ; */ ;") == []


def test_commands_take_their_line() -> None:
    text = ".mode csv\nSELECT 1\n  .5 + 2;\n  \\x\nSELECT 2; \\timing\n.tables it's"
    assert pieces(text) == [
        Command(".mode csv"),
        Statement("SELECT 1\n  .5 + 2", 2),
        Command("\\x", 4),
        Statement("SELECT 2", 5),
        Command("\\timing", 5),
        Command(".tables it's", 6),
    ]


def test_g_ends_a_statement() -> None:
    assert pieces("SELECT 1 \\g out.csv\nSELECT 2\\gx") == [
        Statement("SELECT 1", send="\\g out.csv"),
        Statement("SELECT 2", 2, send="\\gx"),
    ]


def test_a_command_amid_a_statement_runs_first() -> None:
    assert pieces("SELECT 1 \\timing\n+ 2;") == [
        Command("\\timing", 1, "SELECT 1"),
        Statement("SELECT 1 \n+ 2"),
    ]
    assert pieces("SELECT 1 \\e\n") == [Command("\\e", 1, "SELECT 1")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "SELECT 1;",
        "SELECT 1; -- done",
        "a;b;",
        ".tables",
        "\\d x",
        "exit",
        "SELECT 1 \\g",
        "-- c",
        "1\\e",
    ],
)
def test_enter_runs(text: str) -> None:
    assert is_finished(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "SELECT 'a;",
        "SELECT 1; SELECT",
        "/* a;",
        "SELECT $$;",
        'SELECT "a;',
        "SELECT 1 -- ;",
        "SELECT 1 \\x",
    ],
)
def test_enter_begins_a_new_line(text: str) -> None:
    assert not is_finished(text)


def test_a_long_script_is_split_in_no_time() -> None:
    script = "INSERT INTO t VALUES (1, 'abc', 2.5);\n" * 2_000
    found = pieces(script)
    assert len(found) == 2_000
    assert found[-1].line == 2_000


@pytest.mark.parametrize(
    ("dialect", "first"),
    [
        ("mysql", "SELECT \"a;b\", 'it\\'s;', `x;y` -- c;\n, 5--3 # z;"),
        ("postgres", "SELECT E'a\\';', $$x;y$$, \"q;\" /* a /* ; */ ; */"),
    ],
)
def test_statements_of_servers_dialects(dialect: str, first: str) -> None:
    found = [
        piece.sql.strip() for piece in pieces(f"{first}\n; SELECT 2", dialect) if isinstance(piece, Statement)
    ]
    assert found == [first, "SELECT 2"]
