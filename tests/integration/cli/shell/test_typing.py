"""Key by key, without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from shardwise.cli.shell.highlighting import SqlLexer
from shardwise.cli.shell.prompting import session


@contextmanager
def typed(
    *, is_vi: bool = False, before: tuple[str, ...] = ()
) -> Iterator[tuple[PipeInput, PromptSession[str]]]:
    with create_pipe_input() as keys:
        yield (
            keys,
            session(
                lambda: [("", "> ")],
                lambda: "duckdb",
                history=InMemoryHistory(before),
                completer=WordCompleter([]),
                is_vi=is_vi,
                input=keys,
                output=DummyOutput(),
            ),
        )


def got(text: str, *, is_vi: bool = False, before: tuple[str, ...] = ()) -> str:
    with typed(is_vi=is_vi, before=before) as (keys, prompt):
        keys.send_text(text)
        keys.close()  # what is not finished ends with an error, and does not wait for ever
        return prompt.prompt()


def test_enter_goes_on_until_the_statement_ends() -> None:
    assert got("SELECT 1,\r2;\r") == "SELECT 1,\n2;"
    assert got("SELECT ';\r';\r") == "SELECT ';\n';"
    assert got(".tables\r") == ".tables"
    assert got("\r") == ""


def test_a_paste_is_one_text() -> None:
    assert got("\x1b[200~SELECT 1;\nSELECT\n 2;\n\x1b[201~\r") == "SELECT 1;\nSELECT\n 2;\n"


def test_escape_enter_is_always_a_new_line() -> None:
    assert got("SELECT 1;\x1b\r\r") == "SELECT 1;\n"


def test_history_is_searched_and_suggested() -> None:
    before = ("SELECT 1 FROM a;", "SELECT\n 2 FROM b;", "FROM c;")
    assert got("\x12FROM b\r\r", before=before) == "SELECT\n 2 FROM b;"
    assert got("\x1b[A\r", before=before) == "FROM c;"


def test_vi_keys() -> None:
    assert got("SSELECT 1;\x1b0x\r", is_vi=True) == "SELECT 1;"


def coloured(text: str) -> list[StyleAndTextTuples]:
    lines = SqlLexer(lambda: "duckdb").lex_document(Document(text))
    return [lines(number) for number in range(text.count("\n") + 1)]


def test_colours() -> None:
    first, second = coloured("SELECT 'a\nb' -- c")
    assert first == [("class:keyword", "SELECT"), ("", " "), ("class:string", "'a")]
    assert second == [("class:string", "b'"), ("", " "), ("class:comment", "-- c")]
    assert coloured(".mode csv") == [[("class:command", ".mode csv")]]
    assert coloured("") == [[]]
