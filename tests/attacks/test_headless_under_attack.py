"""Headless runs, in CI or at a terminal: text that attacks the reader, and prompts that are invalid."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.attacks.attack_checks import Part
from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import COMMAND
from tests.model_server import Reply, Script, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX")]
STEERING: Final = "\x1b]52;c;QUFB\x07\n::error::taken over\n\x9b2J\u202e"
KEY: Final = "sk-the-key-of-this-agent-itself"


@asynccontextmanager
async def environment_with(folder: Path, *replies: Reply) -> AsyncGenerator[tuple[Path, Mapping[str, str]]]:
    """Yield a workspace and an environment in which the model answers `go` with these replies."""
    part, work = Part(), folder / "workspace"
    work.mkdir()
    part.learn("go", *replies)
    async with serve(Script(choose=part.choose)) as server:
        yield work, agent_environment(folder, server, OPENAI_API_KEY=KEY)


def argv(work: Path, *more: str) -> list[str]:
    return [COMMAND, "run", "--cwd", str(work), *more]


async def test_no_call_controls_the_log_of_a_job(tmp_path: Path) -> None:
    calls = (
        ToolCall(f"evil{STEERING}", {}),
        ToolCall("terminal", {"command": f"touch a{STEERING}"}),
        ToolCall("read_file", {"path": f"a{STEERING}"}),
        ToolCall("delegate", {"tasks": [{"title": f"t{STEERING}", "instructions": "nothing"}]}),
        ToolCall("plan", {"entries": [{"content": f"p{STEERING}", "status": "pending"}]}),
        ToolCall("web_fetch", {"url": "http://127.0.0.1/\x1b[2J"}),
    )
    async with environment_with(tmp_path, Reply(f"words{STEERING}", tool_calls=calls)) as (work, variables):
        done = await anyio.run_process(argv(work, "-p", "go"), env=variables, check=False)
    assert done.returncode == 5
    noted = done.stderr.decode()
    assert [line for line in noted.splitlines() if line.startswith("::")] == []
    assert all(character.isprintable() or character == "\n" for character in noted), noted


async def test_no_answer_controls_a_terminal(tmp_path: Path) -> None:
    async with environment_with(tmp_path, Reply(f"words{STEERING}")) as (work, variables):
        ours, theirs = os.openpty()
        async with await anyio.open_process(
            argv(work, "-p", "go"), env=variables, stdin=subprocess.DEVNULL, stdout=theirs
        ) as run:
            os.close(theirs)
            with anyio.fail_after(60):
                assert await run.wait() == 0
        shown = read_to_end(ours).decode()
        os.close(ours)
    assert "words" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def read_to_end(terminal: int) -> bytes:
    """Read what was written to a terminal that has been closed: first chunks, then an error."""
    shown = b""
    with suppress(OSError):
        while piece := os.read(terminal, 65_536):
            shown += piece
    return shown


@pytest.mark.parametrize("given", [b"", b"\n \n"], ids=["nothing", "blanks"])
async def test_an_invalid_prompt_is_wrong_usage(tmp_path: Path, given: bytes) -> None:
    async with environment_with(tmp_path) as (work, variables):
        done = await anyio.run_process(argv(work), input=given, env=variables, check=False)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
async def test_prompts_of_any_bytes_and_size_are_accepted(tmp_path: Path) -> None:
    async with environment_with(tmp_path) as (work, variables):
        for given, code in ((b"\xff\xfe go away", 0), (b"\0", 2), (b"x" * 20_000_000, 0)):
            done = await anyio.run_process(argv(work), input=given, env=variables, check=False)
            assert (done.returncode, b"Traceback" in done.stderr) == (code, False)


async def test_without_a_user_nothing_is_approved_and_no_key_is_reported(tmp_path: Path) -> None:
    calls = tuple(
        ToolCall(name, arguments)
        for name, arguments in (
            ("terminal", {"command": "touch made"}),
            ("write_file", {"path": "made", "content": "x"}),
            ("execute_code", {"code": "open('made', 'w')"}),
            ("delegate", {"tasks": [{"title": "t", "instructions": "make it"}]}),
            ("terminal", {"command": "env"}),
        )
    )
    async with environment_with(tmp_path, Reply(tool_calls=calls)) as (work, variables):
        formatted = ("--output-format", "stream-json")
        done = await anyio.run_process(argv(work, "-p", "go", *formatted), env=variables, check=False)
        assert done.returncode == 5
        assert not (work / "made").exists()
        assert KEY.encode() not in done.stdout + done.stderr
        for kept in (tmp_path / ".hermes").rglob("*"):
            assert not kept.is_file() or KEY.encode() not in kept.read_bytes()
