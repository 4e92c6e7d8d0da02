"""The agent as a library, in this process, against a real model server."""

import gc
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.to_thread
import pytest

from hermes_acp import (
    Agent,
    Approval,
    RunResult,
    TextDelta,
    Tool,
    ToolEnded,
    ToolRecord,
    ToolStarted,
    TurnFailed,
)
from hermes_acp.core.errors import BadRequest, Busy, ConfigError
from tests.architecture.sources import ROOT
from tests.model_server import Fault, ModelServer, Reply, ToolCall, serve

pytestmark = pytest.mark.anyio
MakeAgent = Callable[..., Agent]


def calls(name: str, **arguments: object) -> Reply:
    return Reply(tool_calls=(ToolCall(name, arguments),))


def options(place: Path, server: ModelServer) -> dict[str, Any]:
    project = place / "project"
    project.mkdir(exist_ok=True)
    variables = {"OPENAI_BASE_URL": server.openai_base_url, "OPENAI_API_KEY": "sk-test"}
    settings = {"retry.first_wait_s": 0.001, "retry.attempts": 2, "skills.look_back_after_calls": 0}
    return {
        "home": place / "home",
        "cwd": project,
        "model": "m",
        "variables": variables,
        "settings": settings,
        "builtin_tools": (),
    }


def fetch_url(url: Annotated[str, "The whole address"]) -> str:
    """Fetch a web page."""
    with urllib.request.urlopen(url, timeout=10) as page:
        return page.read().decode()


async def in_thread(work: Callable[..., Any], *args: object) -> Any:
    with anyio.fail_after(60):
        return await anyio.to_thread.run_sync(work, *args)


async def test_the_first_example_runs_and_its_history_survives(tmp_path: Path) -> None:
    async with serve([]) as pages:
        page = f"{pages.openai_base_url}/models"
        async with serve([calls("fetch_url", url=page), Reply("It lists one model.")]) as server:
            record = await fetch_and_return(tmp_path, server)
    assert list(record) == ["tool", "input", "output", "duration", "error"]
    assert record["tool"] == "fetch_url"
    assert record["input"] == {"url": page}
    assert "data" in (record["output"] or "")
    assert record["duration"] is not None
    assert 0 <= record["duration"] < 60
    assert record["error"] is None


async def fetch_and_return(place: Path, server: ModelServer) -> ToolRecord:
    """Run the example, and return its call as a later process sees it."""
    with Agent("reader", **options(place, server)) as agent:
        agent.register_tool(
            Tool(
                name="fetch_url",
                function=fetch_url,
                description="Fetch a web page",
                capabilities=["network"],
            )
        )
        result = await in_thread(agent.run, "Which models are there?")
        assert str(result) == "It lists one model."
        assert result.steps == 2
    [schema] = server.requests[0].body["tools"]
    assert schema["function"]["description"] == "Fetch a web page"
    assert schema["function"]["parameters"]["properties"] == {
        "url": {"type": "string", "description": "The whole address"}
    }
    with Agent("reader", **options(place, server)) as later:
        [record] = await in_thread(lambda: later.state.tool_history)
        assert [message["role"] for message in later.state.messages] == ["user", "assistant"]
    return record


def sneaky_network() -> str:
    """Try to do more than was declared."""
    return fetch_url("http://127.0.0.1:9/")


def sneaky_file() -> str:
    """Try to do more than was declared."""
    return Path("/etc/passwd").read_text()


def sneaky_program() -> str:
    """Try to do more than was declared."""
    return subprocess.run(["true"], check=True).args[0]


async def sneaky_connection() -> str:
    """Try to do more than was declared."""
    async with await anyio.connect_tcp("127.0.0.1", 9):
        return "connected"


@pytest.mark.parametrize(
    ("function", "capability"),
    [
        (sneaky_network, "network"),
        (sneaky_file, "files"),
        (sneaky_program, "processes"),
        (sneaky_connection, "network"),
    ],
)
async def test_a_call_beyond_its_capabilities_is_rejected_and_logged(
    tmp_path: Path, function: Callable[[], str | Awaitable[str]], capability: str
) -> None:
    name = str(getattr(function, "__name__", ""))
    async with serve([calls(name), Reply("It did not work.")]) as server:
        with Agent("careful", **options(tmp_path, server)) as agent:
            agent.register_tool(function)
            await in_thread(agent.run, "Go on.")
            record = agent.state.tool_history[-1]
            assert record["output"] is None
            assert f"{name} has not declared the capability {capability!r}" in (record["error"] or "")
    lines = (tmp_path / "home" / "logs" / "decisions.jsonl").read_text().splitlines()
    noted = [each for each in map(json.loads, lines) if each["what"] == "call_beyond_capabilities"]
    assert noted
    assert {(each["tool"], each["capability"]) for each in noted} == {(name, capability)}


async def test_events_are_streamed_and_leaving_stops_the_turn(tmp_path: Path) -> None:
    def add(first: int, second: int) -> int:
        """Add two numbers."""
        return first + second

    replies = [
        calls("add", first=1, second=2),
        Reply("That is 3.", deltas=3),
        Reply("never", first_delay_s=60),
    ]
    async with serve(replies) as server, Agent("adder", **options(tmp_path, server)) as agent:
        agent.register_tool(add)
        events = [event async for event in agent.stream_async("1 + 2?")]
        assert [type(event) for event in events] == [
            ToolStarted, ToolEnded, *[TextDelta] * (len(events) - 3), RunResult,
        ]  # fmt: skip
        assert isinstance(events[1], ToolEnded)
        assert events[1].record["output"] == "3"
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "That is 3."
        with anyio.move_on_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(agent.run_async, "Wait.")
                await server.wait_for_request(3)
                tasks.cancel_scope.cancel()
        assert (await in_thread(lambda: agent.state.messages))[-1] == {"role": "user", "content": "Wait."}


async def test_an_unfinished_turn_is_an_error_with_a_result(tmp_path: Path) -> None:
    async with serve([Reply(fault=Fault(status=401))]) as server:
        agent = Agent("stopped", **options(tmp_path, server))
        with pytest.raises(TurnFailed, match="401") as raised:
            await agent.run_async("Hello?")
        await agent.close_async()
    assert raised.value.result.reason == "model_trouble"


async def test_the_program_decides_about_calls_that_need_approval(tmp_path: Path) -> None:
    asked: list[Approval] = []

    async def approve(approval: Approval) -> bool:
        asked.append(approval)
        return len(asked) == 1

    def send(text: str) -> str:
        """Send a text."""
        return f"sent {text}"

    replies = [calls("send", text="a"), calls("send", text="b"), Reply("One was sent.")]
    async with (
        serve(replies) as server,
        Agent("sender", approve=approve, **options(tmp_path, server)) as agent,
    ):
        agent.register_tool(Tool(function=send, approval="always", capabilities=["network"]))
        result = await agent.run_async("Send both.")
        first, second = agent.state.tool_history
    assert [approval.tool for approval in asked] == ["send", "send"]
    assert first["output"] == "sent a"
    assert second["error"]
    assert result.refused == ("send",)


async def test_a_prompt_is_never_a_command(tmp_path: Path) -> None:
    async with serve([Reply("I cannot.")]) as server, Agent("literal", **options(tmp_path, server)) as agent:
        assert (await agent.run_async("/shell touch pwned")).text == "I cannot."
        assert not (tmp_path / "project" / "pwned").exists()


async def test_exceptions_in_a_function_are_outcomes(tmp_path: Path) -> None:
    def broken(how: str) -> object:
        """Fail."""
        if how == "exit":
            sys.exit(3)
        raise ValueError("no such thing")

    async def again() -> str:
        """Run a prompt inside a prompt."""
        return (await agent.run_async("inner")).text

    replies = [
        calls("broken", how="raise"),
        calls("broken", how="exit"),
        calls("again"),
        Reply("All failed."),
    ]
    async with serve(replies) as server, Agent("broken", **options(tmp_path, server)) as agent:
        agent.register_tool(broken)
        agent.register_tool(again)
        await agent.run_async("Try.")
        errors = [record["error"] for record in agent.state.tool_history]
    assert errors[:2] == ["ValueError: no such thing", "SystemExit: 3"]
    assert "the agent that is waiting for this tool" in (errors[2] or "")


async def test_after_a_timeout_only_a_plain_function_may_still_run(tmp_path: Path) -> None:
    may_end = threading.Event()
    ended: list[str] = []

    def plain() -> None:
        """Wait in a thread."""
        may_end.wait(60)
        ended.append("plain")

    async def async_one() -> None:
        """Wait in the event loop."""
        await anyio.sleep_forever()

    replies = [calls("plain"), calls("async_one"), Reply("Too slow.")]
    async with serve(replies) as server, Agent("slow", **options(tmp_path, server)) as agent:
        for function in (plain, async_one):
            agent.register_tool(Tool(function=function, timeout_s=0.1))
        await agent.run_async("Try.")
        errors = [record["error"] for record in agent.state.tool_history]
        assert errors == [
            "Stopped after 0.1 s, the time limit of a call. Its function cannot be stopped and may still be running.",
            "Stopped after 0.1 s, the time limit of a call. It was ended and may be half done.",
        ]
        assert ended == []
        may_end.set()


async def test_an_agent_that_is_dropped_releases_its_session(tmp_path: Path) -> None:
    async with serve([Reply("One."), Reply("Two."), Reply("Three.")]) as server:

        def run_cells() -> list[str]:
            agent = Agent("analyst", **options(tmp_path, server))
            texts = [agent.run("hi").text]
            # As in a notebook: the name is bound to a new agent while the old one still has the session.
            agent = Agent("analyst", **options(tmp_path, server))
            texts.append(agent.run("hi").text)
            cycle: list[object] = [agent]
            cycle.append(cycle)
            del agent, cycle
            gc.collect()
            return [*texts, Agent("analyst", **options(tmp_path, server)).run("hi").text]

        assert await in_thread(run_cells) == ["One.", "Two.", "Three."]


async def test_an_agent_that_could_not_start_releases_its_session(tmp_path: Path) -> None:
    async with serve([Reply("Hello.")]) as server:
        unknown: Any = "yolo"
        wrong = Agent("zz", **options(tmp_path, server), mode=unknown, instructions="Be long.")
        with pytest.raises(ConfigError, match="yolo"):
            await wrong.run_async("hi")
        async with Agent("zz", **options(tmp_path, server), instructions="Be brief.") as corrected:
            assert (await corrected.run_async("hi")).text == "Hello."
        asked = json.dumps(server.requests[-1].body)
        assert ("Be brief." in asked, "Be long." in asked) == (True, False)


async def test_an_agent_whose_first_turn_failed_to_start_can_be_replaced_while_it_exists(
    tmp_path: Path,
) -> None:
    async with serve([Reply("One."), Reply("Two.")]) as server:
        async with Agent("zz", **options(tmp_path, server)) as first:
            await first.run_async("hi")
        wrong_options: dict[str, Any] = {**options(tmp_path, server), "settings": {"retry.attempts": "many"}}
        wrong = Agent("zz", **wrong_options)
        with pytest.raises(ConfigError):
            await wrong.run_async("hi")
        async with Agent("zz", **options(tmp_path, server)) as corrected:
            assert (await corrected.run_async("hi")).text == "Two."


async def test_two_processes_do_not_share_a_session(tmp_path: Path) -> None:
    async with serve([Reply("One."), Reply("Two.")]) as server:
        async with Agent("one", **options(tmp_path, server)) as first:
            await first.run_async("Hello.")
            second = Agent("one", **options(tmp_path, server))
            with pytest.raises(Busy) as refused:
                await second.run_async("Hello.")
            second.close()
            assert str(refused.value) == (
                "The agent 'one' is open in another Agent of this program. Call its close()."
            )
        with pytest.raises(BadRequest, match="closed"):
            await first.run_async("Hello?")


def test_invalid_agents_and_tools_are_explained(tmp_path: Path) -> None:
    agent = Agent("checked", home=tmp_path)
    one_text: Any = "network"
    no_function: Any = "memory"
    misspelt: Any = {"modle": "m"}

    def untyped(value: str) -> str:
        """Take a value of any type."""
        return value

    del untyped.__annotations__["value"]

    def by_position(value: int, /) -> int:
        """Take a number."""
        return value

    def opaque(value: Path | os.DirEntry[str]) -> str:
        """Take an entry of a folder."""
        return value.name

    def fine(schema: str = "x") -> str:
        """Take a text."""
        return schema

    agent.register_tool(fine)
    for tool, words in (
        (untyped, "no type annotation"),
        (by_position, "cannot be passed by name"),
        (opaque, "without a JSON Schema"),
        (fine, "already has a tool"),
        (lambda: 1, "'<lambda>' is not a valid tool name: use letters, digits, - and _"),
        (Tool(function=fine, name="terminal"), "built-in tool"),
        (Tool(function=fine, name="a b"), "not a valid tool name"),
        (
            Tool(function=fine, name="b", capabilities=one_text),
            r"string 'network', but must be a list .*processes",
        ),
        (
            Tool(function=fine, name="b", capabilities=[no_function]),
            "cannot be 'memory'.*files, network, processes",
        ),
        (Tool(function=fine, name="b", timeout_s=0), "positive"),
    ):
        with pytest.raises(BadRequest, match=words):
            agent.register_tool(tool)
    with pytest.raises(
        BadRequest, match="not a valid agent name: use letters, digits, - and _, at most 128 characters"
    ):
        Agent("../other")
    with pytest.raises(TypeError, match="no option 'modle'"):
        Agent("a", **misspelt)
    with pytest.raises(BadRequest, match="non-empty"):
        agent.run("  ")
    with pytest.raises(BadRequest, match="no built-in tool 'termnal'"):
        Agent("a", builtin_tools=["termnal"])


def test_a_program_that_closes_nothing_exits(tmp_path: Path) -> None:
    program = (
        "from hermes_acp import Agent\n"
        f"agent = Agent('loose', home={str(tmp_path)!r}, model='m', variables={{'OPENAI_BASE_URL': 'http://127.0.0.1:9/v1'}},"
        " settings={'retry.attempts': 1})\n"
        "try:\n    agent.run('Hello.')\nexcept Exception as error:\n    print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT, check=True
    )
    assert done.stdout == "TurnFailed\n"
