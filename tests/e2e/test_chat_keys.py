"""The keys of the chat's input line, as people press them."""

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


async def test_the_prompt_is_edited_in_the_users_editor(place: Place, tmp_path: Path) -> None:
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


async def test_without_an_editor_the_chat_says_how_to_set_one(place: Place) -> None:
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


async def test_a_long_pasted_text_is_a_placeholder_and_is_sent_completely(place: Place) -> None:
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


async def test_a_history_search_shows_only_matches(place: Place) -> None:
    async with serve([Reply("One.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"first of all{ENTER}")
        await terminal.see("One.")
        await terminal.see("Ask anything")
        terminal.type(f"{CTRL_R}fir")
        await terminal.until(lambda: terminal.lines.count("❯ first of all") == 2, "the find alone")


async def test_ctrl_c_returns_queued_messages_to_the_line(place: Place) -> None:
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


async def test_a_message_withdrawn_at_once_is_not_sent(place: Place) -> None:
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


async def test_the_hint_to_quit_disappears_with_the_next_key(place: Place) -> None:
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


def turns_on(terminal: Terminal) -> list[str]:
    """Return the first lines of the prompts and answers, and messages about stopping, in screen order."""
    return [line for line in terminal.text.splitlines() if line.startswith(("❯ ", "ANSWER", "· "))]


def input_line(terminal: Terminal) -> str:
    """Return the text of the input line, with the status line below it."""
    lines = terminal.lines
    return "\n".join(lines[max(at for at, line in enumerate(lines) if line.startswith("❯")) :])


async def test_a_prompt_is_either_sent_or_returned_when_the_queue_moves(place: Place) -> None:
    go, never = anyio.Event(), anyio.Event()
    slow = Reply(text=("Begun", " and ended."), holds=(Hold(go, after=1),))
    replies = [slow, *(Reply(f"ANSWER-{number}.") for number in range(1, 10))]
    replies[6] = Reply(
        text=("ANSWER-6", "."), holds=(Hold(never, after=1),)
    )  # The queue never finishes before.
    prompts = [f"zq{number}" for number in range(1, 9)]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"slow{ENTER}")
        await terminal.see("Begun")
        terminal.type("".join(f"{prompt}{ENTER}" for prompt in prompts))
        await terminal.see("… 3 more")
        go.set()
        await terminal.see("ANSWER-2.")
        terminal.type(CTRL_C)
        await terminal.until(lambda: any("zq8" in line for line in terminal.lines), "the rest in the line")
        terminal.type(f" at last{ENTER}")
        await terminal.until(lambda: "at last" in repr(server.requests[-1].body), "the rest sent")

        def places() -> list[int]:
            everywhere = repr(server.requests[-1].body) + input_line(terminal)
            return [everywhere.count(prompt) for prompt in prompts]

        await terminal.until(lambda: places() == [1] * len(prompts), "each prompt at one place")
        await terminal.until(lambda: turns_on(terminal)[-2].startswith("ANSWER"), "the last answer")
        *said, _ = turns_on(terminal)
        said = said[said.index("❯ zq1") :]
        # Ctrl+C may arrive between an answer's last word and the end of its turn.
        said = [line for at, line in enumerate(said) if line[0] != "·" or said[at - 1][0] == "❯"]
        assert all(line.startswith("❯ ") for line in said[::2]), said
        assert not any(line.startswith("❯ ") for line in said[1::2]), said
        assert "Waiting for" not in terminal.text


async def test_prompts_sent_in_one_burst_are_above_their_answers(place: Place) -> None:
    numbers = range(1, 9)
    async with (
        serve([Reply(f"ANSWER-{number}.") for number in numbers]) as server,
        place.chat(server) as terminal,
    ):
        await terminal.see("scripted-large")
        terminal.type("".join(f"p{number}{ENTER}" for number in numbers))
        await terminal.see("ANSWER-8.")
        await terminal.see("Ask anything")
        shown = [line for line in turns_on(terminal) if not line.startswith("❯ Ask")]
        assert shown == [line for number in numbers for line in (f"❯ p{number}", f"ANSWER-{number}.")]


async def test_a_long_queue_leaves_room_and_returns_to_the_line(place: Place) -> None:
    never = anyio.Event()
    replies = [Reply(text=("Begun", " and never ended"), holds=(Hold(never, after=1),)), Reply("Here again.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"go{ENTER}")
        await terminal.see("Begun")
        terminal.type("".join(f"m{number}{ENTER}" for number in range(1, 46)))
        await terminal.see("… 40 more")
        for words in ("Begun", "❯ m1  (queued)", "Your message waits", "scripted-large"):
            await terminal.until(lambda words=words: words in bottom_of(terminal), words)
        terminal.type(ESCAPE)
        await terminal.see("Stopped.")
        await terminal.until(lambda: "  m45" in terminal.lines, "the queue in the line")
        terminal.type(CTRL_C)
        await terminal.see("Ask anything")
        terminal.type(f"more{ENTER}")
        await terminal.see("Here again.")
        assert len(server.requests) == 2
        assert "m45" not in repr(server.requests[-1].body)
        assert terminal.text.count("Waiting for the running turn") == 0
