"""`hermes-acp chat` on a real terminal with a scripted model: what a user sees and does."""

from __future__ import annotations

import os
import signal
import stat
import sys

import anyio
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment
from tests.e2e.chat_environment import BEFORE, EDITING, REWRITING, Place, children_of
from tests.e2e.chat_terminal import CTRL_C, CTRL_D, ENTER, ESCAPE, TAB
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]


async def test_an_answer_streams_and_is_rendered(place: Place) -> None:
    go = anyio.Event()
    text = ("# Plan\n\nIt is **bo", "ld** and 日本語 👍.\n\n```python\nx = 1\n```\n\nTh", "e end.")
    reply = Reply(text=text, thinking="First I look.\nThen I think.\nThen more.", holds=(Hold(go, after=2),))
    async with serve([reply]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large · ask")
        terminal.type(f"tell me{ENTER}")
        await terminal.see("It is **bo")
        assert "The end." not in terminal.text
        go.set()
        await terminal.see("The end.")
        await terminal.see("Ask anything")
        for shown in ("❯ tell me", "∴ First I look.", "1 more line: /thoughts", "Plan", "日本語", "  x = 1"):
            await terminal.see(shown)
        for source in ("**", "```", "# Plan"):
            await terminal.until(lambda source=source: source not in terminal.text, f"{source} no more")
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
        await terminal.see("chat --resume ses_")


async def test_an_edit_is_shown_and_approved(place: Place) -> None:
    async with place.asked_about_an_edit() as terminal:
        for shown in ("1 - one", "1 + ONE", "1 Allow once"):
            await terminal.see(shown)
        assert terminal.colours_of("- one") == {"red"}
        assert terminal.colours_of("+ ONE") == {"green"}
        terminal.type("1")
        await terminal.see("→ Allow once")
        await terminal.see("All done.")
    assert (place.project / "a.txt").read_text().startswith("ONE\n")


async def test_an_edit_is_rejected(place: Place) -> None:
    async with place.asked_about_an_edit() as terminal:
        terminal.type("n")
        await terminal.see("→ Reject")
        await terminal.see("All done.")
        await terminal.see("⊘ Edit")
    assert (place.project / "a.txt").read_text() == BEFORE


async def test_a_rejection_can_give_a_reason(place: Place) -> None:
    async with serve(EDITING) as server, place.chat(server) as terminal:
        terminal.type(f"change it{ENTER}")
        await terminal.see("Your answer:")
        terminal.type("c")
        await terminal.see("Why not?")
        terminal.type(f"lower case, please{ENTER}")
        await terminal.see("Rejected: lower case, please")
        await terminal.see("All done.")
        assert "lower case, please" in str(server.requests[-1].body)


async def test_single_hunks_are_accepted(place: Place) -> None:
    async with place.asked_about_an_edit(*REWRITING) as terminal:
        terminal.type("h")
        await terminal.see("Accept hunk 1 of 2?")
        terminal.type("n")
        await terminal.see("Accept hunk 2 of 2?")
        terminal.type("y")
        await terminal.see("Allowed in part: 1 of 2 changes")
        await terminal.see("All done.")
    assert (place.project / "a.txt").read_text() == BEFORE.replace("ten", "TEN")


async def test_ctrl_c_stops_the_turn_and_the_chat_continues(place: Place) -> None:
    never = anyio.Event()
    replies = [Reply(text=("Begun", " and never ended"), holds=(Hold(never, after=1),)), Reply("Here again.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        terminal.type(f"go{ENTER}")
        await terminal.see("Begun")
        terminal.type(CTRL_C)
        await terminal.see("Stopped.")
        terminal.type(f"more{ENTER}")
        await terminal.see("Here again.")
        await terminal.see("Ask anything")
        terminal.type(CTRL_C)
        await terminal.see("Ctrl+C again")
        terminal.type(CTRL_C)
        assert await terminal.end() == 0


async def test_a_message_sent_during_a_turn_waits_for_its_end(place: Place) -> None:
    go = anyio.Event()
    replies = [Reply(text=("First", " answer."), holds=(Hold(go, after=1),)), Reply("Second answer.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        terminal.type(f"one{ENTER}")
        await terminal.see("First")
        terminal.type(f"two{ENTER}")
        await terminal.see("❯ two  (queued)")
        go.set()
        await terminal.see("Second answer.")

        def shown() -> list[str]:
            return [line for line in terminal.text.splitlines() if line.startswith(("❯", "First", "Second"))]

        said = ["❯ one", "First answer.", "❯ two", "Second answer."]
        await terminal.until(lambda: shown()[:4] == said, "both in their order")


async def test_commands_files_and_lines_are_completed(place: Place) -> None:
    async with serve([Reply("Got it.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type("/und")
        await terminal.see("/undo")
        await terminal.see("Undo the file changes of the last turn")
        terminal.type("\x15@a")
        await terminal.see("@a.txt")
        terminal.type(TAB)
        await terminal.see("❯ @a.txt")
        terminal.type(f"{ESCAPE}{ENTER}second line{ENTER}")
        await terminal.see("Got it.")
        assert "a.txt" in str(server.requests[-1].body)
        await terminal.see("❯ @a.txt\n  second line")


async def test_options_are_chosen_by_number(place: Place) -> None:
    async with serve([]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large · ask")
        terminal.type(f"/mode{ENTER}")
        await terminal.see("Which number?")
        terminal.type(f"3{ENTER}")
        await terminal.see("scripted-large · plan")
        terminal.type(f"/effort low{ENTER}")
        await terminal.see("effort low")


@pytest.mark.slow
async def test_a_killed_agent_is_restarted_and_nothing_is_lost(place: Place) -> None:
    never = anyio.Event()
    replies = [
        Reply("First answer."),
        Reply(text=("Half of", " it"), holds=(Hold(never, after=1),)),
        Reply("Whole."),
    ]
    async with serve(replies) as server, place.chat(server) as terminal:
        terminal.type(f"one{ENTER}")
        await terminal.see("First answer.")
        terminal.type(f"two{ENTER}")
        await terminal.see("Half of")
        for child in children_of(terminal.process.pid):
            os.kill(child, signal.SIGKILL)
        await terminal.see("was restarted")
        await terminal.until(lambda: terminal.text.count("First answer.") == 1, "one first answer")
        terminal.type(f"go on{ENTER}")
        await terminal.see("Whole.")
        said = str(server.requests[-1].body)
        assert "one" in said
        assert "First answer." in said
        assert "two" in said


async def test_a_session_is_resumed_with_its_past(place: Place) -> None:
    async with serve([Reply("First answer."), Reply("Second answer.")]) as server:
        async with place.chat(server) as terminal:
            terminal.type(f"remember me{ENTER}")
            await terminal.see("First answer.")
            await terminal.see("Ask anything")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0
        async with place.chat(server, "--continue") as terminal:
            await terminal.see("Resumed session")
            await terminal.see("❯ remember me")
            await terminal.see("First answer.")
            terminal.type("\x1b[A")
            await terminal.see("❯ remember me")
            terminal.type(f"\x15/sessions{ENTER}")
            await terminal.see("Which session?")
            await terminal.see("— open")
            terminal.type(f"f1{ENTER}")
            await terminal.until(lambda: terminal.text.count("Resumed session") == 2, "the copy")
            terminal.type(f"more{ENTER}")
            await terminal.see("Second answer.")


@pytest.mark.slow
async def test_history_is_private_and_can_be_disabled(place: Place) -> None:
    async with serve([Reply("Yes.")]) as server:
        async with place.chat(server, "--private") as terminal:
            await terminal.see("scripted-large")
            terminal.type(f"/help{ENTER}")
            await terminal.see("Keys")
        assert not list(place.home.glob(".hermes/chat-history/*"))
        async with place.chat(server) as terminal:
            terminal.type(f"hello{ENTER}")
            await terminal.see("Yes.")
    (kept,) = place.home.glob(".hermes/chat-history/*")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text() == '"hello"\n'


async def test_text_from_the_model_or_a_program_cannot_control_the_terminal(place: Place) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred \x9b31m \u202etxt.exe and &#27;[31m `\x1b[5m`"
    (place.project / "evil.txt").write_text(evil)
    call = ToolCall("terminal", {"command": "cat evil.txt; false"})
    replies = [Reply(text=evil, tool_calls=(call,)), Reply("All done.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        terminal.type(f"go{ENTER}")
        await terminal.see("All done.")
    assert "␛]0;owned" in terminal.text
    for code in (b"\x1b]0;", b"\x1b[2J", b"\x1b[5m", "\x9b".encode(), "\u202e".encode()):
        assert code not in terminal.raw


@pytest.mark.slow
async def test_colours_can_be_disabled(place: Place) -> None:
    async with serve(EDITING) as server, place.chat(server, NO_COLOR="1") as terminal:
        terminal.type(f"change it{ENTER}")
        await terminal.see("Your answer:")
        assert terminal.colours_of("+ ONE") == {"default"}
        terminal.type("y")
        await terminal.see("All done.")
    assert not any(b"\x1b[%dm" % code in terminal.raw for code in range(30, 50))


async def test_a_dumb_terminal_gets_lines_and_plain_questions(place: Place) -> None:
    async with serve(EDITING) as server, place.chat(server, TERM="dumb") as terminal:
        await terminal.see(">")
        terminal.type("change it\n")
        await terminal.see("Your answer:")
        terminal.type("y\n")
        await terminal.see("All done.")
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
    assert b"\x1b" not in terminal.raw
    assert (place.project / "a.txt").read_text().startswith("ONE\n")


async def test_a_pipe_gets_plain_text(place: Place) -> None:
    async with serve([Reply("# One\n\n**bold** text."), Reply("Two.")]) as server:
        done = await place.piped(server, b"first\nsecond\n")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "❯ first\n\n# One\n\n**bold** text.\n\n❯ second\n\nTwo.\n"


async def test_nobody_is_asked_in_a_pipe(place: Place) -> None:
    async with serve(EDITING) as server:
        done = await place.piped(server, b"change it\n")
    assert done.returncode == 5
    assert "Not run, because nobody is available to approve it" in done.stdout.decode()
    told = server.requests[-1].asked.last_text
    assert "nobody answered" in told
    assert "refused" not in told
    assert (place.project / "a.txt").read_text() == BEFORE


async def test_a_missing_session_is_reported(place: Place) -> None:
    async with serve([]) as server:
        done = await place.piped(server, b"", "--resume", "ses_none")
    assert done.returncode == 2
    told = done.stderr.decode()
    assert "ses_none" in told
    assert "was refused" not in told, "the call and its code are for a program's author"


async def test_without_a_model_the_chat_says_what_to_do(place: Place) -> None:
    environment = {"LC_ALL": "C.UTF-8", **agent_environment(place.home)}
    with anyio.fail_after(WAIT_S):
        done = await anyio.run_process([COMMAND, "chat"], input=b"hi\n", env=environment, check=False)
    assert done.returncode == 2
    assert "hermes-acp setup" in done.stderr.decode()


async def test_without_its_packages_the_chat_names_them() -> None:
    hidden = "import sys; sys.modules['rich'] = None; sys.argv[1:] = ['chat']"
    code = f"{hidden}; import hermes_acp.__main__ as it; it.main()"
    with anyio.fail_after(WAIT_S):
        done = await anyio.run_process([sys.executable, "-c", code], check=False)
    assert done.returncode == 2
    assert "packages that are not installed: rich" in done.stderr.decode()
    assert "Reinstall hermes-acp" in done.stderr.decode()


async def test_the_screen_is_redrawn_for_a_smaller_window(place: Place) -> None:
    async with serve([Reply("Words " * 60)]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.resize(20, 50)
        terminal.type(f"talk{ENTER}")
        await terminal.see("Words")
        await terminal.see("Ask anything")

        def is_drawn() -> bool:
            asks = sum(line.startswith("❯ Ask") for line in terminal.lines)
            return asks == 1 and all(len(line) <= 50 for line in terminal.lines)

        await terminal.until(is_drawn, "one line to ask in, and none too long")
