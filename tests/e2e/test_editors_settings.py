"""The command started as each editor starts it: minimal environments, foreign folders, unusual requests and IDs."""

from __future__ import annotations

import os
import pwd
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_process import COMMAND, agent_environment, configure, run_command
from tests.e2e.raw_editor import (
    LOCAL,
    Answer,
    Message,
    RawEditor,
    editor,
    outcome_text,
    permit,
    prompt_params,
)
from tests.model_server import Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]

BEFORE, AFTER = "x = 1\ny = 2\n", "x = 5\ny = 2\n"
UNSAVED = "x = 1\ny = 2\nz = 'not saved yet'\n"
READ = ToolCall("read_file", {"path": "a.py"})
EDIT = ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"})
RUN = ToolCall("terminal", {"command": "env echo from here; pwd"})

ZED: Message = {
    "protocolVersion": 1,
    "clientCapabilities": {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "auth": {"terminal": True},
        "session": {"configOptions": {"boolean": {}}},
        "elicitation": {"form": {}, "url": {}},
        "_meta": {"terminal_output": True, "terminal-auth": True},
    },
    "clientInfo": {"name": "zed", "title": "Zed", "version": "1.16.0"},
}
ISAAC: Message = {
    "protocolVersion": 1,
    "clientCapabilities": {"elicitation": {"form": {}, "url": {}}},
    "clientInfo": {"name": "isaac", "version": "0.4"},
}
NEOVIM: Message = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False},
    "clientInfo": None,
}
JETBRAINS: Message = {
    "protocolVersion": 1,
    "clientCapabilities": {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "_meta": None,
    },
    "clientInfo": {"name": "JetBrains", "version": "2026.3"},
    "_meta": {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "cwd": "/etc"},
}
SPARSE: Message = {"protocolVersion": 1, "clientCapabilities": None, "clientInfo": None}
EDITORS: dict[str, Message] = {
    "zed": ZED,
    "isaac": ISAAC,
    "neovim": NEOVIM,
    "jetbrains": JETBRAINS,
    "sparse": SPARSE,
    "local": LOCAL,
}


class Buffers:
    """An editor's files and terminals: one file is open with an unsaved change."""

    def __init__(self, workspace: Path) -> None:
        self.calls: list[str] = []
        self.file = workspace / "a.py"
        self._unsaved: str | None = UNSAVED

    def answers(self) -> dict[str, Answer]:
        return {
            "session/request_permission": permit("allow_once"),
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._note("create", {"terminalId": "t1"}),
            "terminal/wait_for_exit": self._note("wait", {"exitCode": 0, "signal": None}),
            "terminal/output": self._note("output", {"output": "from the editor\n", "truncated": False}),
            "terminal/release": self._note("release", None),
        }

    def _note(self, name: str, result: object) -> Answer:
        def answer(params: Message) -> Any:
            self.calls.append(name)
            return result

        return answer

    def _read(self, params: Message) -> Any:
        self.calls.append("read")
        if self._unsaved is not None and params["path"] == str(self.file):
            return {"content": self._unsaved}
        path = Path(params["path"])
        if not path.exists():
            return {"error": {"code": -32603, "message": "no such file"}}
        return {"content": path.read_text()}

    def _write(self, params: Message) -> Any:
        self.calls.append("write")
        self._unsaved = None
        Path(params["path"]).write_text(params["content"])
        return None


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work space ünïcode"
    folder.mkdir()
    (folder / "a.py").write_text(BEFORE)
    return folder


async def work(one: RawEditor, workspace: Path, *, string_ids: bool = False) -> list[Message]:
    """Run the usual conversation; return how its edit and its command ended."""

    def fresh() -> str | None:
        return str(uuid.uuid4()) if string_ids else None

    opened = await one.call("session/new", {"cwd": str(workspace), "mcpServers": []}, fresh())
    session_id = opened["result"]["sessionId"]
    reply = await one.call("session/prompt", prompt_params(session_id, "go"), fresh())
    assert reply["result"] == {"stopReason": "end_turn"}
    assert one.said(session_id) == "I edit and run.Done."
    ends = [u for u in one.updates("tool_call_update") if u.get("status") in ("completed", "failed")]
    assert [end["status"] for end in ends] == ["completed"] * 3, [outcome_text(end) for end in ends]
    return ends[1:]


@pytest.mark.parametrize("name", EDITORS)
async def test_each_editor_gets_only_what_it_announced(tmp_path: Path, workspace: Path, name: str) -> None:
    greeting = EDITORS[name]
    buffers = Buffers(workspace)
    async with serve([Reply("I edit and run.", tool_calls=(READ, EDIT, RUN)), Reply("Done.")]) as server:
        environment = agent_environment(tmp_path, server)
        async with editor(environment, tmp_path, answers=buffers.answers(), greeting=greeting) as one:
            ends = await work(one, workspace, string_ids=name == "zed")
            assert await one.leave() == 0
            assert one.errors == ""
    capabilities = greeting["clientCapabilities"]
    announced: Message = capabilities or {}
    has_files, has_terminal = bool(announced.get("fs")), bool(announced.get("terminal"))
    assert ("read" in buffers.calls, "write" in buffers.calls) == (has_files, has_files)
    assert ("create" in buffers.calls, "release" in buffers.calls) == (has_terminal, has_terminal)
    assert buffers.file.read_text() == (UNSAVED.replace("x = 1", "x = 5") if has_files else AFTER)
    assert ("from the editor" if has_terminal else f"from here\n{workspace}") in outcome_text(ends[1])


async def test_an_environment_with_only_path(tmp_path: Path, workspace: Path) -> None:
    """Without HOME, the user's own home is found; without a model, the answer says what to set."""
    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    environment = {"PATH": os.environ["PATH"]}
    async with editor(environment, tmp_path, cwd=Path("/")) as one:
        if not (own / ".hermes").exists():
            reply = await one.call("session/new", {"cwd": str(workspace), "mcpServers": []})
            assert reply["error"]["code"] == -32000
            for named in ("hermes-acp setup", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
                assert named in reply["error"]["message"]
            assert not (own / ".hermes").exists(), "asking for a model must not write into the home folder"
        assert (await one.call("no/such_method", {}))["error"]["code"] == -32601
        assert await one.leave() == 0
        assert one.errors == ""


async def test_home_unset_and_a_home_named(tmp_path: Path, workspace: Path) -> None:
    named = tmp_path / "named"
    async with serve([Reply("I edit and run.", tool_calls=(READ, EDIT, RUN)), Reply("Done.")]) as server:
        environment = agent_environment(tmp_path, server, HERMES_HOME=str(named))
        del environment["HOME"]
        answers = Buffers(workspace).answers()
        async with editor(environment, tmp_path, answers=answers, cwd=Path("/")) as one:
            await work(one, workspace)
            assert await one.leave() == 0
            assert one.errors == ""
    assert list((named / "sessions").glob("*.jsonl"))
    assert not (tmp_path / ".hermes").exists()


async def test_a_path_without_any_tools(tmp_path: Path, workspace: Path) -> None:
    """An editor started from a desktop may pass on a PATH without git, rg or Python."""
    search = ToolCall("search", {"pattern": "x = "})
    async with serve([Reply("I search.", tool_calls=(search,)), Reply("Found.")]) as server:
        environment = agent_environment(tmp_path, server, PATH="/nowhere")
        async with editor(environment, tmp_path, cwd=Path("/")) as one:
            session_id = await one.open_session(workspace)
            assert (await one.prompt(session_id, "go"))["result"] == {"stopReason": "end_turn"}
            (end,) = [
                u for u in one.updates("tool_call_update") if u.get("status") in ("completed", "failed")
            ]
            assert end["status"] == "completed", end
            assert "a.py" in outcome_text(end)
            assert await one.leave() == 0


async def test_the_process_folder_is_not_the_sessions(tmp_path: Path, workspace: Path) -> None:
    """Context files and relative paths belong to the session's folder, wherever the process was started."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "AGENTS.md").write_text("Speak like the wrong folder.\n")
    (elsewhere / "a.py").write_text("wrong file\n")
    (workspace / "AGENTS.md").write_text("Speak like the right folder.\n")
    read = ToolCall("read_file", {"path": "a.py"})
    async with serve([Reply(tool_calls=(read,)), Reply("Read.")]) as server:
        environment = agent_environment(tmp_path, server)
        async with editor(environment, tmp_path / "scratch", cwd=elsewhere) as one:
            session_id = await one.open_session(workspace)
            assert (await one.prompt(session_id, "go"))["result"] == {"stopReason": "end_turn"}
    system = str(server.requests[0].body)
    assert "Speak like the right folder." in system
    assert "wrong folder" not in system
    assert "x = 1" in server.requests[1].asked.last_text


async def test_a_repository_cannot_configure_the_agent(tmp_path: Path, workspace: Path) -> None:
    configure(workspace, "mode: auto\nmodel: theirs\n")
    (workspace / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\nOPENAI_API_KEY=theirs\n")
    async with (
        serve([Reply("Mine.")]) as server,
        editor(agent_environment(tmp_path, server), tmp_path, cwd=workspace) as one,
    ):
        session_id = await one.open_session(workspace)
        assert (await one.prompt(session_id, "go"))["result"] == {"stopReason": "end_turn"}
    assert server.requests[0].asked.model == "scripted-large"


async def test_ids_of_every_type_are_returned_unchanged(tmp_path: Path, workspace: Path) -> None:
    async with serve([]) as server, editor(agent_environment(tmp_path, server), tmp_path) as one:
        for call_id in (0, -7, 2**53, str(uuid.uuid4()), "", "ünï\n", "7"):
            reply = await one.call("session/list", {}, call_id)
            assert reply["id"] == call_id
            assert type(reply["id"]) is type(call_id)


async def test_the_subcommand_acp_is_the_server_too(tmp_path: Path) -> None:
    greeting = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
    for arguments in ((), ("acp",)):
        done = await run_command(
            *arguments,
            environment={"PATH": os.environ["PATH"]},
            cwd=tmp_path,
            given=greeting,
            command=COMMAND,
        )
        assert (done.code, done.errors) == (0, "")
        assert done.report["result"]["agentInfo"]["name"] == "hermes-acp"
