"""Invalid input from an editor or another client: each gets a clear answer, and nothing ends.

Input that ends is covered in test_ends.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import RawEditor, editor, outcome_text, permit
from tests.model_server import ModelServer, Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX")]

TOO_LONG_BYTES = 34 << 20


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@asynccontextmanager
async def at_work(tmp_path: Path, *replies: Reply) -> AsyncGenerator[tuple[RawEditor, ModelServer]]:
    """Yield an initialized agent and its model; at the end, it must still answer, have logged nothing and exit
    normally.
    """
    async with serve([*replies, Reply("Still here.")]) as server:
        environment = agent_environment(tmp_path, server)
        async with editor(
            environment, tmp_path, answers={"session/request_permission": permit("allow_once")}
        ) as one:
            yield one, server
            session_id = await one.open_session(tmp_path)
            reply = await one.prompt(session_id, "still there?")
            assert reply["result"] == {"stopReason": "end_turn"}
            assert one.said(session_id) == "Still here."
            assert await one.leave() == 0
            assert one.errors == ""


async def read_once(
    tmp_path: Path, workspace: Path, name: str, content: bytes | None = None
) -> dict[str, Any]:
    """Have the model read one file; return the update that ended the call."""
    if content is not None:
        (workspace / name).write_bytes(content)
    read = Reply(tool_calls=(ToolCall("read_file", {"path": name}),))
    async with at_work(tmp_path, read, Reply("Seen.")) as (one, server):
        session_id = await one.open_session(workspace)
        assert (await one.prompt(session_id, "read it"))["result"]["stopReason"] == "end_turn"
        (end,) = [
            u for u in one.updates("tool_call_update", session_id) if u["status"] in ("completed", "failed")
        ]
        assert outcome_text(end) in server.requests[1].asked.last_text
    return end


async def test_unknown_methods_and_wrong_parameters(tmp_path: Path, workspace: Path) -> None:
    here = str(workspace)
    prompt = [{"type": "text", "text": "x"}]
    cases: list[tuple[str, object, int]] = [
        ("session/dance", {}, -32601),
        ("session_new", {"cwd": here, "mcpServers": []}, -32601),
        ("_vendor/thing", {}, -32601),
        ("", {}, -32601),
        ("session/new", {}, -32602),
        ("session/new", [], -32602),
        ("session/new", None, -32600),
        ("session/new", {"cwd": 7, "mcpServers": []}, -32602),
        ("session/new", {"cwd": "relative/path", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "/no/such/folder/here", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "/etc/hostname", "mcpServers": []}, -32602),
        ("session/new", {"cwd": "/tmp/\0", "mcpServers": []}, -32602),
        ("session/prompt", {"sessionId": "ses_unknown", "prompt": prompt}, -32002),
        ("session/prompt", {"sessionId": "ses_unknown"}, -32602),
        ("session/load", {"sessionId": "ses_unknown", "cwd": here, "mcpServers": []}, -32002),
        ("session/load", {"sessionId": "../../etc/passwd", "cwd": here, "mcpServers": []}, -32002),
        ("session/load", {"sessionId": "", "cwd": here, "mcpServers": []}, -32002),
        ("session/resume", {"sessionId": "ses_unknown", "cwd": here, "mcpServers": []}, -32002),
        ("session/set_mode", {"sessionId": "ses_unknown", "modeId": "ask"}, -32002),
        ("session/close", {"sessionId": "ses_unknown"}, -32002),
        ("session/list", {"cursor": "nonsense"}, -32602),
        ("authenticate", {"methodId": "magic"}, -32602),
    ]
    async with at_work(tmp_path) as (one, _):
        for method, params, code in cases:
            reply = await one.call(method, params)
            assert reply.get("error", {}).get("code") == code, (method, params, reply)
            assert "Traceback" not in json.dumps(reply)
        session_id = await one.open_session(workspace)
        for blocks in ("[]", '"words"', '[{"type": "hologram"}]'):
            reply = await one.call("session/prompt", {"sessionId": session_id, "prompt": json.loads(blocks)})
            assert reply.get("error", {}).get("code") == -32602, (blocks, reply)
        reply = await one.call("session/set_mode", {"sessionId": session_id, "modeId": "yolo"})
        assert reply["error"]["code"] == -32602
        assert "yolo" in reply["error"]["message"]
        await one.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "ses_unknown"}})
        await one.send({"jsonrpc": "2.0", "method": "no/such_notification"})


async def test_frames_that_are_not_requests(tmp_path: Path) -> None:
    frames: list[tuple[bytes, int]] = [
        (b"[]", -32600),
        (b"42", -32600),
        (b'"s"', -32600),
        (b"null", -32600),
        (b"{bad", -32700),
        (b"\xff\xfe{}", -32700),
        (b"{}", -32600),
        (b'{"jsonrpc":"1.0","id":5,"method":"initialize"}', -32600),
        (b'[{"jsonrpc":"2.0","id":6,"method":"initialize"}]', -32600),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"initialize"}', -32600),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, -32700),
        (b"[" * 1_000_000, -32700),
    ]
    async with at_work(tmp_path) as (one, _):
        for frame, code in frames:
            seen = len(one.messages)
            await one.send_bytes(frame + b"\n")
            reply = await one.wait_for(lambda m: "error" in m, behind=seen)
            assert reply["error"]["code"] in (code, -32600), (frame[:60], reply)
        await one.send_bytes(b"\n\r\n  \n")
        await one.send({"jsonrpc": "2.0", "id": "never-asked", "result": {}})


async def test_deep_nesting_in_parameters(tmp_path: Path, workspace: Path) -> None:
    async with at_work(tmp_path) as (one, _):
        deep = b'{"a":' * 50_000 + b"1" + b"}" * 50_000
        head = f'{{"jsonrpc":"2.0","id":77,"method":"session/new","params":{{"cwd":"{workspace}","_meta":'.encode()
        await one.send_bytes(head + deep + b',"mcpServers":[]}}\n')
        reply = await one.wait_for(lambda m: "id" in m and m["id"] in (77, None))
        assert "result" in reply or reply["error"]["code"] in (-32700, -32600, -32602)


async def test_a_line_of_34_megabytes(tmp_path: Path, workspace: Path) -> None:
    async with at_work(tmp_path) as (one, _):
        session_id = await one.open_session(workspace)
        seen = len(one.messages)
        head = f'{{"jsonrpc":"2.0","id":99,"method":"session/prompt","params":{{"sessionId":"{session_id}","prompt":'
        await one.send_bytes(head.encode() + b'[{"type":"text","text":"' + b"x" * TOO_LONG_BYTES + b'"}]}}\n')
        reply = await one.wait_for(lambda m: "error" in m, behind=seen)
        assert reply["error"]["code"] == -32600


async def test_a_pasted_file_of_five_megabytes(tmp_path: Path, workspace: Path) -> None:
    async with at_work(tmp_path, Reply("Long.")) as (one, server):
        session_id = await one.open_session(workspace)
        reply = await one.prompt(session_id, "y" * (5 << 20))
        assert reply["result"]["stopReason"] == "end_turn"
        assert len(server.requests[0].asked.prompt_text) >= 5 << 20


async def test_requests_before_initialize(tmp_path: Path, workspace: Path) -> None:
    async with (
        serve([]) as server,
        editor(agent_environment(tmp_path, server), tmp_path, greeting=None) as one,
    ):
        reply = await one.call("session/new", {"cwd": str(workspace), "mcpServers": []})
        assert reply["error"]["code"] == -32600
        reply = await one.call("initialize", {"protocolVersion": "one"})
        assert reply["error"]["code"] == -32602
        reply = await one.call("initialize", {"protocolVersion": 999})
        assert reply["result"]["protocolVersion"] == 1
        assert await one.open_session(workspace)
        assert await one.leave() == 0


async def test_a_binary_file(tmp_path: Path, workspace: Path) -> None:
    end = await read_once(tmp_path, workspace, "a.bin", b"\x7fELF\0\1" + os.urandom(500))
    assert end["status"] == "failed"


async def test_a_sparse_file_of_100_megabytes(tmp_path: Path, workspace: Path) -> None:
    with (workspace / "huge.log").open("wb") as file:
        file.truncate(100 << 20)
    end = await read_once(tmp_path, workspace, "huge.log")
    assert end["status"] == "failed"
    assert "104,857,600 bytes" in outcome_text(end)


async def test_a_file_that_is_not_utf8(tmp_path: Path, workspace: Path) -> None:
    end = await read_once(tmp_path, workspace, "old.txt", "Grüße aus Köln\n".encode("cp1252"))
    assert end["status"] == "completed"
    assert "Grüße aus Köln" in outcome_text(end)
    assert "cp1252" in outcome_text(end)


async def test_a_missing_file_a_folder_and_a_path_outside(tmp_path: Path, workspace: Path) -> None:
    names = ("none.txt", "sub", "/etc/passwd", "../home/.hermes/config.yaml", "a\0b", "x" * 5000)
    (workspace / "sub").mkdir()
    calls = tuple(ToolCall("read_file", {"path": name}) for name in names)
    async with at_work(tmp_path, Reply(tool_calls=calls), Reply("Seen.")) as (one, _):
        session_id = await one.open_session(workspace)
        assert (await one.prompt(session_id, "read them"))["result"]["stopReason"] == "end_turn"
        ends = [
            u for u in one.updates("tool_call_update", session_id) if u["status"] in ("completed", "failed")
        ]
        assert [end["status"] for end in ends] == ["failed"] * len(names)
        assert "root:" not in json.dumps(ends)


async def test_invalid_tool_calls(tmp_path: Path, workspace: Path) -> None:
    calls = (
        ToolCall("read_file", '{"path": '),
        ToolCall("read_file", "[]"),
        ToolCall("read_file", {"path": 7}),
        ToolCall("read_file", {}),
        ToolCall("no_such_tool", {"path": "a"}),
        ToolCall("terminal", {"command": "echo hi", "surprise": True}),
    )
    async with at_work(tmp_path, Reply(tool_calls=calls), Reply("Sorry.")) as (one, server):
        session_id = await one.open_session(workspace)
        assert (await one.prompt(session_id, "go"))["result"]["stopReason"] == "end_turn"
        ends = [
            u for u in one.updates("tool_call_update", session_id) if u["status"] in ("completed", "failed")
        ]
        assert [end["status"] for end in ends] == ["failed"] * len(calls)
        assert len(server.requests) == 2


async def test_a_command_that_prints_to_descriptor_1_and_reads_its_input(
    tmp_path: Path, workspace: Path
) -> None:
    noise = 'echo plain; echo raw >&1; printf \'{"jsonrpc":"2.0"}\\n\' > /dev/stdout; cat; read line; echo read=$line'
    run = Reply(tool_calls=(ToolCall("terminal", {"command": noise}),))
    async with at_work(tmp_path, run, Reply("Ran.")) as (one, _):
        session_id = await one.open_session(workspace)
        assert (await one.prompt(session_id, "go"))["result"]["stopReason"] == "end_turn"
        end = one.updates("tool_call_update", session_id)[-1]
        assert outcome_text(end) == 'plain\nraw\n{"jsonrpc":"2.0"}\nread=\n[exit code: 0]'
