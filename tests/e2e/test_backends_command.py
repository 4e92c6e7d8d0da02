"""`hermes-acp backends`, and a session that reconnects to its cloud sandbox, with a scripted Daytona."""

import json
from pathlib import Path

import pytest

from tests.contract import sandbox_services
from tests.e2e.agent_process import agent_environment, configure, run_command
from tests.model_server import Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SAY = Reply("I run.", tool_calls=(ToolCall("terminal", {"command": "echo hello"}),))


async def test_a_sandbox_is_kept_found_again_listed_and_removed(home: Path, workspace: Path) -> None:
    place = home / "far"
    configure(home, f"backend: daytona\ndaytona: {{folder: {place}}}\nmode: bypass\nallow_bypass: true\n")
    with sandbox_services.serving(sandbox_services.Daytona) as service:
        async with serve([SAY, Reply("Done."), SAY, Reply("Again.")]) as model:
            environment = agent_environment(
                home, model, DAYTONA_API_KEY=sandbox_services.KEY, DAYTONA_API_URL=f"{service.url}/api"
            )

            async def run(*words: str, code: int = 0) -> str:
                done = await run_command(*words, environment=environment, cwd=workspace)
                assert done.code == code, done.errors
                return done.output + done.errors

            await run("run", "--allow-bypass", "--session", "ses_a", "-p", "go")
            (listed,) = json.loads(await run("backends", "list", "--json"))
            assert (listed["session_id"], listed["state"], listed["cwd"]) == (
                "ses_a",
                "suspended",
                str(workspace),
            )
            assert service.stopped == {listed["handle"]}
            await run("run", "--allow-bypass", "--resume", "ses_a", "-p", "go on")
            assert len(service.created) == 1
            assert "hello" in model.requests[-1].asked.last_text
            text = await run("backends", "list")
            assert "ses_a  daytona  suspended  since " in text
            assert "1 CPUs, 1 GiB, disk 1 GiB" in text
            assert "is deleted." in await run("backends", "remove", "ses_a")
            assert not service.living
            assert "No sandboxes are kept." in await run("backends")
            assert "No sandbox is kept for session 'ses_a'" in await run("backends", "stop", "ses_a", code=2)
