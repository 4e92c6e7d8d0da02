"""A whole agent and an MCP server that requires a sign-in, through the editor and through the terminal."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.contract.guarded_server import Guarded, guarded, sign_in_at
from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, configure
from tests.e2e.raw_editor import RawEditor, editor, outcome_text, permit
from tests.model_server import Recorded, Reply, Script, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
LINK = re.compile(r"http://127\.0\.0\.1:\d+/authorize\?[^\s'\"]+")
ALLOW = {"session/request_permission": permit("allow_once")}


def greeting(**capabilities: object) -> dict[str, object]:
    return {"protocolVersion": 1, "clientCapabilities": capabilities}


def call_what_is_offered(request: Recorded) -> Reply:
    """Call the server's tool as soon as a request offers it, once in each turn."""
    if request.asked.step:
        return Reply("Done.")
    call = ToolCall("mcp__tracker__add", {"a": 2, "b": 40})
    is_there = call.name in str(request.body.get("tools"))
    return Reply("I call.", tool_calls=(call,)) if is_there else Reply("Not yet.")


def known(place: Path, sign_in_server: Guarded) -> None:
    configure(place, f"mcp_servers:\n  tracker: {{url: '{sign_in_server.url}'}}\n")


def stored_secrets(place: Path) -> list[str]:
    (path,) = (place / ".hermes" / "mcp-tokens").glob("*.json")
    return re.findall(r"(?:opaque|again)[0-9a-f]{32}", path.read_text())


def written(place: Path) -> str:
    """Return everything in the home except the tokens themselves."""
    files = [
        path for path in (place / ".hermes").rglob("*") if path.is_file() and "mcp-tokens" not in path.parts
    ]
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


async def call_it(one: RawEditor, session: str) -> str:
    """Prompt until the tool was available and was called; return the answer."""
    while True:
        assert (await one.prompt(session, "call it"))["result"]["stopReason"] == "end_turn"
        if ends := [u for u in one.updates("tool_call_update") if u.get("status") == "completed"]:
            return outcome_text(ends[-1])


async def test_an_editor_that_opens_pages_shows_the_sign_in_page(tmp_path: Path) -> None:
    async with guarded() as sign_in_server, serve(Script(choose=call_what_is_offered)) as model:
        known(tmp_path, sign_in_server)
        greet = greeting(elicitation={"url": {}})
        async with editor(agent_environment(tmp_path, model), tmp_path, answers=ALLOW, greeting=greet) as one:
            session = await one.open_session(tmp_path)

            async def sign_in_when_asked() -> None:
                asked = await one.wait_for(lambda m: m.get("method") == "elicitation/create")
                assert asked["params"]["mode"] == "url"
                assert "'tracker' wants you to sign in" in asked["params"]["message"]
                await sign_in_at(asked["params"]["url"])
                await one.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}})

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sign_in_when_asked)
                with anyio.fail_after(WAIT_S):
                    assert "42" in await call_it(one, session)
            assert await one.leave() == 0
        shown = str(one.messages)
        secrets = stored_secrets(tmp_path)
        assert len(secrets) == 2
        assert not any(secret in shown + written(tmp_path) for secret in secrets)


async def test_an_editor_that_opens_none_shows_the_link(tmp_path: Path) -> None:
    async with guarded() as sign_in_server, serve(Script(choose=call_what_is_offered)) as model:
        known(tmp_path, sign_in_server)
        async with editor(agent_environment(tmp_path, model), tmp_path, answers=ALLOW) as one:
            session = await one.open_session(tmp_path)
            with anyio.fail_after(WAIT_S):
                while not (found := LINK.search(str(one.updates()))):
                    assert (await one.prompt(session, "hello"))["result"]["stopReason"] == "end_turn"
                await sign_in_at(found[0])
                while "connected" not in str(one.updates("agent_message_chunk")):
                    await one.prompt(session, "/mcp")
                assert "42" in await call_it(one, session)


async def log_in(environment: dict[str, str], name: str) -> tuple[int, str]:
    """Run `mcp login` like a user who follows the printed link."""
    command = [COMMAND, "mcp", "login", name, "--no-browser"]
    async with await anyio.open_process(command, env=environment, stderr=subprocess.STDOUT) as process:
        assert process.stdout
        reader = BufferedByteReceiveStream(process.stdout)
        said = ""
        with anyio.fail_after(WAIT_S):
            while "/authorize?" not in said:
                said = (await reader.receive_until(b"\n", 10_000)).decode()
            await sign_in_at(said.strip())
            rest = (await reader.receive_until(b"\n", 10_000)).decode()
            return await process.wait(), rest


async def run(environment: dict[str, str], *words: str, cwd: Path) -> Any:
    with anyio.fail_after(WAIT_S):
        return await anyio.run_process([COMMAND, *words], env=environment, check=False, cwd=cwd)


async def test_a_terminal_signs_in_and_out_and_a_run_says_how(tmp_path: Path) -> None:
    replies = [Reply("I cannot."), Reply("It is there.")]
    async with guarded() as sign_in_server, serve(replies) as model:
        known(tmp_path, sign_in_server)
        environment = agent_environment(tmp_path, model)
        before = await run(environment, "run", "-p", "hello", cwd=tmp_path)
        assert before.returncode == 0
        assert "hermes-acp mcp login tracker" in before.stderr.decode()
        assert "/authorize?" not in before.stderr.decode()
        listed = (await run(environment, "mcp", "list", cwd=tmp_path)).stdout.decode()
        assert "tracker: wants you to sign in" in listed
        code, said = await log_in(environment, "tracker")
        assert (code, said.strip()) == (0, "You are signed in to tracker.")
        listed = (await run(environment, "mcp", "list", cwd=tmp_path)).stdout.decode()
        assert "tracker: connected; 2 tools: mcp__tracker__add" in listed
        after = await run(environment, "run", "-p", "hello", cwd=tmp_path)
        assert "sign in" not in after.stderr.decode()
        tools = str(model.requests[-1])
        assert "mcp__tracker__add" in tools
        out = await run(environment, "mcp", "logout", "tracker", cwd=tmp_path)
        assert out.stdout.decode().strip() == "You are signed out of tracker."
        unknown = await run(environment, "mcp", "login", "nobody", cwd=tmp_path)
        assert unknown.returncode == 2
        assert "has no MCP server named 'nobody'" in unknown.stderr.decode()
