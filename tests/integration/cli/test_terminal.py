"""What reaches a terminal."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from shardwise.cli import terminal
from shardwise.cli.terminal import Screen, ScreenBytes, cut, harmless, one_line, padded, pager_of, width_of

EVIL = "a\x1b]0;title\x07\x1b[2J\x9b31m\rb\x7f\u202ec\x00\nd\te\x08"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_drives_the_terminal() -> None:
    for shown in (one_line(EVIL), harmless(EVIL)):
        assert all(c.isprintable() or c in "\n\t" for c in shown)
        assert "\\x1b]0;title\\x07" in shown
        assert "\\x9b31m\\rb\\x7f\\u202ec\\x00" in shown
    assert "\n" not in one_line(EVIL)
    assert "\nd\te" in harmless(EVIL)
    assert one_line("plain ü 漢字 🙂") == "plain ü 漢字 🙂"


def test_widths_are_the_terminals() -> None:
    assert [width_of(text) for text in ("abc", "漢字", "é", "e\u0301", "🙂")] == [3, 4, 1, 1, 2]
    assert cut("漢字漢字", 5) == "漢字…"
    assert cut("漢字漢字", 4) == "漢…"
    assert cut("abc", 3) == "abc"
    assert padded("漢", 4) == "漢  "
    assert padded("1", 3, right=True) == "  1"


def test_the_pager() -> None:
    assert pager_of({"PAGER": "less -R"}) == ["less", "-R"]
    assert pager_of({"PAGER": ""}) == pager_of({"PAGER": "cat"}) == ()
    assert pager_of({"PAGER": "more", "SHARDWISE_PAGER": "most"}) == ["most"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "5")
    monkeypatch.setenv("COLUMNS", "20")


def writing_pager(path: Path) -> list[str]:
    return [sys.executable, "-c", f"import sys; open({str(path)!r}, 'w').write(sys.stdin.read())"]


@pytest.mark.usefixtures("small")
def test_what_fits_is_shown_and_what_does_not_is_paged(tmp_path: Path) -> None:
    paged, told = tmp_path / "paged", []
    out = Terminal()
    screen = Screen(out, writing_pager(paged), lambda: told.append(1))
    screen.write("one\ntwo\n")
    assert (out.getvalue(), told) == ("", [])
    screen.close()
    assert (out.getvalue(), told, paged.exists()) == ("one\ntwo\n", [1], False)

    out = Terminal()
    screen = Screen(out, writing_pager(paged))
    for _ in range(3):
        screen.write("x" * 39 + "\n")  # two lines each
    screen.write("end\n")
    screen.close()
    assert out.getvalue() == ""
    assert paged.read_text(encoding="utf-8") == ("x" * 39 + "\n") * 3 + "end\n"


@pytest.mark.usefixtures("small")
def test_a_pager_that_is_left_or_stopped_ends_the_writing() -> None:
    screen = Screen(Terminal(), [sys.executable, "-c", "pass"])
    with pytest.raises(BrokenPipeError):
        screen.write("line\n" * 1_000_000)
    screen.close()

    screen = Screen(Terminal(), shlex.split("sleep 60"))
    screen.write("line\n" * 10)
    screen.stop()
    screen.close()
    stopped = Screen(Terminal())
    stopped.stop()
    with pytest.raises(BrokenPipeError):
        stopped.write("late\n")


def test_bytes_are_text_even_if_a_letter_is_split() -> None:
    out = Terminal()
    screen = Screen(out)
    sink = ScreenBytes(screen)
    data = "ü\x1b\n".encode()
    assert sum(sink.write(data[i : i + 1]) for i in range(len(data))) == len(data)
    screen.close()
    assert out.getvalue() == "ü\\x1b\n"


def test_colours_are_off_where_they_are_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.style_of(Terminal()).bold("a") == "\x1b[1ma\x1b[0m"
    assert terminal.style_of(io.StringIO()).bold("a") == "a"
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.style_of(Terminal()).bold("a") == "a"
