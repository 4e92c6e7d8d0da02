"""Starting, suspending and continuing a chat, and its list of the session's changes."""

from __future__ import annotations

import sys

import pytest

from tests.e2e.agent_process import COMMAND, agent_environment
from tests.e2e.chat_environment import EDITING, Place
from tests.e2e.chat_terminal import CTRL_C, CTRL_D, ENTER, chat_on_terminal
from tests.model_server import Reply, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
CTRL_Z = "\x1a"
SHELL = (
    sys.executable,
    "-c",
    "import fcntl, os, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])",
)
"""A shell with job control on its terminal."""


async def test_a_chat_starts_with_a_prompt_and_with_a_selected_session(place: Place) -> None:
    async with serve([Reply("One."), Reply("Two."), Reply("Three.")]) as server:
        async with place.chat(server, "apples", "first") as terminal:
            await terminal.see("❯ apples first")
            await terminal.see("One.")
            await terminal.see("Ask anything")
            terminal.type(f"/rename Fruit talk{ENTER}")
            await terminal.see("This session is now called Fruit talk.")
            terminal.type(CTRL_D)
            assert await terminal.end() == 0
        done = await place.piped(server, b"pears\n", "--resume")
        assert (done.returncode, b"needs a session ID" in done.stderr) == (2, True), done.stderr
        async with place.chat(server, "--resume") as terminal:
            await terminal.see("1 Fruit talk")
            await terminal.see("“apples first”")
            await terminal.see("Which session?")
            terminal.type(f"1{ENTER}")
            await terminal.see("❯ apples first")
            await terminal.see("Resumed session: Fruit talk")
            terminal.type(f"/new{ENTER}")
            await terminal.see("New session.")
            terminal.type(f"/resume{ENTER}")
            await terminal.see("Enter to stay")
            terminal.type(f"1{ENTER}")
            await terminal.until(lambda: terminal.text.count("Resumed session") == 2, "resumed again")
        done = await place.piped(server, b"", "pears")
        assert b"Two." in done.stdout, done.stdout


async def test_control_z_suspends_the_chat_until_it_is_in_the_foreground_again(place: Place) -> None:
    async with serve([Reply("Here again.")]) as server:
        environment = {**agent_environment(place.home, server), "PS1": "shell> "}
        async with chat_on_terminal(environment=environment, cwd=place.project, command=SHELL) as terminal:
            await terminal.see("shell>")
            terminal.type(f"{COMMAND} chat{ENTER}")
            await terminal.see("scripted-large")
            terminal.type(f"draft{CTRL_Z}")
            await terminal.see("Stopped")
            terminal.type(f"echo in $((40+2)){ENTER}")
            await terminal.see("in 42")
            terminal.type(f"fg{ENTER}")
            await terminal.until(lambda: "❯ draft" in terminal.lines, "the draft")
            terminal.type(f" text{ENTER}")
            await terminal.see("Here again.")
            assert server.requests[-1].body["messages"][-1]["content"] == "draft text"
            terminal.type(CTRL_D)
            await terminal.see("Resume with:")


async def test_the_changes_of_a_session_are_shown_by_file(place: Place) -> None:
    async with serve(EDITING) as server, place.chat(server, "--mode", "accept_edits") as terminal:
        await terminal.see("accept_edits")
        terminal.type(f"/diff{ENTER}")
        await terminal.see("This session has changed no files.")
        terminal.type(f"change it{ENTER}")
        await terminal.see("All done.")
        await terminal.see("Ask anything")
        terminal.type(f"?{ENTER}")
        await terminal.see("/diff")
        terminal.type(f"/diff a.txt{ENTER}")
        await terminal.until(lambda: terminal.text.count("+ ONE") == 2, "the diff, once more")
        terminal.type(f"/diff b.txt{ENTER}")
        await terminal.see("This session has not changed b.txt.")
        terminal.type(CTRL_C * 2)
