"""Text that a user types while a question appears: it never answers the question, and it is not lost."""

from __future__ import annotations

import sys

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S
from tests.e2e.chat_environment import BEFORE, EDIT, EDITING, READ, REWRITING, Place
from tests.e2e.chat_terminal import CTRL_D, ENTER, TAB, Terminal
from tests.model_server import Hold, Reply, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
SENTENCE = "yes, 1 y in 2 n my history y"
KEY_INTERVAL_S = 1 / 11
DOWN, CTRL_U = "\x1b[B", "\x15"
PASTE = "\x1b[200~{}\x1b[201~"
WAITS = "Press Tab to answer the question above"


async def type_like_a_person(terminal: Terminal, text: str) -> None:
    for key in text:
        terminal.type(key)
        await anyio.sleep(KEY_INTERVAL_S)


def is_asked(terminal: Terminal) -> bool:
    return any("Your answer:" in line for line in terminal.lines)


def line_of(terminal: Terminal) -> str:
    """Return the input line at the bottom of the screen."""
    return next((line for line in reversed(terminal.lines) if line.startswith("❯")), "")


async def test_a_sentence_typed_while_a_question_appears_does_not_answer_it(place: Place) -> None:
    phases = range(4, len(SENTENCE), 13)
    gos = [anyio.Event() for _ in phases]
    replies = [
        reply
        for go in gos
        for reply in (Reply(tool_calls=(READ,), holds=(Hold(go),)), Reply(tool_calls=(EDIT,)), Reply("Done."))
    ]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        for round_number, (phase, go) in enumerate(zip(phases, gos, strict=True), 1):
            terminal.type(f"round {round_number}{ENTER}")
            await terminal.see("working")
            await type_like_a_person(terminal, SENTENCE[:phase])
            go.set()
            await type_like_a_person(terminal, SENTENCE[phase:])
            await terminal.until(lambda: WAITS in "\n".join(terminal.lines), "the question waits")
            await terminal.until(lambda: line_of(terminal) == f"❯ {SENTENCE}", "the sentence")
            terminal.type(CTRL_U)
            await terminal.until(lambda: is_asked(terminal), "the question")
            assert terminal.text.count("→") == round_number - 1
            terminal.type("n")
            await terminal.until(
                lambda number=round_number: terminal.text.count("→ Reject") == number, "the answer"
            )
            await terminal.see("Ask anything")
    assert (place.project / "a.txt").read_text() == BEFORE


async def test_a_sentence_typed_at_a_question_goes_into_the_line(place: Place) -> None:
    async with place.asked_about_an_edit() as terminal:
        await type_like_a_person(terminal, SENTENCE)
        await terminal.until(lambda: line_of(terminal) == f"❯ {SENTENCE}", "the sentence")
        terminal.type(TAB)
        await terminal.until(lambda: is_asked(terminal), "the question")
        await type_like_a_person(terminal, "!?")
        await terminal.until(lambda: line_of(terminal) == f"❯ {SENTENCE}!?", "the rest of it")
        terminal.type(f"{CTRL_U}{PASTE.format('y')}")
        await terminal.until(lambda: line_of(terminal) == "❯ y", "what was pasted")
        assert (place.project / "a.txt").read_text() == BEFORE
        terminal.type(TAB)
        await terminal.until(lambda: is_asked(terminal), "the question")
        terminal.type(DOWN)
        await terminal.see("Your answer: ▸ Allow once")
        await anyio.sleep(0.5)
        terminal.type(ENTER)
        await terminal.see("→ Allow once")
        await terminal.see("All done.")
        await terminal.until(lambda: line_of(terminal) == "❯ y", "the line as it was")
    assert (place.project / "a.txt").read_text().startswith("ONE\n")


async def test_a_message_can_be_sent_while_a_question_waits(place: Place) -> None:
    async with serve((*EDITING, Reply("Second."))) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"change it{ENTER}")
        await terminal.see("working")
        terminal.type("and then")
        await terminal.see(WAITS)
        terminal.type(f" this{ENTER}")
        await terminal.see("Your answer:")
        terminal.type("n")
        await terminal.see("→ Reject")
        await terminal.see("Second.")
        assert "and then this" in str(server.requests[-1].body)


async def test_lines_typed_ahead_on_a_dumb_terminal_are_prompts(place: Place) -> None:
    go = anyio.Event()
    replies = (Reply(tool_calls=(READ,), holds=(Hold(go),)), *EDITING[1:], Reply("Second."))
    async with serve(replies) as server, place.chat(server, TERM="dumb") as terminal:
        await terminal.see(">")
        terminal.type("change it\n")
        with anyio.fail_after(WAIT_S):
            while not server.requests:
                await anyio.sleep(0.02)
        terminal.type("y\n")
        go.set()
        await terminal.see("Your answer:")
        terminal.type("n\n")
        await terminal.see("Second.")
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
    assert (place.project / "a.txt").read_text() == BEFORE


@pytest.mark.parametrize("text", ["and also do that", "/skills", "do you see what is wrong here"])
async def test_a_sentence_typed_at_a_hunk_goes_into_the_line(place: Place, text: str) -> None:
    async with place.asked_about_an_edit(*REWRITING) as terminal:
        terminal.type("h")
        await terminal.see("Accept hunk 1 of 2?")
        terminal.type(text)
        await terminal.until(lambda: line_of(terminal) == f"❯ {text}", "the sentence")
        terminal.type(CTRL_U)
        await terminal.see("Accept hunk 1 of 2?")
        terminal.type("y")
        await terminal.see("Accept hunk 2 of 2?")
        terminal.type("nnn")  # Pressed too often: there is only one question.
        await terminal.see("Allowed in part: 1 of 2 changes")
        await terminal.see("All done.")
    assert (place.project / "a.txt").read_text() == BEFORE.replace("one", "ONE")


async def test_a_sentence_typed_during_a_review_reverts_nothing(place: Place) -> None:
    async with serve(REWRITING) as server, place.chat(server, "--mode", "accept_edits") as terminal:
        await terminal.see("accept_edits")
        terminal.type(f"change it{ENTER}")
        await terminal.see("/review to check")
        terminal.type(f"/review{ENTER}")
        await terminal.see("Keep hunk 1 of 2?")
        await type_like_a_person(terminal, "do not do that")
        await terminal.until(lambda: line_of(terminal) == "❯ do not do that", "the sentence")
        assert "Reverted" not in terminal.text
        terminal.type(CTRL_U)
        await terminal.see("Keep hunk 1 of 2?")
        terminal.type("n")
        await terminal.see("Keep hunk 2 of 2?")
        terminal.type("s")
        await terminal.see("Reverted 1 of 2 hunks")
