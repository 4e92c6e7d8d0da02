"""`hermes-acp chat --full` on a real terminal: a whole session as a user experiences it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment
from tests.e2e.chat_environment import BEFORE, REWRITING, Place
from tests.e2e.chat_terminal import CTRL_D, ENTER
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX"),
]
CTRL_G = "\x07"
F2, F3, F4, F6 = "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[17~"
COLOURS = re.compile(rb"\x1b\[[0-9;]*\b(3[0-7]|9[0-7]|4[0-7]|38|48)\b[0-9;]*m")
WITHOUT_TEXTUAL = """
import sys
sys.modules["textual"] = None
from hermes_acp.frontends.chat.chat_command import chat_command
sys.exit(chat_command(["--full"]))
"""


@pytest.mark.slow
async def test_a_whole_session(place: Place) -> None:
    replies = [Reply("Hello. ☂"), *REWRITING, Reply("Second session here.")]
    async with serve(replies) as server, place.chat(server, "--full") as terminal:
        await terminal.see("scripted-large · ask")
        terminal.type(f"first things{ENTER}")
        await terminal.see("Hello. ☂")
        terminal.type(f"change it{ENTER}")
        await terminal.see("F2 answers the question")
        assert terminal.colours_of("- one") == {"red"}
        assert terminal.colours_of("+ ONE") == {"green"}
        terminal.type(f"{F2}h")
        await terminal.see("Waiting for your approval")
        terminal.type("nys")
        await terminal.see("Allowed in part: 1 of 2 changes")
        await terminal.see("All done.")
        terminal.type(f"/new{ENTER}")
        await terminal.see("All done.", gone=True)
        terminal.type(f"again{ENTER}")
        await terminal.see("Second session here.")
        terminal.resize(20, 70)
        terminal.type(F4)
        await terminal.see("Enter open")
        await terminal.see("first things")
        terminal.type(f"j{ENTER}")
        await terminal.see("Resumed session: first things")
        await terminal.see("Allowed in part: 1 of 2 changes", gone=True)
        terminal.type(F6)
        await terminal.see("The terminal selects text now.")
        assert b"\x1b[?1000l" in terminal.raw
        terminal.type(CTRL_D)
        assert await terminal.end() == 0
        await terminal.see("chat --resume ses_")
        assert b"\x1b[?1049l" in terminal.raw
    assert (place.project / "a.txt").read_text() == BEFORE.replace("ten", "TEN")


@pytest.mark.slow
async def test_the_prompt_is_edited_in_the_users_editor_while_an_answer_streams(
    place: Place, tmp_path: Path
) -> None:
    editor, opened, may_end = tmp_path / "editor", tmp_path / "opened", tmp_path / "may-end"
    editor.write_text(
        f"#!/bin/sh\ntest -t 0 || exit 1\ntouch {opened}\nuntil test -e {may_end}; do sleep 0.05; done\n"
        'sed -i "s/draft/final text/" "$1"\n'
    )
    editor.chmod(0o755)
    go, streamed = anyio.Event(), tuple(f"piece {number}\n\n" for number in range(60))
    look = ToolCall("read_file", {"path": "a.txt"})
    replies = [
        Reply(text=("Begun. ", *streamed), holds=(Hold(go, after=1),), delay_s=0.01, tool_calls=(look,)),
        Reply("Done."),
        Reply("Got it."),
    ]
    async with (
        serve(replies) as server,
        place.chat(server, "--full", EDITOR=str(editor)) as terminal,
    ):
        await terminal.see("scripted-large · ask")
        terminal.type(f"stream{ENTER}")
        await terminal.see("Begun.")
        terminal.type("a draft")
        await terminal.see("a draft")
        terminal.type(CTRL_G)
        with anyio.fail_after(WAIT_S):
            while not opened.exists():
                await anyio.sleep(0.02)
        go.set()
        await server.wait_for_request(2)
        may_end.touch()
        await terminal.see("❯ a final text")
        await terminal.see("Done.")
        terminal.type(f"!{ENTER}")
        await terminal.see("Got it.")
        assert "a final text!" in str(server.requests[-1].body)


async def test_a_hunk_is_edited_in_the_pane_and_the_edited_text_counts(place: Place, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncase "$1" in */a.txt) sed -i "s/ONE/Uno/" "$1";; *) exit 1;; esac\n')
    editor.chmod(0o755)
    async with (
        serve(REWRITING) as server,
        place.chat(server, "--full", EDITOR=str(editor)) as terminal,
    ):
        await terminal.see("scripted-large · ask")
        terminal.type(f"change it{ENTER}")
        await terminal.see("F2 answers the question")
        terminal.type(F3)
        await terminal.see("Waiting for your approval")
        terminal.type("e")
        await terminal.see("+ Uno")
        terminal.type("jns")
        await terminal.see("All done.")
        terminal.type(CTRL_D)
    assert (place.project / "a.txt").read_text() == BEFORE.replace("one", "Uno")
    assert "now contain what they want" in str(server.requests[-1].body)


async def test_the_input_has_the_focus_after_a_question(place: Place) -> None:
    replies = [*REWRITING, Reply("Heard.")]
    async with serve(replies) as server, place.chat(server, "--full") as terminal:
        await terminal.see("scripted-large · ask")
        terminal.type(f"change it{ENTER}")
        await terminal.see("F2 answers the question")
        terminal.type(f"{F2}n")
        await terminal.see("All done.")
        terminal.type(f"/rewind{ENTER}")
        await terminal.see("Go back to which prompt?")
        await terminal.see("1 Allow once", gone=True)
        terminal.type("\x1b")
        await terminal.see("Go back to which prompt?", gone=True)
        terminal.type(f"hello{ENTER}")
        await terminal.see("Heard.")


async def test_a_terminal_that_closes_without_a_signal_ends_the_chat(place: Place) -> None:
    master, slave = pty.openpty()
    async with serve([]) as server:
        process = await anyio.open_process(
            [COMMAND, "chat", "--full"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={"TERM": "xterm-256color", **agent_environment(place.home, server)},
            cwd=place.project,
            start_new_session=True,
        )
        os.close(slave)
        async with process:
            while b"scripted-large" not in await anyio.to_thread.run_sync(os.read, master, 65536):
                pass
            os.close(master)
            with anyio.fail_after(WAIT_S):
                await process.wait()


async def test_colours_can_be_disabled(place: Place) -> None:
    async with serve(REWRITING) as server, place.chat(server, "--full", NO_COLOR="1") as terminal:
        await terminal.see("scripted-large · ask")
        terminal.type(f"change it{ENTER}")
        await terminal.see("F2 answers the question")
        await terminal.see("+ ONE")
        assert not COLOURS.search(terminal.raw)


async def test_a_pipe_is_rejected_with_the_remedy(place: Place) -> None:
    async with serve([]) as server:
        done = await place.piped(server, b"hello\n", "--full")
    assert done.returncode == 2
    assert b"needs a terminal" in done.stderr


def test_without_textual_the_chat_says_how_to_install_it(place: Place) -> None:
    environment = agent_environment(place.home, None, PYTHONPATH=":".join(sys.path))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TEXTUAL],
        env=environment,
        capture_output=True,
        timeout=WAIT_S,
        check=False,
        text=True,
    )
    assert "needs the package textual" in done.stderr
    assert "pip install" in done.stderr
    assert "[tui]" in done.stderr
    assert done.returncode == 2
