"""`hermes-acp chat` with narrow windows, long and foreign text and fast typing, and edits that are reviewed later."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import wait_for_end, watch_process
from tests.e2e.chat_environment import BEFORE, EDITING, READ, REWRITING, WRITE, Place, children_of
from tests.e2e.chat_terminal import CTRL_C, CTRL_D, ENTER, TAB
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
NARROW = 40
CTRL_Z = "\x1a"


async def test_a_message_can_steer_the_turn(place: Place) -> None:
    go = anyio.Event()
    replies = [Reply(tool_calls=(READ,), holds=(Hold(go),)), Reply("Turned.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"/options during_turn steer{ENTER}")
        await terminal.see("Messages while working: steer")
        terminal.type(f"one{ENTER}")
        await terminal.see("Your message steers this turn")
        await terminal.until(lambda: len(server.requests) == 1, "the model is asked")
        terminal.type(f"rather this{ENTER}")
        await terminal.see("Passed to the running turn")
        go.set()
        await terminal.see("Turned.")
        await terminal.see("Ask anything")
        assert len(server.requests) == 2, "it was no turn of its own"
        assert "rather this" in str(server.requests[-1].body)
        await terminal.until(lambda: terminal.text.count("❯ rather this") == 1, "one message")
        assert terminal.text.index("❯ rather this") < terminal.text.index("Turned.")


async def test_a_hunk_is_edited_in_the_users_editor(place: Place, tmp_path: Path) -> None:
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\ntest -t 0 && test -t 1 && sed -i s/ONE/Uno/ "$2"\n')
    editor.chmod(0o755)
    async with place.asked_about_an_edit(*REWRITING, editor=f"'{editor}' --wait") as terminal:
        terminal.type("h")
        await terminal.see("Accept hunk 1 of 2?")
        terminal.type("e")
        await terminal.see("Accept hunk 2 of 2?")
        terminal.type("n")
        await terminal.see("Allowed in part: 1 of 2 changes")
        await terminal.see("All done.")
    assert (place.project / "a.txt").read_text() == BEFORE.replace("one", "Uno")


async def test_edits_made_without_approval_are_reviewed_hunk_by_hunk(place: Place) -> None:
    async with (
        serve([*REWRITING, Reply("I see.")]) as server,
        place.chat(server, "--mode", "accept_edits") as terminal,
    ):
        await terminal.see("accept_edits")
        terminal.type(f"/review{ENTER}")
        await terminal.see("Nothing to review.")
        terminal.type(f"change it{ENTER}")
        await terminal.see("/review to check")
        terminal.type(f"/review{ENTER}")
        await terminal.see("Keep hunk 1 of 2?")
        terminal.type("s")
        await terminal.see("Keep hunk 2 of 2?")
        terminal.type("n")
        await terminal.see("Reverted 1 of 2 hunks")
        assert (place.project / "a.txt").read_text() == BEFORE.replace("one", "ONE")
        terminal.type(f"/review{ENTER}")
        await terminal.see("Keep hunk 1 of 1?")
        terminal.type("y")
        await terminal.see("Kept 1 of 1 hunk")
        terminal.type(f"and now?{ENTER}")
        await terminal.see("I see.")
        assert "+TEN" in str(server.requests[-1].body)


async def test_a_review_counts_hunks_to_its_end(place: Place) -> None:
    async with serve(REWRITING) as server, place.chat(server, "--mode", "accept_edits") as terminal:
        await terminal.see("accept_edits")
        terminal.type(f"change it{ENTER}")
        await terminal.see("/review to check")
        terminal.type(f"/review{ENTER}")
        await terminal.see("Keep hunk 1 of 2?")
        terminal.type("y")
        await terminal.see("Kept 1 of 2 hunks")
        await terminal.see("Keep hunk 2 of 2?")
        terminal.type("n")
        await terminal.see("Reverted 1 of 2 hunks")


async def test_forty_columns_are_enough(place: Place) -> None:
    long = "x" * 95
    (place.project / "a.txt").write_text(f"one\n{long}\nthree\n")
    edit = ToolCall("edit_file", {"path": "a.txt", "old_text": long, "new_text": long.upper()})
    table = "| name | what it is for |\n|---|---|\n| a | something that needs many words |\n"
    replies = [
        Reply(tool_calls=(READ,)),
        Reply(text=f"{table}\n\n- {'word ' * 30}\n\n`{long}`\n\n", tool_calls=(edit,)),
        Reply("All done. 日本語" + "字" * 60),
    ]
    async with serve(replies) as server, place.chat(server, columns=NARROW) as terminal:
        await terminal.see("scripted-large")
        terminal.type("/mod")
        await terminal.see("/mode")
        terminal.type(f"\x15change it and {'say much more ' * 6}{ENTER}")
        await terminal.see("Your answer:")
        await terminal.until(
            lambda: "".join(terminal.text.split()).count("X" * 95) == 1, "a long line, folded and not cut"
        )
        terminal.type("v")
        await terminal.until(lambda: terminal.text.count("1 Allow once") == 2, "the choices below the diff")
        terminal.type("y")
        await terminal.see("Ask anything")
        await terminal.see("字" * 19)
        await terminal.until(lambda: all(len(line) <= NARROW for line in terminal.lines), "short lines")
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
    assert (place.project / "a.txt").read_text() == f"one\n{long.upper()}\nthree\n"


@pytest.mark.parametrize("locale", ["C", "POSIX", "de_DE.ISO-8859-1"])
async def test_in_another_locale_text_is_complete(place: Place, locale: str) -> None:
    (place.project / "ä.txt").write_text("ö\n")
    read = ToolCall("read_file", {"path": "ä.txt"})
    async with serve([Reply(tool_calls=(read,)), Reply("Grüße, 世界 👍")]) as server:
        async with place.chat(server, LC_ALL=locale, LANG=locale) as terminal:
            await terminal.see("scripted-large")
            terminal.type("liès @ä")
            await terminal.see("@ä.txt")
            terminal.type(TAB)
            await terminal.see("❯ liès @ä.txt")
            terminal.type(f" too{ENTER}")
            await terminal.see("Grüße, 世界 👍")
        assert "liès" in str(server.requests[-1].body)


async def test_an_endless_line_is_drawn_and_does_not_stall(place: Place) -> None:
    text = tuple("abcdefghij" * 500 for _ in range(20))
    async with serve([Reply(text=text), Reply("Next.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"go{ENTER}")
        await terminal.see("abcdefghij")
        await terminal.see("Ask anything")
        terminal.type(f"{'p' * 3000}{ENTER}")
        await terminal.see("Next.")
        assert "p" * 3000 in str(server.requests[-1].body)


async def test_invalid_utf8_does_not_end_a_piped_chat(place: Place) -> None:
    async with serve([Reply("One."), Reply("Two.")]) as server:
        done = await place.piped(server, b"caf\xe9\r\n\n  \nlast line without an end")
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout.decode() == "❯ caf\ufffd\n\nOne.\n\n❯ last line without an end\n\nTwo.\n"


async def test_an_agent_that_dies_during_a_question_asks_again(place: Place) -> None:
    async with place.asked_about_an_edit(*EDITING[:2], Reply("After all.")) as terminal:
        for child in children_of(terminal.process.pid):
            os.kill(child, signal.SIGKILL)
        await terminal.see("was restarted")
        await terminal.until(lambda: terminal.text.count("Asked because") == 2, "the question, again")
        await terminal.until(lambda: "  Your answer:" in terminal.lines, "its keys")
        terminal.type("n")
        await terminal.see("After all.")
    assert (place.project / "a.txt").read_text() == BEFORE


async def test_an_agent_that_dies_repeatedly_is_given_up(place: Place) -> None:
    async with serve([]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        dead: set[int] = set()
        with anyio.fail_after(90):
            while not terminal.has_ended:
                for child in children_of(terminal.process.pid) if terminal.process.returncode is None else ():
                    if child not in dead:
                        os.kill(child, signal.SIGKILL)
                        dead.add(child)
                await anyio.sleep(0.05)
        assert await terminal.end() == 1
    assert "ended with status -9" in terminal.text


async def test_ctrl_d_during_a_turn_ends_the_chat_and_the_agent(place: Place) -> None:
    never = anyio.Event()
    replies = [Reply(text=("Begun", " and never ended"), holds=(Hold(never, after=1),))]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"go{ENTER}")
        await terminal.see("Begun")
        (agent,) = map(watch_process, children_of(terminal.process.pid))
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
        await wait_for_end(agent)
        await terminal.see("chat --resume ses_")


async def test_ctrl_c_at_a_question_rejects_and_stops(place: Place) -> None:
    async with place.asked_about_an_edit(
        Reply(tool_calls=(READ,)), Reply(tool_calls=(WRITE,)), Reply("Next.")
    ) as terminal:
        terminal.type(CTRL_C)
        await terminal.see("Stopped.")
        terminal.type(f"more{ENTER}")
        await terminal.see("Next.")
    assert (place.project / "a.txt").read_text() == BEFORE


async def test_an_invalid_mode_is_reported() -> None:
    argv = [sys.executable, "-m", "hermes_acp", "chat", "--mode", "nope"]
    done = await anyio.run_process(argv, check=False, env=dict(os.environ))
    assert done.returncode == 2
    assert b"accept_edits" in done.stderr


async def test_ctrl_z_leaves_no_character_in_the_line(place: Place) -> None:
    async with serve([Reply("Hello.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"good{CTRL_Z}bye{ENTER}")
        await terminal.see("Hello.")
        assert "❯ goodbye" in terminal.text
