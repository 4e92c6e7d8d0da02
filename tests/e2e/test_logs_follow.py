"""`hermes-acp logs --follow` beside a working process."""

import json
import subprocess
from pathlib import Path

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, run_headless
from tests.model_server import Reply, ToolCall, serve

pytestmark = pytest.mark.anyio


async def test_new_entries_are_shown_once_as_they_are_written(home: Path, workspace: Path) -> None:
    read = Reply("", tool_calls=(ToolCall("read_file", {"path": "a.py"}),))
    async with serve([Reply("Before."), read, Reply("Read."), Reply("Again.")]) as server:
        environment = agent_environment(home, server)
        await run_headless("-p", "before", environment=environment, cwd=workspace)
        with anyio.fail_after(WAIT_S):
            process = await anyio.open_process(
                [COMMAND, "logs", "--follow", "--json", "--limit", "1"],
                stdin=subprocess.DEVNULL, env=environment, cwd=workspace,
            )  # fmt: skip
            async with process:
                assert process.stdout
                lines = BufferedByteReceiveStream(process.stdout)

                async def following(kind: str) -> list[str]:
                    told: list[str] = []
                    while not told or told[-1] != kind:
                        told.append(json.loads(await lines.receive_until(b"\n", 65536))["kind"])
                    return told

                assert await following("turn") == ["turn"]
                await run_headless("-p", "look", environment=environment, cwd=workspace)
                first = await following("turn")
                await run_headless("--continue", "-p", "again", environment=environment, cwd=workspace)
                second = await following("turn")
                process.terminate()
    assert (first.count("call"), first.count("request"), first.count("state")) == (1, 2, 3)
    assert (second.count("call"), second.count("request"), second.count("state")) == (0, 1, 1)
