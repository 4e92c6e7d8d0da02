"""The keys of the chat's input line, pressed as people press them."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.chat_environment import Place
from tests.e2e.chat_terminal import CTRL_C, ENTER, ESCAPE, TAB, Terminal
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
CTRL_G, CTRL_J, CTRL_O, CTRL_R, CTRL_U, BACKSPACE = "\x07", "\n", "\x0f", "\x12", "\x15", "\x7f"
SHIFT_TAB, SHIFT_ENTER = "\x1b[Z", "\x1b[13;2u"
PASTE = "\x1b[200~{}\x1b[201~"
SIXTY_ONE_LINES = "".join(f"line {n}\n" for n in range(1, 62))


def bottom_of(terminal: Terminal) -> str:
    return "\n".join(terminal.lines)


async def test_escape_stops_the_turn(place: Place) -> None:
    never = anyio.Event()
    replies = [Reply(text=("Begun", " and never ended"), holds=(Hold(never, after=1),)), Reply("Here again.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"go{ENTER}")
        await terminal.see("Begun")
        terminal.type(ESCAPE)
        await terminal.see("Stopped.")
        terminal.type(f"more{ENTER}")
        await terminal.see("Here again.")


async def test_shift_tab_switches_the_mode_and_lines_are_broken(place: Place) -> None:
    async with serve([Reply("Got it.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large · ask")
        terminal.type(SHIFT_TAB)
        await terminal.see("scripted-large · accept_edits")
        terminal.type(f"one{CTRL_J}two{ESCAPE}{ENTER}three{SHIFT_ENTER}four @a")
        await terminal.see("@a.txt")
        terminal.type(TAB)
        await terminal.see("four @a.txt")
        terminal.type(ENTER)
        await terminal.see("Got it.")
        assert "one\\ntwo\\nthree\\nfour @a.txt" in repr(server.requests[-1].body)


async def test_the_prompt_is_written_in_the_persons_editor(place: Place, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ntest -t 0 && sed -i "s/draft/final text/" "$1"\n')
    editor.chmod(0o755)
    async with serve([Reply("Got it.")]) as server, place.chat(server, EDITOR=str(editor)) as terminal:
        await terminal.see("scripted-large")
        terminal.type("a draft")
        await terminal.see("❯ a draft")
        terminal.type(CTRL_G)
        await terminal.see("❯ a final text")
        terminal.type(f"!{ENTER}")
        await terminal.see("Got it.")
        assert "a final text!" in str(server.requests[-1].body)


async def test_without_an_editor_it_is_said_how_to_get_one(place: Place) -> None:
    async with serve([]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(CTRL_G)
        await terminal.see("Set VISUAL or EDITOR")


async def test_the_output_of_a_call_is_shown_in_full(place: Place) -> None:
    call = ToolCall("terminal", {"command": "seq 30"})
    async with (
        serve([Reply(tool_calls=(call,)), Reply("All done.")]) as server,
        place.chat(server) as terminal,
    ):
        await terminal.see("scripted-large")
        terminal.type(f"go{ENTER}")
        await terminal.see("All done.")
        await terminal.see("Ask anything")
        assert "\n11\n" not in terminal.text
        terminal.type(CTRL_O)
        await terminal.see("\n11\n")


async def test_a_long_pasted_text_is_a_marker_and_is_sent_in_full(place: Place) -> None:
    async with serve([Reply("Got it."), Reply("Again.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"why? {PASTE.format(SIXTY_ONE_LINES)}")
        await terminal.see("❯ why? [61 lines pasted]")
        terminal.type(BACKSPACE)
        await terminal.until(lambda: "pasted]" not in bottom_of(terminal), "no marker")
        terminal.type(f"{PASTE.format(SIXTY_ONE_LINES)} there{ENTER}")
        await terminal.see("Got it.")
        sent = repr(server.requests[-1].body)
        assert "why? line 1\\nline 2\\n" in sent
        assert "line 61\\n there" in sent
        assert "line 40" not in terminal.text


async def test_a_search_in_the_history_shows_only_what_was_found(place: Place) -> None:
    async with serve([Reply("One.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"first of all{ENTER}")
        await terminal.see("One.")
        await terminal.see("Ask anything")
        terminal.type(f"{CTRL_R}fir")
        await terminal.until(lambda: terminal.lines.count("❯ first of all") == 2, "the find alone")


async def test_ctrl_c_puts_waiting_messages_back_into_the_line(place: Place) -> None:
    never = anyio.Event()
    replies = [Reply(text=("Begun", " and never ended"), holds=(Hold(never, after=1),)), Reply("Second.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"one{ENTER}")
        await terminal.see("Begun")
        terminal.type(f"two{ENTER}")
        await terminal.see("❯ two  (queued)")
        terminal.type("three")
        await terminal.see("❯ three")
        terminal.type(CTRL_C)
        await terminal.see("Stopped.")
        await terminal.see("❯ two\n  three")
        assert terminal.text.count("Stopped.") == 1
        terminal.type(ENTER)
        await terminal.see("Second.")
        assert "two\\nthree" in repr(server.requests[-1].body)
        assert len(server.requests) == 2


async def test_a_message_that_is_taken_back_at_once_is_not_sent(place: Place) -> None:
    never = anyio.Event()
    replies = [Reply(text=("Begun", " and never ended"), holds=(Hold(never, after=1),)), Reply("Second.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"one{ENTER}")
        await terminal.see("Begun")
        terminal.type(f"two{ENTER}{CTRL_C}")
        await terminal.see("Stopped.")
        await terminal.until(lambda: terminal.text.count("❯ two") == 1, "the message in the line")
        terminal.type(f" more{ENTER}")
        await terminal.see("Second.")
        assert len(server.requests) == 2
        assert "two more" in str(server.requests[-1].body)


async def test_the_hint_to_quit_goes_with_the_next_key(place: Place) -> None:
    async with serve([Reply("Got it.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(CTRL_C)
        await terminal.see("Press Ctrl+C again, or Ctrl+D, to quit.")
        terminal.type("h")
        await terminal.see("Press Ctrl+C again", gone=True)
        terminal.type(CTRL_C)
        await terminal.see("❯ h", gone=True)
        terminal.type(CTRL_C)
        await terminal.see("Press Ctrl+C again, or Ctrl+D, to quit.")
        terminal.type(CTRL_C)
        assert await terminal.end() == 0
