"""The official Python SDK as the client, in this process, with and without its own terminals."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import acp
import anyio
import anyio.abc
import pytest
from acp import schema

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, wait_for_end, watch_process
from tests.e2e.foreign_clients import AFTER, BEFORE, conversation
from tests.model_server import ModelServer, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX"),
]


class Shell:
    """One terminal of the editor."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.output = ""

    async def follow(self, wake: Callable[[], None]) -> None:
        assert self.process.stdout
        async for piece in self.process.stdout:
            self.output += piece.decode()
            wake()

    def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()


class Editor:
    """Records what it is shown, answers permission requests, has files and terminals."""

    def __init__(self, workspace: Path, tasks: anyio.abc.TaskGroup) -> None:
        self.updates: list[Any] = []
        self.asked: list[schema.ToolCallUpdate] = []
        self.files: list[str] = []
        self.shells: dict[str, Shell] = {}
        self.answer = "allow_once"
        self._workspace = workspace
        self._tasks = tasks
        self._grown = anyio.Event()

    def wake(self) -> None:
        grown, self._grown = self._grown, anyio.Event()
        grown.set()

    async def until(self, find: Callable[[], Any]) -> Any:
        with anyio.fail_after(WAIT_S):
            while not (found := find()):
                await self._grown.wait()
        return found

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)
        self.wake()

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **kwargs: Any,
    ) -> schema.RequestPermissionResponse:
        self.asked.append(tool_call)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=self.answer)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> schema.ReadTextFileResponse:
        self.files.append(f"read {path}")
        return schema.ReadTextFileResponse(content=Path(path).read_text())

    async def write_text_file(self, session_id: str, path: str, content: str, **kwargs: Any) -> None:
        self.files.append(f"write {path}")
        Path(path).write_text(content)

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        cwd: str | None = None,
        **kwargs: Any,
    ) -> schema.CreateTerminalResponse:
        process = await anyio.open_process([command, *(args or [])], cwd=cwd, stderr=subprocess.STDOUT)
        name = f"terminal-{len(self.shells)}"
        self.shells[name] = Shell(process)
        self._tasks.start_soon(self.shells[name].follow, self.wake)
        return schema.CreateTerminalResponse(terminal_id=name)

    async def terminal_output(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.TerminalOutputResponse:
        return schema.TerminalOutputResponse(output=self.shells[terminal_id].output, truncated=False)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.WaitForTerminalExitResponse:
        code = await self.shells[terminal_id].process.wait()
        return schema.WaitForTerminalExitResponse(exit_code=code if code >= 0 else None)

    async def kill_terminal(self, session_id: str, terminal_id: str, **kwargs: Any) -> None:
        self.shells[terminal_id].kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **kwargs: Any) -> None:
        self.shells[terminal_id].kill()

    def words(self, kind: str) -> str:
        return "".join(update.content.text for update in self.updates if update.session_update == kind)

    def output(self) -> str:
        """Return everything that commands printed so far, in the editor's terminals or on their cards."""
        cards = [
            repr(update.content) for update in self.updates if update.session_update == "tool_call_update"
        ]
        return "".join([*cards, *(shell.output for shell in self.shells.values())])


class EditorSession:
    """One agent process and the editor it is connected to."""

    def __init__(self, agent: Any, editor: Editor) -> None:
        self.agent = agent
        self.editor = editor

    async def prompt(self, session_id: str, text: str) -> str:
        with anyio.fail_after(WAIT_S):
            reply = await self.agent.prompt(session_id=session_id, prompt=[acp.text_block(text)])
        return reply.stop_reason


@asynccontextmanager
async def editor_session(
    home: Path, workspace: Path, server: ModelServer, *, has_terminal: bool
) -> AsyncGenerator[EditorSession]:
    capabilities = schema.ClientCapabilities(
        fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=has_terminal
    )
    async with anyio.create_task_group() as tasks:
        editor = Editor(workspace, tasks)
        environment = agent_environment(home, server)
        async with acp.spawn_agent_process(
            cast("acp.Client", editor), COMMAND, env=environment, cwd=workspace
        ) as (agent, process):
            with anyio.fail_after(WAIT_S):
                greeted = await agent.initialize(protocol_version=1, client_capabilities=capabilities)
            assert greeted.protocol_version == 1
            assert greeted.agent_capabilities
            assert greeted.agent_capabilities.load_session
            yield EditorSession(agent, editor)
        assert process.returncode == 0


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.py").write_text(BEFORE)
    return folder


@pytest.mark.parametrize("has_terminal", [True, False], ids=["terminal", "none"])
async def test_a_whole_conversation(tmp_path: Path, workspace: Path, has_terminal: bool) -> None:
    async with serve(conversation()) as server:
        async with editor_session(tmp_path, workspace, server, has_terminal=has_terminal) as one:
            opened = await one.agent.new_session(cwd=str(workspace))
            session_id = opened.session_id
            await edit(one, session_id, workspace)
            await run(one, session_id, has_terminal)
            await cancel(one, session_id)
            said = one.editor.words("agent_message_chunk"), one.editor.words("agent_thought_chunk")
        async with editor_session(tmp_path, workspace, server, has_terminal=has_terminal) as one:
            listed = await one.agent.list_sessions(cwd=str(workspace))
            assert [(each.session_id, each.title) for each in listed.sessions] == [(session_id, "refuse me")]
            await one.agent.load_session(cwd=str(workspace), session_id=session_id)
            replayed = one.editor.words("agent_message_chunk"), one.editor.words("agent_thought_chunk")
            assert replayed == said
            assert one.editor.words("user_message_chunk").startswith("refuse meedit the file")
            with pytest.raises(acp.RequestError) as caught:
                await one.agent.load_session(cwd=str(workspace), session_id="ses_unknown")
            assert caught.value.code == -32002
            assert await one.prompt(session_id, "still there?") == "end_turn"


async def edit(one: EditorSession, session_id: str, workspace: Path) -> None:
    one.editor.answer = "reject_once"
    assert await one.prompt(session_id, "refuse me") == "end_turn"
    assert (workspace / "a.py").read_text() == BEFORE
    one.editor.answer = "allow_once"
    assert await one.prompt(session_id, "edit the file") == "end_turn"
    assert (workspace / "a.py").read_text() == AFTER
    for call in one.editor.asked:
        (diff,) = [part for part in call.content or [] if isinstance(part, schema.FileEditToolCallContent)]
        assert (diff.path, diff.old_text, diff.new_text) == (str(workspace / "a.py"), BEFORE, AFTER)
    assert f"write {workspace / 'a.py'}" in one.editor.files
    assert one.editor.words("agent_thought_chunk") == "Which line is it?"


async def run(one: EditorSession, session_id: str, has_terminal: bool) -> None:
    assert await one.prompt(session_id, "run the command") == "end_turn"
    assert "from the command" in one.editor.output()
    assert [shell.output for shell in one.editor.shells.values()] == (
        [f"from the command\n{AFTER}"] if has_terminal else []
    )


async def cancel(one: EditorSession, session_id: str) -> None:
    stops: list[str] = []

    async def prompt(text: str) -> None:
        stops.append(await one.prompt(session_id, text))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt, "talk for ever")
        await one.editor.until(lambda: "one " in one.editor.words("agent_message_chunk"))
        await one.agent.cancel(session_id=session_id)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt, "sleep for ever")
        found = await one.editor.until(lambda: re.search(r"sleeper (\d+)", one.editor.output()))
        pidfd = watch_process(int(found[1]))
        await one.agent.cancel(session_id=session_id)
        await wait_for_end(pidfd)
    assert stops == ["cancelled", "cancelled"]
    assert await one.prompt(session_id, "still there?") == "end_turn"
