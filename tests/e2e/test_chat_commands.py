"""Slash commands and options of the chat, as users enter them, even right at the start."""

from __future__ import annotations

import base64
import sys

import pytest

from tests.e2e.agent_process import agent_environment, run_command
from tests.e2e.chat_environment import Place
from tests.e2e.chat_terminal import CTRL_D, ENTER
from tests.model_server import Reply, ToolCall, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_a_model_named_at_the_start_is_used(place: Place) -> None:
    async with serve([Reply("One."), Reply("Two.")]) as server:
        done = await place.piped(server, b"hi\n", "--model", "scripted-small")
        assert done.returncode == 0, done.stderr.decode()
        done = await place.piped(server, b"/model scripted-small\nhi\n")
        assert done.returncode == 0, done.stderr.decode()
        assert "Model: scripted-small" in done.stdout.decode()
        assert [request.body["model"] for request in server.requests] == ["scripted-small"] * 2


async def test_bypass_mode_needs_its_own_flag(place: Place) -> None:
    async with serve([Reply("Here.")]) as server:
        done = await place.piped(server, b"hi\n", "--mode", "bypass")
        assert (done.returncode, server.requests) == (2, [])
        assert "bypass" in done.stderr.decode()
        done = await place.piped(server, b"hi\n", "--mode", "bypass", "--allow-bypass")
        assert (done.returncode, len(server.requests)) == (0, 1), done.stderr


async def test_an_unavailable_model_ends_the_chat(place: Place) -> None:
    async with serve([]) as server:
        done = await place.piped(server, b"hi\n", "--model", "nope")
        assert done.returncode == 2
        assert "There is no model 'nope'. Choose one of: scripted-large" in done.stderr.decode()
        done = await place.piped(server, b"", "--model", "nope")
        assert (done.returncode, b"There is no model 'nope'" in done.stderr) == (2, True), done.stderr
        async with place.chat(server, "--model", "nope") as terminal:
            await terminal.see("There is no model 'nope'")
            assert await terminal.end() == 2
        assert not server.requests


async def test_an_unknown_command_is_not_a_prompt(place: Place) -> None:
    async with serve([Reply("A file.")]) as server:
        done = await place.piped(server, b"/udno\n/xyzzy now\n/etc/hosts is what?\n")
        told = done.stdout.decode()
        assert "Unknown command /udno. Did you mean /undo?" in told
        assert "Unknown command /xyzzy. /help lists the commands." in told
        assert "A file." in told
        assert done.returncode == 1
        assert len(server.requests) == 1
        assert "/etc/hosts is what?" in str(server.requests[0].body)


async def test_the_last_session_with_messages_is_continued(place: Place) -> None:
    async with serve([Reply("First answer.")]) as server:
        async with place.chat(server) as terminal:
            await terminal.see("scripted-large")
            terminal.type(f"remember me{ENTER}")
            await terminal.see("First answer.")
            await terminal.see("Ask anything")
            terminal.type(f"/clear{ENTER}")
            await terminal.see("New session.")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0
        async with place.chat(server, "--continue") as terminal:
            await terminal.see("❯ remember me")
        environment = agent_environment(place.home, server)
        listed = await run_command("sessions", "list", environment=environment, cwd=place.project)
        assert listed.output.count("ses_") == 1, "a session without messages is listed nowhere"


async def test_a_users_own_command_is_asked_about_and_shown_to_the_model(place: Place) -> None:
    async with serve([Reply("I see it.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"!seq 3 > out.txt && echo said $((40+2)) && curl http://127.0.0.1:9{ENTER}")
        await terminal.see("Your answer:")
        terminal.type("n")
        await terminal.see("→ Reject")
        await terminal.see("Ask anything")
        assert not (place.project / "out.txt").exists()
        terminal.type(f"!echo said $((40+2)){ENTER}")
        await terminal.see("said 42")
        await terminal.see("Ask anything")
        terminal.type(f"and?{ENTER}")
        await terminal.see("I see it.")
        sent = str(server.requests[-1].body)
        assert len(server.requests) == 1
        assert "The user ran this command themselves: echo said $((40+2))" in sent
        assert "said 42" in sent


async def test_a_conversation_is_exported_copied_and_priced(place: Place) -> None:
    async with serve([Reply("The **answer**.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"ask{ENTER}")
        await terminal.see("The answer.")
        await terminal.see("Ask anything")
        terminal.type(f"/export talk.md{ENTER}")
        await terminal.see("Wrote this conversation to")
        assert "## You\n\nask\n\n## Agent\n\nThe **answer**." in (place.project / "talk.md").read_text()
        terminal.type(f"/export talk.md{ENTER}")
        await terminal.see("notes.md")
        terminal.type(f"/cost{ENTER}")
        await terminal.see("input tokens")
        terminal.type(f"/config{ENTER}")
        await terminal.see("hermes-acp setup writes it")
        terminal.type(f"/copy{ENTER}")
        await terminal.see("clipboard")
        assert b"\x1b]52;c;" in terminal.raw


async def test_an_agents_file_is_written_on_request(place: Place) -> None:
    write = ToolCall("write_file", {"path": "AGENTS.md", "content": "Run make.\n"})
    async with (
        serve([Reply(tool_calls=(write,)), Reply("Written.")]) as server,
        place.chat(server, "--mode", "accept_edits") as terminal,
    ):
        await terminal.see("accept_edits")
        terminal.type(f"/init the tests{ENTER}")
        await terminal.see("Your answer:")
        terminal.type("y")
        await terminal.see("Written.")
        assert "/init the tests" in str(server.requests[0].body)
        assert "The user wants an AGENTS.md" in str(server.requests[0].body)
    assert (place.project / "AGENTS.md").read_text() == "Run make.\n"


async def test_mentions_include_the_files_content(place: Place) -> None:
    (place.project / "shot.png").write_bytes(base64.b64decode(PIXEL))
    async with serve([Reply("Got it.")]) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"see @a.txt @nope.txt and @shot.png{ENTER}")
        await terminal.see("There is no file nope.txt. Press Enter again")
        assert not server.requests
        terminal.type(ENTER)
        await terminal.see("Got it.")
        sent = str(server.requests[0].body)
        assert "four\\nfive" in repr(server.requests[0].body)
        assert PIXEL in sent


async def test_a_conversation_is_rewound_to_before_a_prompt(place: Place) -> None:
    replies = [Reply("Apples."), Reply("Pears."), Reply("Plums.")]
    async with serve(replies) as server, place.chat(server) as terminal:
        await terminal.see("scripted-large")
        terminal.type(f"/rewind{ENTER}")
        await terminal.see("There is no prompt to go back to.")
        for word, answer in (("one", "Apples."), ("two", "Pears.")):
            terminal.type(f"{word}{ENTER}")
            await terminal.see(answer)
            await terminal.see("Ask anything")
        terminal.type(f"/rewind{ENTER}")
        await terminal.see("Go back to which prompt?")
        await terminal.see("1 two")
        terminal.type(f"1{ENTER}")
        await terminal.see("a copy of the session up to that prompt")
        await terminal.until(lambda: "❯ two" in terminal.lines, "the prompt in the line")
        terminal.type(f" again{ENTER}")
        await terminal.see("Plums.")
        said = [message["content"] for message in server.requests[-1].body["messages"][1:]]
        assert said == ["one", "Apples.", "two again"]
