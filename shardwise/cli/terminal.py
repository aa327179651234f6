"""What may be written to a terminal, in which colours, and through which pager."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TextIO

from rich.cells import cell_len

# C0 and C1, which drive a terminal, and the marks that turn the direction of what follows.
_HIDDEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NAMED: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def one_line(text: str) -> str:
    r"""`text` as one line that only shows itself: controls are written out, a line end as `\n`.

    >>> one_line("a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(_written_out, text)


def harmless(text: str) -> str:
    """The same, but line ends and tabs stay."""
    return _HIDDEN.sub(lambda match: match[0] if match[0] in "\n\t" else _written_out(match), text)


def _written_out(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def width_of(text: str) -> int:
    """The terminal's columns that a line of text takes."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, width: int) -> str:
    """The line, or as much of it as fits, with an ellipsis."""
    if width_of(text) <= width:
        return text
    kept, used = [], 1
    for character in text:
        used += width_of(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept) + "…"


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The line in `width` columns."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


@dataclass(frozen=True, slots=True)
class Style:
    """Colours, or none."""

    is_coloured: bool = False

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_coloured and text else text


def style_of(stream: TextIO) -> Style:
    """Colours where the stream is a terminal that has some, and NO_COLOR is not set."""
    is_dumb = os.environ.get("TERM") in ("dumb", "unknown")
    return Style(stream.isatty() and not is_dumb and not os.environ.get("NO_COLOR"))


def pager_of(environment: Mapping[str, str]) -> Sequence[str]:
    """What $PAGER says, else less if it is there; nothing if there is to be none."""
    given = environment.get("SHARDWISE_PAGER", environment.get("PAGER"))
    if given is not None:
        words = shlex.split(given)
        return () if words in ([], ["cat"]) else words
    return ("less",) if shutil.which("less") else ()


class Screen:
    """Text to a terminal: straight to it while it fits there, through the pager once it does not.

    One thread writes; `stop` is for any. `on_write` is called before the first text appears.
    """

    def __init__(
        self, stream: TextIO, pager: Sequence[str] = (), on_write: Callable[[], None] = lambda: None
    ) -> None:
        self.size = shutil.get_terminal_size()
        self.style = style_of(stream)
        self._stream = stream
        self._command = tuple(pager)
        self._on_write = on_write
        self._held: list[str] = []
        self._lines = 0
        self._pager: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._is_stopped = False

    def write(self, text: str) -> None:
        """Shows whole lines. Raises BrokenPipeError once the reader has seen enough, or it was stopped."""
        if self._pager is not None:
            assert self._pager.stdin is not None
            self._pager.stdin.write(text)
            return
        if not self._command:
            self._show(text)
            return
        self._held.append(text)
        columns = self.size.columns
        self._lines += sum(max(1, -(-width_of(line) // columns)) for line in text.split("\n")[:-1])
        if self._lines >= self.size.lines:
            self._open()

    def close(self) -> None:
        """Shows what is left, and waits until the pager's user has read it."""
        pager = self._pager
        if pager is None:
            self._show("".join(self._held))
            self._held.clear()
            return
        assert pager.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            pager.stdin.close()
        pager.wait()

    def stop(self) -> None:
        """Ends the pager, if it has not ended by itself: less does on ctrl-C."""
        with self._lock:
            self._is_stopped = True
            pager = self._pager
        if pager is not None:
            try:
                pager.wait(0.05)
            except subprocess.TimeoutExpired:
                pager.send_signal(signal.SIGTERM)

    def _open(self) -> None:
        self._on_write()
        held = "".join(self._held)
        self._held.clear()
        with self._lock:
            if self._is_stopped:
                raise BrokenPipeError
            # -F, -X: what fits stays on the screen. -R: colours. -S: no line is folded. -K: ctrl-C ends it.
            environment = {**os.environ, "LESS": os.environ.get("LESS", "-FRSXK"), "LESSCHARSET": "utf-8"}
            self._pager = subprocess.Popen(  # noqa: S603  the user's own
                self._command, stdin=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace"
            )
        assert self._pager.stdin is not None
        self._pager.stdin.write(held)

    def _show(self, text: str) -> None:
        if self._is_stopped:
            raise BrokenPipeError
        if text:
            self._on_write()
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def quiet_terminal() -> Iterator[None]:
    """Keys that are typed meanwhile are not echoed amid what is shown; the next prompt has them.

    The terminal's modes are put back after, also those of a pager that was ended. Only for one who has the
    terminal alone: in `shardwise query … | less` they are the reader's.
    """
    try:
        import termios  # noqa: PLC0415  not on all systems

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (ImportError, OSError, ValueError, termios.error):
        yield
        return
    quiet = list(before)
    quiet[3] &= ~termios.ECHO
    try:
        termios.tcsetattr(terminal, termios.TCSADRAIN, quiet)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


class ScreenBytes(io.RawIOBase):
    """A `Screen` for those who write bytes: UTF-8, made harmless."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        self._screen.write(harmless(self._decoder.decode(bytes(view))))
        return len(view)
