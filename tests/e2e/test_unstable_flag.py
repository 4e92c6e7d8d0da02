"""The flag for the unstable half of version 1, in an editor's first requests."""

import json
from pathlib import Path

import pytest

from tests.e2e.agent_process import agent_environment
from tests.e2e.raw_editor import Message, editor

pytestmark = pytest.mark.anyio
PROMPT: Message = {"mode": "append", "content": [{"type": "text", "text": "Speak like a pirate."}]}


@pytest.mark.parametrize("offers_unstable", [False, True])
async def test_the_first_two_requests_sent_together(tmp_path: Path, offers_unstable: bool) -> None:
    """Both are answered before there is an event loop; instructions are accepted only with the flag."""
    switch = {"HERMES_ACP_UNSTABLE": "1"} if offers_unstable else {}
    environment = agent_environment(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1", HERMES_MODEL="m")
    greeting: Message = {"protocolVersion": 1, "clientCapabilities": {"plan": {}}}
    new: Message = {"cwd": str(tmp_path), "mcpServers": [], "systemPrompt": PROMPT}
    frames: list[Message] = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate((("initialize", greeting), ("session/new", new)), 101)
    ]
    async with editor(environment | switch, tmp_path / "scratch", greeting=None) as client:
        await client.send_bytes("".join(json.dumps(frame) + "\n" for frame in frames).encode())
        hello = await client.wait_for(lambda message: message.get("id") == 101)
        begun = await client.wait_for(lambda message: message.get("id") == 102)
        session_id = begun["result"]["sessionId"]
        status = await client.call("session/status", {"sessionId": session_id})
        assert await client.leave() == 0
    announced = hello["result"]["agentCapabilities"]["sessionCapabilities"]
    record = (tmp_path / ".hermes" / "sessions" / f"{session_id}.jsonl").read_text()
    assert ("fork" in announced) == offers_unstable
    assert ("pirate" in record) == offers_unstable
    if offers_unstable:
        assert status["result"] == {"status": "open"}
    else:
        assert status["error"]["code"] == -32601
