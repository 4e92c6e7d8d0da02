"""Measure how fast a cancellation works: during a stream, during a command, and when the editor disconnects.

Run: python -m bench.cancel [RUNS]
The floor for stopping a command is killing and reaping its process group directly. The floor for a disconnect is a
minimal agent that exits when its input is closed. When the response arrives, no process of the command may be left.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.agents import FLOOR, OURS, Agent, prepare, report_row, scripted_surroundings, spread

COMMAND = 'echo "pid $$"; sleep 300 & sleep 300'
GOAL_STREAM_MS, GOAL_COMMAND_MS, GOAL_GONE_MS = 15, 25, 40
ROUNDS = 10
SCRIPT = {
    "rules": [
        {
            "when": "run it",
            "replies": [{"tool_calls": [{"name": "terminal", "arguments": {"command": COMMAND}}]}],
            "pick": "cycle",
        },
        {"when": "talk", "replies": [{"text": ["word "] * 2000, "delay_s": 0.005}], "pick": "cycle"},
    ],
    "default": [{"text": "Hello."}],
    "pick": "cycle",
}


class Figures:
    """The measured times to stop."""

    def __init__(self) -> None:
        self.stream_s: list[float] = []
        self.command_s: list[float] = []
        self.gone_s: list[float] = []
        self.bare_kill_s: list[float] = []
        self.bare_gone_s: list[float] = []

    def measure(self, place: tuple[dict[str, str], str]) -> None:
        environment, cwd = place
        agent = Agent(OURS, environment)
        session_id = agent.open_session(cwd)
        agent.prompt(session_id, "hello")
        for _ in range(ROUNDS):
            call_id = agent.begin_prompt(session_id, "talk")
            _read_to(agent, lambda u: u["sessionUpdate"] == "agent_message_chunk")
            self.stream_s.append(_cancel(agent, session_id, call_id))
            call_id = agent.begin_prompt(session_id, "run it")
            group = _read_pid(agent)
            self.command_s.append(_cancel(agent, session_id, call_id))
            _check_gone(group)
            self.bare_kill_s.append(_kill_by_hand())
        agent.begin_prompt(session_id, "run it")
        group = _read_pid(agent)
        self.gone_s.append(_leave(agent))
        _check_gone(group)
        bare = Agent(FLOOR, environment)
        bare.prompt(bare.open_session(cwd), "hello")
        self.bare_gone_s.append(_leave(bare))


def _read_to(agent: Agent, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    while True:
        message = agent.read()
        if message.get("method") == "session/update" and matches(message["params"]["update"]):
            return message["params"]["update"]


def _read_pid(agent: Agent) -> int:
    """Read until the command has printed its process ID, which is also its process group ID."""
    update = _read_to(agent, lambda u: "pid " in str(u.get("content")))
    found = re.search(r"pid (\d+)", str(update["content"]))
    if not found:
        return _read_pid(agent)  # the tool call's card shows the command line, which also contains "pid"
    return int(found[1])


def _cancel(agent: Agent, session_id: str, call_id: int) -> float:
    asked_at_s = time.perf_counter()
    agent.notify("session/cancel", {"sessionId": session_id})
    reason = agent.read_until(call_id)["stopReason"]
    took_s = time.perf_counter() - asked_at_s
    if reason != "cancelled":
        raise RuntimeError(f"the turn ended as {reason!r} instead of being cancelled")
    return took_s


def _check_gone(group: int) -> None:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return
    raise RuntimeError(f"the process group {group} is still there")


def _leave(agent: Agent) -> float:
    """Close the agent's input; return the time until its process has exited."""
    assert agent.process.stdin
    watch = os.pidfd_open(agent.process.pid)
    left_at_s = time.perf_counter()
    agent.process.stdin.close()
    if not select.select([watch], [], [], 10)[0]:
        raise RuntimeError("the agent did not exit within 10 s")
    took_s = time.perf_counter() - left_at_s
    os.close(watch)
    if agent.process.wait() != 0:
        raise RuntimeError(f"the agent exited with code {agent.process.returncode}")
    return took_s


def _kill_by_hand() -> float:
    process = subprocess.Popen(("bash", "-c", COMMAND), stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout
    process.stdout.readline()
    began_at_s = time.perf_counter()
    os.killpg(process.pid, signal.SIGTERM)
    process.stdout.read()  # end of file comes once the last process of the group has closed its output
    process.wait()
    took_s = time.perf_counter() - began_at_s
    process.stdout.close()
    return took_s


def main(runs: int) -> None:
    prepare()
    figures = Figures()
    with scripted_surroundings(SCRIPT) as place:
        for _ in range(runs):
            figures.measure(place)
    print(f"{runs} processes, {ROUNDS} stops of each kind in each; median (min … max)")
    print(f"{f'cancel in a stream → answer, ms (≤ {GOAL_STREAM_MS})':46} {spread(figures.stream_s, 1e3)}")
    report_row(f"cancel in a command, ms (≤ {GOAL_COMMAND_MS})", figures.bare_kill_s, figures.command_s, 1e3)
    report_row(
        f"exit after EOF in a command, ms (≤ {GOAL_GONE_MS})", figures.bare_gone_s, figures.gone_s, 1e3
    )
    print("the command's process group was gone after each response and each exit")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
