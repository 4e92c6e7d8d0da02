"""Real MCP servers over each transport: listed, called, cancelled, disconnected and reconnected."""

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from hermes_acp.mcp.server_definitions import HttpServer, ServerTimeouts, StdioServer
from injection_scanner.scanner import scan
from tests.contract.mcp_playground import Playground, Reports, at_work, example, listening, python_server
from tests.ports import quiet_port

pytestmark = pytest.mark.anyio
TOOLS = {
    "add", "shape_of_things", "poisoned", "picture", "fail", "megabyte", "slow", "crash", "grow", "environment",
    "order", "folders",
}  # fmt: skip
NEVER_ANSWERS = "import sys\nfor line in sys.stdin: pass"
STUBBORN = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(9)"


@asynccontextmanager
async def example_over(kind: str, place: Path) -> AsyncGenerator[Playground]:
    if kind == "stdio":
        async with at_work(place, example(place)) as playground:
            yield playground
    else:
        async with listening(kind, place) as spec, at_work(place, spec) as playground:
            yield playground


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def numbers_in(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()] if path.exists() else []


@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_every_transport_lists_and_calls(tmp_path: Path, kind: str) -> None:
    async with example_over(kind, tmp_path) as playground:
        assert set(playground.servers.tools()) == {f"mcp__example__{tool}" for tool in TOOLS}
        assert playground.servers.news() == []
        added = await playground.call("mcp__example__add", a=2, b=40)
        assert added.text.splitlines()[1] == "42"
        assert "'example', untrusted" in added.text
        picture = await playground.call("mcp__example__picture")
        assert "[image, image/png, 8 bytes: not shown]" in picture.text
        assert '"corners": 4' in (await playground.call("mcp__example__shape_of_things")).text
        failed = await playground.call("mcp__example__fail")
        assert failed.is_error
        assert "Error executing tool fail" in failed.text
        much = await playground.call("mcp__example__megabyte")
        assert len(much.text) < 70_000
        assert "first xxx" in much.text
        assert "xxx last" in much.text
        assert "bytes left out here" in much.text
    logs = [path.stat().st_mode & 0o777 for path in (tmp_path / "logs").glob("*")]
    assert logs == ([0o600] if kind == "stdio" else [])


@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_a_cancelled_call_is_cancelled_at_the_server(tmp_path: Path, kind: str) -> None:
    async with example_over(kind, tmp_path) as playground:
        reports = Reports()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(playground.call, "mcp__example__slow", reports)
            await reports.heard.wait()
            tasks.cancel_scope.cancel()
        assert reports.said == "1 of 3: warming up\n"
        while "cancelled" not in playground.events:
            await anyio.sleep(0.01)
        assert "3" in (await playground.call("mcp__example__add", a=1, b=2)).text


@pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
async def test_a_tool_that_is_added_later_can_be_called(tmp_path: Path, kind: str) -> None:
    async with example_over(kind, tmp_path) as playground:
        await playground.call("mcp__example__grow")
        while "mcp__example__grown" not in playground.servers.tools():
            await anyio.sleep(0.01)
        assert "grown up" in (await playground.call("mcp__example__grown")).text


async def test_a_call_has_a_time_limit(tmp_path: Path) -> None:
    async with at_work(
        tmp_path, example(tmp_path), timeouts=ServerTimeouts(waits_s=(0.01,), call_s=1)
    ) as playground:
        result = await playground.call("mcp__example__slow")
    assert result.is_error
    assert "did not answer within 1 s" in result.text


async def test_a_crashed_server_is_restarted(tmp_path: Path) -> None:
    async with at_work(tmp_path, example(tmp_path)) as playground:
        for _ in range(3):
            broken = await playground.call("mcp__example__crash")
            assert broken.is_error
            assert "its effect is not known" in broken.text
            assert "42" in (await playground.call("mcp__example__add", a=2, b=40)).text
        assert playground.servers.news() == []
        pids = [int(line.split()[1]) for line in playground.events if line.startswith("start")]
        assert len(pids) == 4
    assert not any(is_alive(pid) for pid in pids)


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_remote_server_that_was_unreachable_is_reconnected(tmp_path: Path, kind: str) -> None:
    async with AsyncExitStack() as stack:
        port = quiet_port()
        async with listening(kind, tmp_path, port) as spec:
            playground = await stack.enter_async_context(at_work(tmp_path, spec))
            os.kill(int(playground.events[0].split()[1]), 9)
            assert (await playground.call("mcp__example__add", a=1, b=2)).is_error
        assert (await playground.call("mcp__example__add", a=1, b=2)).is_error
        await stack.enter_async_context(listening(kind, tmp_path, port))
        while (result := await playground.call("mcp__example__add", a=2, b=40)).is_error:
            await anyio.sleep(0.01)
        assert "42" in result.text


async def test_a_server_that_does_not_start_is_reported_at_once_and_once(tmp_path: Path) -> None:
    for waits_s in ((60.0,), (0.01, 0.01)):
        async with at_work(
            tmp_path, python_server("raise SystemExit(3)", "dies"), timeouts=ServerTimeouts(waits_s=waits_s)
        ) as playground:
            (reported,) = playground.servers.news()
            assert "'dies' cannot be used: it ended" in reported
            assert "`/mcp reconnect dies`" in reported
            while waits_s[0] < 1 and "after 3 attempts" not in playground.servers.states()[0].stands:
                await anyio.sleep(0.01)
            assert playground.servers.news() == [reported]


async def test_a_server_that_recovered_is_not_reported_as_gone(tmp_path: Path) -> None:
    words = example(tmp_path).args
    code = "import os, sys\nif not os.path.exists('ready'): sys.exit(3)\n"
    code += f"os.execv(sys.executable, [sys.executable, *{words}])"
    async with at_work(
        tmp_path, python_server(code, "example"), timeouts=ServerTimeouts(waits_s=(60.0,))
    ) as playground:
        assert "'example' cannot be used" in playground.servers.news()[0]
        (tmp_path / "ready").touch()
        await playground.servers.revive("example")
        while playground.servers.states()[0].stands != "connected":
            await anyio.sleep(0.01)
        assert playground.servers.news() == []


async def test_a_server_that_does_not_recover_is_reported_when_it_is_given_up(
    tmp_path: Path,
) -> None:
    words = example(tmp_path).args
    code = "import os, sys\nif os.path.exists('gone'): sys.exit(3)\n"
    code += f"os.execv(sys.executable, [sys.executable, *{words}])"
    async with at_work(tmp_path, python_server(code, "example")) as playground:
        (tmp_path / "gone").touch()
        await playground.call("mcp__example__crash")
        while not (news := playground.servers.news()):
            await anyio.sleep(0.01)
    assert "'example' cannot be used: it ended" in news[0]
    assert "tried 3 times" in news[0]


async def test_a_server_that_never_works_is_retried_and_then_left_with_one_notice(tmp_path: Path) -> None:
    specs = (
        StdioServer("missing", "no-such-program-anywhere"),
        python_server("raise SystemExit(3)", "dies"),
        HttpServer("nobody", "http://127.0.0.1:9/mcp?key=secret"),
    )
    async with at_work(
        tmp_path, *specs, timeouts=ServerTimeouts(waits_s=(0.01, 0.01), connect_s=20)
    ) as playground:
        news: list[str] = []
        while len(news) < 3:
            news = [*playground.servers.news()]
            await anyio.sleep(0.01)
        assert playground.servers.tools() == {}
    reported = "\n".join(sorted(news))
    assert "'missing' cannot be used: the program does not exist" in reported
    assert "'dies' cannot be used: " in reported
    assert "'nobody' cannot be used: it cannot be reached" in reported
    assert "secret" not in reported


async def test_a_server_that_never_answers_is_given_up_and_reaped(tmp_path: Path) -> None:
    spec = python_server(f"import os\nopen('pid', 'w').write(str(os.getpid()))\n{NEVER_ANSWERS}", "mute")
    connect_s, news = 1, list[str]()
    while not (pids := numbers_in(tmp_path / "pid")):  # It may be too slow to start in that time.
        news.clear()
        async with at_work(
            tmp_path, spec, timeouts=ServerTimeouts(waits_s=(), connect_s=connect_s)
        ) as playground:
            while not news:
                news += playground.servers.news()
                await anyio.sleep(0.01)
        connect_s *= 3
    assert f"did not answer within {connect_s // 3} s" in news[0]
    assert not is_alive(*pids)


async def test_a_child_that_ignores_every_request_to_exit_is_killed(tmp_path: Path) -> None:
    code = f"import os, subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}])\n"
    code += f"open('pids', 'w').write(f'{{os.getpid()}} {{child.pid}}')\n{STUBBORN}"
    connect_s = 2
    while not (pids := numbers_in(tmp_path / "pids")):  # It may be too slow to start in that time.
        async with at_work(
            tmp_path, python_server(code), timeouts=ServerTimeouts(waits_s=(), connect_s=connect_s)
        ):
            pass
        connect_s *= 3
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


async def test_closing_before_the_start_starts_nothing(tmp_path: Path) -> None:
    async with at_work(tmp_path) as playground:
        await playground.servers.close()
        await playground.servers.run()
    assert playground.events == []


async def test_the_child_gets_only_the_allowed_variables(tmp_path: Path) -> None:
    async with at_work(tmp_path, example(tmp_path, GIVEN="1"), PATH=os.defpath, MINE="2") as playground:
        names = (await playground.call("mcp__example__environment")).text.splitlines()[1].split()
    assert set(names) - {"LC_CTYPE"} == {"GIVEN", "MINE", "PATH"}


async def test_a_program_in_the_workspace_is_not_found_by_its_bare_name(tmp_path: Path) -> None:
    trap = tmp_path / "bin" / "helper"
    trap.parent.mkdir()
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    timeouts = ServerTimeouts(waits_s=(), connect_s=5)
    path = f"{trap.parent}:.:bin"
    async with at_work(tmp_path, StdioServer("x", "helper"), timeouts=timeouts, PATH=path) as playground:
        while not (news := playground.servers.news()):
            await anyio.sleep(0.01)
    assert "the program does not exist" in news[0]
    assert not (tmp_path / "sprung").exists()


async def test_a_description_that_instructs_the_model_is_removed(tmp_path: Path) -> None:
    def clean(text: str) -> str:
        return scan(text).clean_text

    async with at_work(tmp_path, example(tmp_path), clean=clean) as playground:
        schema = playground.servers.tools()["mcp__example__poisoned"].schema()
        news = playground.servers.news()
    assert "removed by the injection scanner" in schema.description
    assert "Ignore all previous" not in schema.description
    assert len(news) == 1
    assert "'poisoned' of the MCP server 'example'" in news[0]


async def test_removed_passages_are_reported_once_however_often_the_list_changes(tmp_path: Path) -> None:
    def clean(text: str) -> str:
        return text.replace("Ignore all", "[cut]")

    async with at_work(tmp_path, example(tmp_path), clean=clean) as playground:
        reported = [*playground.servers.news()]
        await playground.call("mcp__example__grow")
        with anyio.fail_after(30):
            while "mcp__example__grown" not in playground.servers.tools():
                await anyio.sleep(0.01)
        assert playground.servers.news() == reported
    assert len(reported) == 1


async def test_a_result_that_instructs_the_model_is_removed(tmp_path: Path) -> None:
    def clean(text: str) -> str:
        return text.replace("42", "[cut]").replace("executing", "[cut]")

    async with at_work(tmp_path, example(tmp_path), clean=clean) as playground:
        added = await playground.call("mcp__example__add", a=2, b=40)
        failed = await playground.call("mcp__example__fail")
    assert added.text.splitlines()[1] == "[cut]"
    assert "'example', untrusted" in added.text
    assert "Error [cut] tool fail" in failed.text


async def test_two_servers_with_one_name_both_work(tmp_path: Path) -> None:
    async with at_work(tmp_path, example(tmp_path, "twin one"), example(tmp_path, "twin.one")) as playground:
        names = set(playground.servers.tools())
        assert {"mcp__twin_one__add", "mcp__twin_one_2__add"} <= names
        assert "3" in (await playground.call("mcp__twin_one_2__add", a=1, b=2)).text
