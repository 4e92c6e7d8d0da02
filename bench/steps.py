"""Measure the CPU time of one model step in sessions with increasingly long histories.

Run: python -m bench.steps [MEGABYTES ...]
The floor is the unavoidable work: sending the request body, read from a file, to the same server.
"""

import http.client
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from bench.agents import OURS, Agent, prepare, scripted_surroundings
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
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

SIZES_MB = (0.02, 1.0, 5.0, 20.0)
STEPS = 20
WARM_STEPS = 3
WRITTEN = "def area(width: float, height: float) -> float:\n    return width * height\n\n\n" * 20
SETTINGS = "models: {m: {window_tokens: 100000000}}\n"
GOAL_MS, GOAL_MS_PER_MB = 5, 3


def _script() -> dict[str, object]:
    calls = [{"name": "read_file", "arguments": {"path": f"notes{number}.txt"}} for number in range(STEPS)]
    replies = [{"tool_calls": [call]} for call in calls]
    warm = [{"tool_calls": [{"name": "read_file", "arguments": {"path": "warm.txt"}}]}, {"text": "Warm."}]
    return {
        "rules": [
            {"when": "work", "pick": "step", "replies": [*replies, {"text": "Done."}]},
            {"when": "warm", "pick": "step", "replies": warm},
        ]
    }


def _write_history(home: Path, cwd: str, size_mb: float) -> None:
    """Store a session whose calls and outputs have the given size in MB: half written files, half outputs."""
    transcript = Transcript.create(home / "sessions" / "long.jsonl")
    transcript.append(SessionOpened("long", cwd, (cwd,), 1_700_000_000.0))
    transcript.append(TitleChanged("A long session"))
    arguments = json.dumps({"path": "shapes.py", "content": WRITTEN})
    output = "PASSED tests/test_shapes.py::test_area “ok”\n" * (len(WRITTEN) // 45)
    turns = max(1, round(size_mb * 1e6 / (len(arguments) + len(output))))
    for number in range(turns):
        call_id, message_id = f"call_{number}", f"msg_{number}"
        for event in (
            TurnStarted(f"turn_{number}"),
            UserSaid(f"user_{number}", (TextPart(f"Question {number}."),)),
            TextSaid(message_id, f"I write it, time {number}."),
            StepEnded(message_id, (ToolCall(call_id, "write_file", arguments, vendor_id=f"v{number}"),)),
            CallProposed(call_id, "write_file", "Write shapes.py", "edit", {"path": "shapes.py"}),
            CallStarted(call_id),
            CallEnded(call_id, "write_file", "completed", output),
            TextSaid(f"{message_id}b", "Written."),
            StepEnded(f"{message_id}b"),
            TurnEnded(f"turn_{number}", "done"),
        ):
            transcript.append(event)
    transcript.close()


def measure(size_mb: float) -> tuple[float, float]:
    """Return our CPU time for a step and that of a bare send, in seconds."""
    with scripted_surroundings(_script()) as (environment, cwd):
        home = Path(environment["HERMES_HOME"])
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.yaml").write_text(SETTINGS)
        for name in ("warm", *(f"notes{number}" for number in range(STEPS))):
            Path(cwd, f"{name}.txt").write_text("a line of its own\n")
        _write_history(home, cwd, size_mb)
        agent = Agent(OURS, environment)
        agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        agent.call("session/load", {"sessionId": "long", "cwd": cwd, "mcpServers": []})
        agent.updates.clear()
        for _ in range(WARM_STEPS):
            agent.prompt("long", "warm")
        before_s = agent.exact_cpu_s()
        if (said := agent.prompt("long", "work")) != "Done.":
            raise RuntimeError(f"the answer was {said!r}")
        ours_s = (agent.exact_cpu_s() - before_s) / (STEPS + 1)
        agent.close()
        return ours_s, _send_bare(environment["OPENAI_BASE_URL"], size_mb)


def _send_bare(url: str, size_mb: float) -> float:
    """Return the CPU time for sending a finished body of the given size."""
    messages = [
        {"role": "user", "content": "warm"},
        {"role": "assistant", "content": "x" * int(size_mb * 1e6)},
    ]
    body = json.dumps({"model": "m", "stream": True, "messages": messages}).encode()
    base = urlsplit(url)
    before_s = time.process_time()
    for _ in range(STEPS):
        connection = http.client.HTTPConnection(base.hostname or "", base.port)
        connection.request(
            "POST", f"{base.path}/chat/completions", body, {"Content-Type": "application/json"}
        )
        connection.getresponse().read()
        connection.close()
    return (time.process_time() - before_s) / STEPS


def main(sizes_mb: tuple[float, ...]) -> None:
    prepare()
    print(f"CPU time per step, mean of {STEPS + 1}; goal {GOAL_MS} ms + {GOAL_MS_PER_MB} ms per MB")
    for size_mb in sizes_mb:
        ours_s, bare_s = measure(size_mb)
        goal_ms = GOAL_MS + GOAL_MS_PER_MB * size_mb
        ratio = ours_s * 1e3 / goal_ms
        print(
            f"{size_mb:6.2f} MB  ours {ours_s * 1e3:7.1f} ms  goal {goal_ms:6.1f} ms  ours/goal {ratio:5.2f}  "
            f"bare sending {bare_s * 1e3:6.2f} ms  ours/bare {ours_s / bare_s:6.1f}"
        )


if __name__ == "__main__":
    main(tuple(float(argument) for argument in sys.argv[1:]) or SIZES_MB)
