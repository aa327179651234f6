"""The line that is typed: its keys, its colours, its history."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import Completer
from prompt_toolkit.enums import DEFAULT_BUFFER, EditingMode
from prompt_toolkit.filters import Condition, emacs_mode, has_completions, has_focus, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output

from shardwise.cli.shell.highlighting import STYLE, SqlLexer
from shardwise.cli.shell.splitting import is_finished

Prompt = Callable[[], StyleAndTextTuples]


def session(
    prompt: Prompt,
    dialect: Callable[[], str],
    *,
    history: History,
    completer: Completer,
    is_vi: bool = False,
    input: Input | None = None,  # noqa: A002  prompt-toolkit's name
    output: Output | None = None,
) -> PromptSession[str]:
    """Reads a text at a time: Enter ends one that is whole, else begins a new line."""
    return PromptSession(
        prompt,
        prompt_continuation=_continuation,
        multiline=True,
        lexer=SqlLexer(dialect),
        style=STYLE,
        history=history,
        auto_suggest=AutoSuggestFromHistory(),
        completer=completer,
        complete_in_thread=True,
        complete_while_typing=True,
        search_ignore_case=True,
        enable_open_in_editor=True,
        tempfile_suffix=".sql",
        include_default_pygments_style=False,
        key_bindings=bindings(dialect),
        editing_mode=EditingMode.VI if is_vi else EditingMode.EMACS,
        reserve_space_for_menu=6,
        input=input,
        output=output,
    )


def bindings(dialect: Callable[[], str]) -> KeyBindings:
    """Enter, Tab and Escape as this shell has them; all else is emacs' or vi's."""
    keys = KeyBindings()
    is_typing = has_focus(DEFAULT_BUFFER) & ~is_searching
    is_chosen = Condition(_chosen)

    @keys.add("enter", filter=is_typing & is_chosen)
    def _(event: KeyPressEvent) -> None:
        """Takes what the menu stands on."""
        event.current_buffer.complete_state = None

    @keys.add("enter", filter=is_typing & ~is_chosen)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_finished(buffer.text, dialect()):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    @keys.add("escape", "enter", filter=is_typing & emacs_mode)
    def _(event: KeyPressEvent) -> None:
        """A new line, whatever there is."""
        event.current_buffer.newline()

    @keys.add("tab", filter=is_typing)
    def _(event: KeyPressEvent) -> None:
        """Completes; where a line begins, indents."""
        buffer = event.current_buffer
        if buffer.complete_state:
            buffer.complete_next()
        elif not buffer.document.current_line_before_cursor.strip() and buffer.text.strip():
            buffer.insert_text("    ")
        else:
            buffer.start_completion(select_first=False, insert_common_part=True)

    @keys.add("escape", eager=True, filter=is_typing & has_completions)
    def _(event: KeyPressEvent) -> None:
        """Closes the menu."""
        event.current_buffer.cancel_completion()

    return keys


def _chosen() -> bool:
    state = get_app().current_buffer.complete_state
    return state is not None and state.current_completion is not None


def _continuation(width: int, line_number: int, wrap_count: int) -> StyleAndTextTuples:
    return [("class:continuation", "-> ".rjust(width))]
