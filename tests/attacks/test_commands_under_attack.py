"""Commands that flood, hang, hide or multiply, and a process that must not leak."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from hermes_acp.workspaces.processes import process_spawn
from tests.attacks.attack_checks import (
    MARK,
    MAX_RSS_BYTES,
    attacked_agent,
    children_of,
    marked_processes,
    open_descriptors,
    peak_rss_bytes,
    result_of,
)
from tests.e2e.agent_process import WAIT_S, pid_in, wait_for_end, watch_process
from tests.e2e.raw_editor import outcome_text
from tests.model_server import Reply, ToolCall

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are read in /proc"),
]

MAX_OUTCOME_BYTES = 1 << 20
FLOODS = {
    "lines of one letter": "yes | head -c 30000000",
    "no text at all": "head -c 20000000 /dev/urandom",
    "one line of 50 megabytes": "head -c 50000000 /dev/zero | tr '\\0' x",
    "half a million tiny lines": "seq 500000",
    "control characters": "head -c 3000000 /dev/zero | tr '\\0' '\\033'",
    "to both outputs": "yes out | head -c 5000000 & yes err | head -c 5000000 >&2; wait",
}
ENDLESS = {
    "yes without end": "yes",
    "noise without end": "cat /dev/urandom",
}
HANGING = {
    "a sleep": "sleep 1000000",
    "a busy loop": "while :; do :; done",
    "one that ignores signals": "trap '' TERM INT HUP QUIT; while :; do sleep 1; done",
    "a pipeline": "sleep 1000 | cat | cat",
    "a background child": "(trap '' TERM; sleep 1000) & sleep 1000",
    "a daemon that waits": "setsid sh -c 'sleep 1000' & sleep 1000",
    "one that reads its input for ever": "cat < /dev/zero > /dev/null",
    "one that stopped itself": "kill -STOP $$",
}
DAEMONS = {
    "forked twice": "(setsid sleep 1000 >/dev/null 2>&1 &) ; echo started",
    "nohup": "nohup sleep 1000 >/dev/null 2>&1 & echo started",
}


@pytest.mark.slow
async def test_f02_long_output_is_kept_at_both_ends(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        for name, command in FLOODS.items():
            seen = len(siege.agent.messages)
            end = await siege.call("terminal", {"command": command, "timeout_s": 80}, session_id)
            assert end["status"] == "completed", (name, result_of(end)[-300:])
            assert len(result_of(end)) < MAX_OUTCOME_BYTES, name
            assert "left out" in result_of(end), name
            assert len(siege.agent.messages) - seen < 3_000, f"{name}: updates are not joined"
        assert peak_rss_bytes(siege.agent.process.pid) < MAX_RSS_BYTES


async def test_f02_endless_output_is_ended_in_time(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        calls = tuple(ToolCall("terminal", {"command": line, "timeout_s": 0.5}) for line in ENDLESS.values())
        for end in await siege.turn(Reply(tool_calls=calls)):
            assert end["status"] == "failed"
            assert "timed out after 0.5 s" in result_of(end)
            assert len(result_of(end)) < MAX_OUTCOME_BYTES


async def test_f03_no_process_of_a_command_outlives_its_time_limit(tmp_path: Path) -> None:
    """All hang at once, each in its own session; after the last one, nothing is left of any."""
    async with attacked_agent(tmp_path) as siege:
        variables = Path(f"/proc/{siege.agent.process.pid}/environ").read_bytes()
        mark = variables.split(f"{MARK}=".encode())[1].split(b"\0")[0].decode()

        async def hang(name: str) -> None:
            end = await siege.call("terminal", {"command": HANGING[name], "timeout_s": 0.3})
            assert "timed out after 0.3 s" in result_of(end), (name, result_of(end)[-300:])

        async with anyio.create_task_group() as tasks:
            for name in HANGING:
                tasks.start_soon(hang, name)
        assert [command_of(pid) for pid in marked_processes(mark) if is_of_a_command(pid)] == []


async def test_f03_daemons_end_with_their_session(tmp_path: Path) -> None:
    async with attacked_agent(tmp_path) as siege:
        session_id = await siege.agent.open_session(siege.workspace)
        for name, command in DAEMONS.items():
            end = await siege.call("terminal", {"command": command, "timeout_s": 80}, session_id)
            assert "started" in result_of(end), (name, result_of(end))
        with anyio.fail_after(WAIT_S):
            while len(children := sleeping_children_of(siege.agent.process.pid)) < len(DAEMONS):
                await anyio.sleep(0.02)
        watched = [watch_process(child) for child in children]
        assert "result" in await siege.agent.call("session/close", {"sessionId": session_id})
        for each in watched:
            await wait_for_end(each)


async def test_f03_a_daemon_ends_with_a_killed_agent(tmp_path: Path) -> None:
    line = (
        "(setsid sh -c 'echo \"pid $$\"; echo >up; exec sleep 1000' &) ; until [ -e up ]; do sleep 0.02; done"
    )
    async with attacked_agent(tmp_path) as siege:
        end = await siege.call("terminal", {"command": line})
        child = watch_process(pid_in(outcome_text(end)))
        siege.agent.process.kill()
        await wait_for_end(child)
        siege.is_dead = True
        await siege.agent.process.wait()


def sleeping_children_of(pid: int) -> list[int]:
    return [child for child in children_of(pid) if command_of(child).startswith("sleep\0")]


def is_of_a_command(pid: int) -> bool:
    """Return whether a process belongs to a command rather than to the agent's own work."""
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(each.startswith(f"{process_spawn.MARK}=".encode()) for each in variables)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


@pytest.mark.slow
async def test_f11_many_calls_and_sessions_leak_nothing(tmp_path: Path) -> None:
    """Rounds of the same work: after a warm-up, no round may need more descriptors or memory than the one before."""
    step = (
        *(ToolCall("read_file", {"path": f"f{number % 7}"}) for number in range(60)),
        *(ToolCall("write_file", {"path": f"g{number}", "content": "x" * 100}) for number in range(5)),
        *(ToolCall("terminal", {"command": f"echo {number}"}) for number in range(3)),
        ToolCall("search", {"pattern": "seven"}),
    )
    async with attacked_agent(tmp_path) as siege:
        agent, pid = siege.agent, siege.agent.process.pid
        for number in range(7):
            (siege.workspace / f"f{number}").write_text("seven")
        sizes: list[int] = []
        most_open = 0
        for _ in range(4):
            for _ in range(10):
                session_id = await agent.open_session(siege.workspace)
                await siege.turn(Reply(tool_calls=step), session_id=session_id)
                assert "result" in await agent.call("session/close", {"sessionId": session_id})
            sizes.append(rss_bytes(pid))
            most_open = most_open or open_descriptors(pid) + 5
            agent.messages.clear()
        with anyio.fail_after(WAIT_S):
            while open_descriptors(pid) > most_open:  # The last message is still being indexed.
                await anyio.sleep(0.05)
        assert sizes[-1] < 1.2 * sizes[1], sizes


def rss_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
