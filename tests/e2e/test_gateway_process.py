"""The gateway as the resident process runs it: started with it, ended with it, told about by commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment, configure, run_command
from tests.e2e.resident_process import resident

pytestmark = pytest.mark.anyio
SETTINGS = """
gateway:
  platforms:
    matrix:
      homeserver: http://127.0.0.1:9
      user: "@agent:example.org"
"""


async def test_the_resident_process_runs_the_gateway(home: Path, workspace: Path) -> None:
    configure(home, SETTINGS)
    environment = agent_environment(home, HERMES_GATEWAY_MATRIX_TOKEN="a-token-for-the-test")

    async def status() -> Any:
        done = await run_command("gateway", "status", "--json", environment=environment, cwd=workspace)
        assert done.code == 0, done.errors
        return json.loads(done.output)

    assert not (await status())["isRunning"]
    async with resident(environment, workspace) as process:
        with anyio.fail_after(WAIT_S):
            while b"The server cannot be reached" not in process.said:
                await anyio.sleep(0.05)
        assert (await status())["isRunning"]
        again = await run_command("gateway", "run", environment=environment, cwd=workspace)
        assert again.code == 75
        process.process.terminate()
        assert await process.wait() == 0
    assert not (await status())["isRunning"]
    wrong = await run_command(
        "gateway", "pair", "AAAABBBB", "--name", "anna", environment=environment, cwd=workspace
    )
    assert wrong.code == 2
    assert "No person has that code" in wrong.errors
