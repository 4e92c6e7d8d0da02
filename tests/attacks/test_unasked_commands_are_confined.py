"""A command that nobody approved is confined in every mode, whatever the policy decided: the kernel enforces it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import detect_sandbox
from tests.attacks.attack_checks import ALLOW, AttackedAgent, attacked_agent, result_of
from tests.attacks.sandboxes import require
from tests.e2e.raw_editor import Answer, Message, permit
from tests.model_server import Reply, ToolCall

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sandboxes"),
]
MODES = ("ask", "plan", "accept_edits", "auto")
EVIL = """#!/bin/sh
echo the program of the repository ran
cat {canary}
cat .env ~/.netrc
echo x > pwned
echo x > {outside}/escaped
perl -MIO::Socket::UNIX -e 'print "reached a socket\\n" if IO::Socket::UNIX->new("listening")'
bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached a port'
exit 0
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def has_bubblewrap() -> None:
    require("bubblewrap", detect_sandbox({"PATH": os.defpath}, ()))


class Counted:
    """A user who gives the same answer each time and remembers the questions."""

    def __init__(self, option: str) -> None:
        self.titles: list[str] = []
        self._option = option

    def __call__(self, message: Message) -> Message:
        self.titles.append(str(message["toolCall"]["title"]))
        answer = permit(self._option)
        assert callable(answer)
        return answer(message)


class Bait:
    """A repository whose `git diff` starts a program, and what that program tries."""

    def __init__(self, siege: AttackedAgent) -> None:
        folder = self.folder = siege.workspace
        self.outside = siege.home
        (folder / "a.txt").write_text("one\n")
        for words in (["init", "-q"], ["add", "a.txt"], ["commit", "-qm", "first"]):
            subprocess.run(
                ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words], cwd=folder, check=True
            )
        (folder / "a.txt").write_text("two\n")
        (folder / ".env").write_text("KEY=the-key-in-the-workspace\n")
        self._net = socket.create_server(("127.0.0.1", 0))
        self._local = socket.socket(socket.AF_UNIX)
        self._local.bind(str(folder / "listening"))
        self._local.listen()
        port = self._net.getsockname()[1]
        self.evil = EVIL.format(canary=siege.canary, outside=siege.home, port=port)
        (folder / "evil").write_text(self.evil)
        (folder / "evil").chmod(0o755)
        with (folder / ".git" / "config").open("a") as config:
            config.write("[diff]\n\texternal = ./evil\n")

    def close(self) -> None:
        """Stop listening."""
        self._net.close()
        self._local.close()

    def check_free(self, text: str) -> None:
        """Fail if the program could not do its work without confinement."""
        assert all(words in text for words in ("the-key-in", "reached a socket", "reached a port"))
        assert (self.folder / "pwned").exists()
        assert (self.outside / "escaped").exists()

    def check(self, text: str) -> None:
        """Fail if the program did not run, or achieved anything it tried."""
        assert "the program of the repository ran" in text
        assert "canary-" not in text
        assert "the-key-in-the-workspace" not in text
        assert "reached a" not in text
        assert not (self.folder / "pwned").exists()
        assert not (self.outside / "escaped").exists()


@asynccontextmanager
async def baited(
    folder: Path, settings: str = "", answers: Mapping[str, Answer] = ALLOW
) -> AsyncGenerator[tuple[AttackedAgent, Bait]]:
    """Start an agent in a workspace that is such a repository."""
    async with attacked_agent(folder, settings=settings, answers=answers) as siege:
        bait = Bait(siege)
        try:
            yield siege, bait
        finally:
            bait.close()


@pytest.mark.parametrize("mode", MODES)
async def test_a_command_wrongly_classified_as_reading_changes_sees_and_reaches_nothing(
    tmp_path: Path, mode: str
) -> None:
    asked = Counted("reject_once")
    answers = {"session/request_permission": asked}
    async with baited(tmp_path, settings=f"mode: {mode}\n", answers=answers) as (siege, bait):
        end = await siege.call("terminal", {"command": "git diff"})
        bait.check(result_of(end))
    assert asked.titles == []


@pytest.mark.parametrize("command", ["env", "printenv", "env -0 | tr '\\0' '\\n'"])
async def test_variables_shown_without_approval_are_the_usual_ones(tmp_path: Path, command: str) -> None:
    asked = Counted("reject_once")
    told_names = {"DATABASE_DSN": "postgres-canary", "HARMLESS_LOOKING": "words-canary", "LC_TIME": "C.UTF-8"}
    async with attacked_agent(
        tmp_path, environment=told_names, answers={"session/request_permission": asked}
    ) as siege:
        shown = result_of(await siege.call("terminal", {"command": command}))
    assert "LC_TIME=C.UTF-8" in shown
    assert "-canary" not in shown
    assert asked.titles == []


async def test_a_command_approved_outside_the_sandbox_is_not_confined(tmp_path: Path) -> None:
    async with baited(tmp_path) as (siege, bait):
        (siege.workspace / "evil").write_text(bait.evil.replace(f"cat {siege.canary}", ""))
        bait.check_free(result_of(await siege.call("terminal", {"command": "git diff", "unsandboxed": True})))


@pytest.mark.parametrize("more", [{"background": True}, {"pty": True}])
async def test_a_process_left_running_is_confined_too(tmp_path: Path, more: dict[str, bool]) -> None:
    asked = Counted("reject_once")
    async with baited(tmp_path, answers={"session/request_permission": asked}) as (siege, bait):
        session_id = await siege.agent.open_session(siege.workspace)
        look = {"action": "read", "name": "p1", "wait_s": 20}
        ends = await siege.turn(
            Reply(tool_calls=(ToolCall("terminal", {"command": "git --no-pager diff", **more}),)),
            Reply(tool_calls=(ToolCall("process", look),)),
            session_id=session_id,
        )
        bait.check("".join(map(result_of, ends)))
    assert asked.titles == []


async def test_the_calls_of_an_approved_script_are_confined_separately(tmp_path: Path) -> None:
    approving = Counted("allow_once")
    code = "print(tools.terminal(command='git diff'))"
    async with baited(tmp_path, answers={"session/request_permission": approving}) as (siege, bait):
        ends = await siege.turn(Reply(tool_calls=(ToolCall("execute_code", {"code": code}),)))
        bait.check("".join(map(result_of, ends)))
    assert len(approving.titles) == 1


async def test_an_edit_by_a_command_stays_in_the_workspace(tmp_path: Path) -> None:
    asked = Counted("reject_once")
    answers = {"session/request_permission": asked}
    async with attacked_agent(tmp_path, settings="mode: accept_edits\n", answers=answers) as siege:
        await siege.call("terminal", {"command": "echo mine > notes.txt"})
        assert (siege.workspace / "notes.txt").read_text() == "mine\n"
        # If the path turns out to lead outside the workspace, nothing is written.
        (siege.workspace / "link.txt").symlink_to(tmp_path / "outside.txt")
        await siege.call("terminal", {"command": "echo mine > link.txt"})
    assert not (tmp_path / "outside.txt").exists()
    assert len(asked.titles) == 1


async def test_a_permanently_allowed_command_runs_in_the_sandbox(tmp_path: Path) -> None:
    approving = Counted("allow_always")
    line = {"command": "make test"}
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}'"
        async with attacked_agent(tmp_path, answers={"session/request_permission": approving}) as siege:
            (siege.workspace / "Makefile").write_text("include rules.mk\n")
            rules = siege.workspace / "rules.mk"
            rules.write_text(f"test:\n\techo x >> made\n\t{connect}\n")
            session_id = await siege.agent.open_session(siege.workspace)
            # With permanent approval, it may write in the workspace but reaches nothing else, even the first time.
            # The model is told about `unsandboxed`.
            for _ in range(2):
                held = result_of(await siege.call("terminal", line, session_id))
                assert "Connection refused" in held
                assert "unsandboxed: true" in held
            assert len(approving.titles) == 1
            free = result_of(await siege.call("terminal", {**line, "unsandboxed": True}, session_id))
            assert free.startswith("completed")
            assert len(approving.titles) == 2
            rules.write_text("test:\n\techo y >> made\n")
            await siege.call("terminal", line, session_id)
            assert len(approving.titles) == 3
            assert (siege.workspace / "made").read_text() == "x\nx\nx\ny\n"


async def test_input_for_an_unconfined_process_needs_approval(tmp_path: Path) -> None:
    approving = Counted("allow_once")
    async with attacked_agent(
        tmp_path, settings="mode: auto\n", answers={"session/request_permission": approving}
    ) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        free = {"command": "bash", "background": True, "unsandboxed": True}
        await siege.turn(
            Reply(tool_calls=(ToolCall("terminal", free),)),
            Reply(tool_calls=(ToolCall("process", {"action": "write", "name": "p1", "text": "ls\n"}),)),
            session_id=session_id,
        )
        assert len(approving.titles) == 2
        held = {"command": "bash", "background": True}
        escape = f"echo x > {tmp_path}/escaped\n"
        await siege.turn(
            Reply(tool_calls=(ToolCall("terminal", held),)),
            Reply(tool_calls=(ToolCall("process", {"action": "write", "name": "p2", "text": escape}),)),
            session_id=session_id,
        )
    assert not (tmp_path / "escaped").exists()
    assert len(approving.titles) <= 3


@pytest.mark.parametrize("mode", MODES)
async def test_without_confinement_only_fixed_forms_run(tmp_path: Path, mode: str) -> None:
    asked = Counted("reject_once")
    settings = f"mode: {mode}\nsandbox:\n  mode: off\n"
    async with baited(tmp_path, settings=settings, answers={"session/request_permission": asked}) as (
        siege,
        _,
    ):
        assert "a.txt" in result_of(await siege.call("terminal", {"command": "ls -la"}))
        assert asked.titles == []
        assert "the program" not in result_of(await siege.call("terminal", {"command": "git diff"}))
        assert len(asked.titles) == 1
    assert not (siege.workspace / "pwned").exists()
