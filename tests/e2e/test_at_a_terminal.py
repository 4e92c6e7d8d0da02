"""The output of `hermes-acp` and its commands at a terminal and with `2>&1`."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, run_command
from tests.model_server import Reply, ToolCall, serve

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX"),
]


class Terminal:
    """A command, with one terminal for all three of its streams."""

    def __init__(self, control: int, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._control = control
        self._shown = b""
        self._position = 0

    async def wait_for(self, words: str) -> str:
        """Read until the words appear, or the command has ended; return all output."""
        with anyio.fail_after(WAIT_S):
            while words.encode() not in self._shown:
                await anyio.wait_readable(self._control)
                try:
                    piece = os.read(self._control, 4096)
                except OSError:  # A terminal whose other side was closed.
                    break
                self._shown += piece
        return self._shown.decode()

    async def wait_for_next(self, words: str) -> None:
        """Read until the words appear after those of the previous wait."""
        with anyio.fail_after(WAIT_S):
            while (found := self._shown.find(words.encode(), self._position)) < 0:
                await anyio.wait_readable(self._control)
                self._shown += os.read(self._control, 4096)
        self._position = found + len(words.encode())

    def type(self, words: str) -> None:
        """Type text, including control characters."""
        os.write(self._control, words.encode())

    async def ended(self) -> int:
        """Wait for the end; return the exit code and all output."""
        with anyio.fail_after(WAIT_S):
            return await anyio.to_thread.run_sync(self.process.wait, abandon_on_cancel=True)


@contextmanager
def terminal(*arguments: str, home: Path, command: str = COMMAND, **variables: str) -> Generator[Terminal]:
    control, side = pty.openpty()
    try:
        with subprocess.Popen(
            [command, *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            env=agent_environment(home, None, TERM="xterm", **variables),
            cwd=home,
            start_new_session=True,
        ) as process:
            os.close(side)
            try:
                yield Terminal(control, process)
            finally:
                process.kill()
    finally:
        os.close(control)


async def test_the_server_tells_a_user_what_it_waits_for(tmp_path: Path) -> None:
    with terminal("acp", home=tmp_path) as person:
        assert "hermes-acp chat" in await person.wait_for("Ctrl+C")


async def test_without_a_command_setup_is_offered_first_and_then_chat(tmp_path: Path) -> None:
    with terminal(home=tmp_path) as person:
        shown = await person.wait_for("Your choice [s]: ")
        assert "No model is set up yet." in shown
        assert "hermes-acp chat" in shown
        person.type("\n")
        await person.wait_for("Which provider?")


async def test_with_a_model_the_chat_is_offered_first(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text("provider: ollama\n")
    with terminal(home=tmp_path) as person:
        await person.wait_for("Your choice [c]: ")
        person.type("q\n")
        assert await person.ended() == 0


async def test_a_chat_without_a_model_offers_setup_and_starts_after_it(tmp_path: Path) -> None:
    async with serve([Reply("OK.")]) as server:
        with terminal("chat", home=tmp_path) as person:
            await person.wait_for_next("Set up a model now?")
            person.type("\n")
            await person.wait_for_next("Number")
            shown = await person.wait_for("Number")
            (line,) = [line for line in shown.splitlines() if "OpenAI's chat completions" in line]
            person.type(f"{line.split('.')[0].strip()}\n")
            for question, typed in (
                ("Base URL", server.openai_base_url),
                ("API key", ""),
                ("Model:", ""),
                ("Set up an editor too?", ""),
            ):
                await person.wait_for_next(question)
                person.type(f"{typed}\n")
            await person.wait_for_next("What next?")
            await person.wait_for_next("/help for commands and keys")


async def test_a_chat_with_broken_settings_offers_to_repair_them(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text("provider: none\n")
    with terminal("chat", home=tmp_path) as person:
        await person.wait_for_next("line 1: `provider`")
        await person.wait_for_next("Repair the settings now?")
        person.type("\n")
        await person.wait_for_next("keep a copy of the file")


async def test_a_run_with_both_outputs_in_one_pipe_still_reports_errors(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / "config.yaml").write_text("modle: x\n")
    with anyio.fail_after(WAIT_S):
        done = await anyio.run_process(
            [COMMAND, "run", "-p", "hi"],
            env=agent_environment(tmp_path, OPENAI_API_KEY="sk-test"),
            cwd=tmp_path,
            check=False,
            stderr=subprocess.STDOUT,
        )
    assert (done.returncode, b"did you mean `mode`" in done.stdout) == (2, True)


@pytest.mark.parametrize(
    ("named", "said"), [("none", "cannot be read: No such file or directory."), ("odd", "is not UTF-8.")]
)
async def test_an_unreadable_prompt_file_is_reported_in_plain_words(
    named: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "odd").write_bytes(b"\xff")
    done = await run_command("run", "-p", f"@{named}", environment=agent_environment(tmp_path), cwd=tmp_path)
    assert (done.code, done.errors) == (2, f"hermes-acp: The prompt file '{named}' {said}\n")


async def test_a_call_that_failed_says_why(tmp_path: Path) -> None:
    edit = ToolCall("edit_file", {"path": "none.txt", "old_text": "one", "new_text": "two"})
    async with serve([Reply(tool_calls=(edit,)), Reply("Done.")]) as server:
        done = await run_command(
            "run", "-p", "edit", environment=agent_environment(tmp_path, server), cwd=tmp_path
        )
    (line,) = [line for line in done.errors.splitlines() if line.startswith("·")]
    assert "failed: " in line
    assert "none.txt" in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sessions",), "There are no sessions here yet."),
        (("mcp",), "There are no MCP servers here."),
        (("checkpoints",), "No session has changed a file"),
        (("runs",), "No runs are open."),
        (("schedule",), "No schedules."),
        (("profiles",), "default"),
        (("board",), "No cards."),
        (("policy", "list"), "There are no permanent answers."),
        (("policy", "forget"), "There are no permanent answers for"),
    ],
)
async def test_a_group_alone_lists_and_an_empty_list_says_so(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = await run_command(*words, environment=agent_environment(tmp_path), cwd=tmp_path)
    assert said in done.output + done.errors


async def test_rules_that_a_folder_contains_are_named_once(tmp_path: Path) -> None:
    (tmp_path / "project" / ".hermes").mkdir(parents=True)
    (tmp_path / "project" / ".hermes" / "policy.yaml").write_text("rules: [{allow: {command: npm run}}]\n")
    done = await run_command(
        "trust", "--list", "project", environment=agent_environment(tmp_path), cwd=tmp_path
    )
    assert done.output.startswith("not trusted: rules: allow command npm run (")
