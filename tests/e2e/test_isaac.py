"""isaac's client as it is published on PyPI: its terminals, our files, a permission request, and a form."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import pytest

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment
from tests.e2e.foreign_clients import AFTER, BEFORE, conversation, python_of
from tests.model_server import ModelServer, Reply, Rule, ToolCall, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]


class Terminal:
    """The terminal of a user, as they see it and type in it."""

    def __init__(self, process: anyio.abc.Process, server: ModelServer) -> None:
        assert process.stdin
        assert process.stdout
        self._sink, self._source = process.stdin, process.stdout
        self._shown = ""
        self.server = server

    async def type(self, line: str) -> None:
        await self._sink.send(line.encode() + b"\n")

    async def see(self, words: str) -> None:
        """Read on until these words appear; earlier text is not searched again."""
        while words not in self._shown:
            self._shown += (await self._source.receive()).decode(errors="replace")
        self._shown = self._shown.partition(words)[2]


@asynccontextmanager
async def isaac(home: Path, *rules: Rule, is_required: bool) -> AsyncGenerator[Terminal]:
    python = python_of("isaac", is_required=is_required)
    workspace = home / "workspace"
    workspace.mkdir()
    (workspace / "a.py").write_text(BEFORE)
    async with serve(conversation(*rules)) as server:
        environment = agent_environment(home, server, TERM="dumb", PYTHONUNBUFFERED="1")
        client = [python, "-m", "isaac.client", COMMAND]
        if rules:  # Without a terminal, it fills in no forms; script(1) gives it one.
            client = ["script", "-qfec", shlex.join(client), "/dev/null"]
        process = await anyio.open_process(client, env=environment, cwd=workspace, stderr=subprocess.STDOUT)
        async with process:
            try:
                with anyio.fail_after(2 * WAIT_S):
                    yield Terminal(process, server)
            finally:
                if process.returncode is None:
                    process.kill()


async def test_an_edit_is_asked_about_and_made(tmp_path: Path, require_all: bool) -> None:
    async with isaac(tmp_path, is_required=require_all) as user:
        await user.type("edit the file")
        await user.see("Permission choice (number):")
        await user.type("1")
        await user.see("The file is changed.")
    assert (tmp_path / "workspace" / "a.py").read_text() == AFTER


async def test_a_question_is_shown_as_a_form(tmp_path: Path, require_all: bool) -> None:
    asks = ToolCall("ask_user", {"question": "Which colour?", "choices": ["red", "blue"]})
    rule = Rule("ask me", (Reply(tool_calls=(asks,)), Reply("I have heard you.")), pick="step")
    async with isaac(tmp_path, rule, is_required=require_all) as user:
        await user.type("ask me")
        await user.see("Which colour?")
        await user.see(": ")
        await user.type("blue")
        await user.see(": ")
        await user.type("")
        await user.see("I have heard you.")
        assert "The user answered: blue" in user.server.requests[-1].asked.last_text
