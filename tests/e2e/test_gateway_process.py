"""The gateway in the resident process: started and ended with it, and reported by commands."""

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


async def test_a_gateway_that_cannot_run_is_explained(home: Path, workspace: Path) -> None:
    configure(home, SETTINGS)
    environment = agent_environment(home)
    missing = "HERMES_GATEWAY_MATRIX_TOKEN is not set in .env."

    async def run(*words: str, **more: str) -> str:
        done = await run_command(*words, environment={**environment, **more}, cwd=workspace)
        return done.output

    before = await run("gateway")
    assert "`hermes-acp daemon start` runs it." in before
    assert f"matrix: {missing}" in before
    async with resident(environment, workspace) as process:
        with anyio.fail_after(WAIT_S):
            while b"The gateway ended with exit code" not in process.said:
                await anyio.sleep(0.05)
        shown = await run("gateway")
        assert "The resident process keeps trying to start it." in shown
        assert "daemon start" not in shown
        assert shown.count(missing) == 1
        later = await run("gateway", HERMES_GATEWAY_MATRIX_TOKEN="only-in-this-shell")
        assert f"It last ended with an error: {missing}" in later
        findings = json.loads(await run("doctor", "--json"))["findings"]
        said = [(each["level"], each["text"]) for each in findings if each["check"] == "gateway"]
        assert said == [("problem", f"matrix: {missing}")]


async def test_the_doctor_recognises_a_running_gateway(home: Path, workspace: Path) -> None:
    configure(home, SETTINGS)
    environment = agent_environment(home, HERMES_GATEWAY_MATRIX_TOKEN="a-token-for-the-test")
    await run_command(
        "gateway", "run", environment={**environment, "HERMES_GATEWAY_MATRIX_TOKEN": ""}, cwd=workspace
    )
    async with resident(environment, workspace) as process:
        with anyio.fail_after(WAIT_S):
            while b"The server cannot be reached" not in process.said:
                await anyio.sleep(0.05)
        done = await run_command("doctor", "--json", environment=environment, cwd=workspace)
        status = await run_command("gateway", "status", environment=environment, cwd=workspace)
    findings = json.loads(done.output)["findings"]
    texts = [each["text"] for each in findings if each["check"] in ("gateway", "locks")]
    assert "The gateway for chat platforms is running." in texts
    assert not [text for text in texts if "gateway.lock" in text]
    assert [text for text in texts if text.startswith("matrix: The server cannot be reached")]
    assert "last ended" not in status.output  # An earlier error does not matter while it runs.


async def test_hints_name_the_profile(home: Path, workspace: Path) -> None:
    folder = home / ".hermes" / "profiles" / "irc"
    folder.mkdir(parents=True)
    environment = agent_environment(home)

    async def shown(*words: str, said: str = "") -> str:
        done = await run_command(
            "--profile", "irc", *words, environment=environment, cwd=workspace, given=said.encode()
        )
        return done.output + done.errors

    assert "`hermes-acp --profile irc gateway setup PLATFORM`" in await shown("gateway")
    assert "`hermes-acp --profile irc gateway setup PLATFORM`" in await shown("gateway", "run")
    written = await shown("gateway", "setup", "irc", said="irc.example\nagent" + "\n" * 9)
    assert "Then run `hermes-acp --profile irc daemon restart`" in written
    assert "Put HERMES_GATEWAY_IRC_PASSWORD into .env" in written
    status = await shown("gateway")
    assert "`hermes-acp --profile irc daemon start` runs it" in status
    assert "`hermes-acp --profile irc gateway pair CODE --name NAME`" in status


async def test_an_irc_server_without_a_password_needs_none(home: Path, workspace: Path) -> None:
    environment = agent_environment(home)
    given = b"127.0.0.1\nagent\n9\nnone\nserver\n\n\n\n\n"
    done = await run_command("gateway", "setup", "irc", environment=environment, cwd=workspace, given=given)
    assert done.code == 0, done.errors
    assert "PASSWORD into .env" not in done.output
    status = await run_command("gateway", environment=environment, cwd=workspace)
    assert "irc: set up" in status.output
