"""Measure session/load for a session of 10,000 items, and session/list for 1,000 sessions.

Run: python -m bench.history [RUNS] [ITEMS] [SESSIONS]
The floor for a load is a bare process that decodes each line of the record with the standard library and prints it. The
loaded items are compared with the stored ones, including their order.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.agents import OURS, Agent, prepare, report_row, spread, surroundings
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    SessionOpened,
    StepEnded,
    TextSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import TextPart, ToolCall
from hermes_acp.storage.transcript import Transcript

ITEMS, SESSIONS = 10_000, 1000
ITEMS_OF_A_TURN = 5
BARE_REPLAY = (
    "import json, sys\n"
    "for line in open(sys.argv[1]):\n"
    "    sys.stdout.write(json.dumps(json.loads(line)) + '\\n')\n"
)


def _turn(number: int) -> Iterator[Event]:
    """Yield a turn of five items: a question, text, a call and its outcome, the answer."""
    call_id, first, second = f"call_{number}", f"msg_{number}a", f"msg_{number}b"
    yield TurnStarted(f"turn_{number}")
    yield UserSaid(f"msg_{number}", (TextPart(f"question {number}: what does this file say? " * 4),))
    yield TextSaid(first, f"I look into file {number} ")
    yield TextSaid(first, "and tell you.")
    yield StepEnded(first, (ToolCall(call_id, "read_file", f'{{"path":"file{number}.txt"}}'),))
    yield CallProposed(call_id, "read_file", f"Read file{number}.txt", "read", {"path": f"file{number}.txt"})
    yield CallStarted(call_id)
    yield CallEnded(call_id, "read_file", "completed", f"content {number}\n" * 20)
    yield TextSaid(second, f"answer {number}: it says a number. " * 6)
    yield StepEnded(second)
    yield TurnEnded(f"turn_{number}", "done")


def _write_session(home: Path, session_id: str, cwd: str, turns: int) -> Path:
    path = home / "sessions" / f"{session_id}.jsonl"
    transcript = Transcript.create(path)
    transcript.append(SessionOpened(session_id, cwd, (cwd,), 1_700_000_000.0))
    transcript.append(TitleChanged(f"Session {session_id}"))
    for number in range(turns):
        for event in _turn(number):
            transcript.append(event)
    transcript.close()
    return path


def _expected(turns: int) -> list[str]:
    """Return what an editor must be shown, as one mark per item."""
    return [
        f"{mark} {number}"
        for number in range(turns)
        for mark in ("question", "I look into file", "card", "content", "answer")
    ]


def _mark(update: dict[str, object]) -> str | None:
    """Return the mark of an update; None if it is not an item."""
    text = json.dumps(update)
    match update["sessionUpdate"]:
        case "user_message_chunk" | "agent_message_chunk":
            for mark in ("question", "I look into file", "answer"):
                if f'"{mark} ' in text:
                    return f"{mark} {text.split(f'{mark} ', 1)[1].split(':')[0].split()[0]}"
            raise RuntimeError(f"unexpected text: {text[:200]}")
        case "tool_call":
            return f"card {str(update['toolCallId']).removeprefix('call_')}"
        case "tool_call_update" if update.get("status") == "completed":
            return f"content {str(update['toolCallId']).removeprefix('call_')}"
        case _:
            return None


class Loads:
    """The measurements of loading."""

    def __init__(self) -> None:
        self.bare_s: list[float] = []
        self.wall_s: list[float] = []
        self.beside_s: list[float] = []
        self.cpu_s: list[float] = []
        self.growth_mib: list[float] = []
        self.peak_mib: list[float] = []
        self.sent_bytes = 0

    def measure(self, items: int) -> None:
        turns = items // ITEMS_OF_A_TURN
        with surroundings() as (environment, cwd):
            path = _write_session(Path(environment["HERMES_HOME"]), "long", cwd, turns)
            _write_session(Path(environment["HERMES_HOME"]), "short", cwd, 1)
            started_at_s = time.perf_counter()
            subprocess.run((sys.executable, "-c", BARE_REPLAY, str(path)), capture_output=True, check=True)
            self.bare_s.append(time.perf_counter() - started_at_s)
            agent = Agent(OURS, environment)
            agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            agent.call("session/load", {"sessionId": "short", "cwd": cwd, "mcpServers": []})
            agent.updates.clear()
            before_mib, cpu_s, before_bytes = agent.memory_mib(), agent.exact_cpu_s(), agent.read_bytes
            asked_at_s = time.perf_counter()
            agent.call("session/load", {"sessionId": "long", "cwd": cwd, "mcpServers": []})
            self.wall_s.append(time.perf_counter() - asked_at_s)
            self.cpu_s.append(agent.exact_cpu_s() - cpu_s)
            self.sent_bytes = agent.read_bytes - before_bytes
            self.growth_mib.append(agent.memory_mib() - before_mib)
            self.peak_mib.append(agent.peak_mib())
            shown = [mark for _, update in agent.updates if (mark := _mark(update))]
            if shown != _expected(turns):
                raise RuntimeError(f"{len(shown)} items were shown, but not the stored ones in their order")
            self._measure_beside(agent, cwd)
            agent.close()

    def _measure_beside(self, agent: Agent, cwd: str) -> None:
        """Send requests to another session while the long one is loaded again, and record the longest wait."""
        loading = agent.begin("session/load", {"sessionId": "long", "cwd": cwd, "mcpServers": []})
        waits_s: list[float] = []
        is_loaded = False
        while not is_loaded:
            asked_at_s = time.perf_counter()
            asked = agent.begin("session/set_mode", {"sessionId": "short", "modeId": "plan"})
            answered = None
            while answered != asked:
                message = agent.read()
                answered = message.get("id")
                is_loaded |= answered == loading
            waits_s.append(time.perf_counter() - asked_at_s)
        self.beside_s.append(max(waits_s))


class Lists:
    """The measurements of listing."""

    def __init__(self) -> None:
        self.first_s: list[float] = []
        self.all_s: list[float] = []
        self.page_s: list[float] = []
        self.later_s: list[float] = []

    def measure(self, sessions: int) -> None:
        with surroundings() as (environment, cwd):
            for number in range(sessions):
                _write_session(Path(environment["HERMES_HOME"]), f"ses_{number}", cwd, 2)
            self.first_s.append(_list_all(environment, sessions, self.all_s)[0])
            pages = _list_all(environment, sessions, [])
            self.later_s.append(pages[0])
            self.page_s += pages[1:]


def _list_all(environment: dict[str, str], sessions: int, all_s: list[float]) -> list[float]:
    """List every page in a new process; return the time of each."""
    agent = Agent(OURS, environment)
    agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    pages: list[float] = []
    found: list[str] = []
    params: dict[str, object] = {}
    began_at_s = time.perf_counter()
    while True:
        asked_at_s = time.perf_counter()
        page = agent.call("session/list", params)
        pages.append(time.perf_counter() - asked_at_s)
        found += [each["sessionId"] for each in page["sessions"]]
        if not page.get("nextCursor"):
            break
        params = {"cursor": page["nextCursor"]}
    all_s.append(time.perf_counter() - began_at_s)
    agent.close()
    if len(found) != sessions or len(set(found)) != sessions:
        raise RuntimeError(f"{len(set(found))} of {sessions} sessions were listed")
    return pages


def main(runs: int, items: int, sessions: int) -> None:
    prepare()
    loads, lists = Loads(), Lists()
    for _ in range(runs):
        loads.measure(items)
        lists.measure(sessions)
    print(f"{runs} runs; median (min … max); order and completeness were checked each time")
    report_row(f"load of {items:,} items, wall, ms", loads.bare_s, loads.wall_s, 1e3)
    print(f"{'  CPU, ms':40} {spread(loads.cpu_s, 1e3)}")
    print(f"{'  longest wait of another session, ms':40} {spread(loads.beside_s, 1e3)}")
    print(f"{'  sent, MB':40} {loads.sent_bytes / 1e6:8.1f}")
    print(f"{'  memory retained, MiB':40} {spread(loads.growth_mib)}")
    print(f"{'  peak memory, MiB':40} {spread(loads.peak_mib)}")
    print(f"{f'first page of {sessions:,}, index lost, ms':40} {spread(lists.first_s, 1e3)}")
    print(f"{'  all pages, ms':40} {spread(lists.all_s, 1e3)}")
    print(f"{'first page, index present, ms':40} {spread(lists.later_s, 1e3)}")
    print(f"{'  one more page, ms':40} {spread(lists.page_s, 1e3)}")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    defaults = (5, ITEMS, SESSIONS)
    main(*(*numbers, *defaults[len(numbers) :]))
