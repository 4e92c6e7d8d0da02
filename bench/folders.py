"""Measure many open folders with skills in one process, compared with a single one, and the descriptor limit.

Run: python -m bench.folders [FOLDERS ...]
Each folder has its own skills and one session; the home folder has skills too. Once every session is open and has had
one turn, the sessions are prompted in rotation. Then the idle process is observed for a while.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bench.agents import OURS, Agent, model_server, prepare, surroundings

COUNTS = (1, 40, 500)
PROMPTS = 100
SETTLING_S = 5.0
IDLE_S = 10.0
PATIENCE_S = 300
SOFT_LIMIT, HARD_LIMIT = 64, 96
SCRIPT = {"rules": [], "default": [{"text": "Still here."}], "pick": "cycle"}


def main(counts: Sequence[int]) -> None:
    """Print one row for each number of folders, then the behaviour at the descriptor limit."""
    prepare()
    print(f"{PROMPTS} prompts over all sessions; {IDLE_S:.0f} s idle; p95 relative to the first row")
    first_p95 = 0.0
    with model_server(SCRIPT) as url:
        for count in counts:
            p50, p95, row = measure(url, count)
            first_p95 = first_p95 or p95
            print(
                f"{count:4} folders  prompt p50 {p50:6.1f} ms  p95 {p95:6.1f} ms (x{p95 / first_p95:4.2f})  {row}",
                flush=True,
            )
        print(_at_the_limit(url))


def _skill(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Do {name}.\n---\nDo it.\n")


def _begin(url: str, environment: dict[str, str]) -> Agent:
    named = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-bench", "HERMES_MODEL": "m"}
    home = Path(environment["HERMES_HOME"])
    for number in range(3):
        _skill(home / "skills", f"home-{number}")
    agent = Agent(OURS, environment | named)
    watchdog = threading.Timer(PATIENCE_S, agent.process.kill)  # a process that hangs gets its own row
    watchdog.daemon = True
    watchdog.start()
    agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    return agent


def measure(url: str, count: int) -> tuple[float, float, str]:
    with surroundings() as (environment, _), tempfile.TemporaryDirectory() as place:
        agent = _begin(url, environment)
        sessions: list[str] = []
        for number in range(count):
            folder = Path(place) / f"project-{number}"
            for which in range(2):
                _skill(folder / ".hermes" / "skills", f"skill-{number}-{which}")
            sessions.append(agent.call("session/new", {"cwd": str(folder), "mcpServers": []})["sessionId"])
        for session_id in sessions:
            agent.prompt(session_id, "Are you there?")
        time.sleep(SETTLING_S)
        took: list[float] = []
        for number in range(PROMPTS):
            begun = time.perf_counter()
            agent.prompt(sessions[number % count], "And now?")
            took.append((time.perf_counter() - begun) * 1e3)
        time.sleep(SETTLING_S)
        before, before_s = _switches(agent.process.pid), agent.exact_cpu_s()
        time.sleep(IDLE_S)
        wakeups = (_switches(agent.process.pid) - before) / IDLE_S
        cpu_ms = (agent.exact_cpu_s() - before_s) / IDLE_S * 1e3
        threads = len(os.listdir(f"/proc/{agent.process.pid}/task"))
        row = (
            f"threads {threads:3}  idle {wakeups:5.2f} wakeups/s, {cpu_ms:5.2f} ms CPU/s  "
            f"RSS {agent.memory_mib():6.1f} MiB"
        )
        begun = time.perf_counter()
        agent.close()
        return (
            statistics.median(took),
            statistics.quantiles(took, n=20)[-1],
            f"{row}  end {(time.perf_counter() - begun) * 1e3:.0f} ms",
        )


def _switches(pid: int) -> int:
    """Count the voluntary context switches of all threads of the process."""
    count = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = (task / "status").read_text().splitlines()
        count += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))
    return count


def _at_the_limit(url: str) -> str:
    """Open sessions until a low descriptor limit prevents more, then send a prompt to each."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with surroundings() as (environment, cwd):
        resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT_LIMIT, limits[1]))
        try:
            agent = _begin(url, environment)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        lowered = (str(HARD_LIMIT),) * 2
        command = ("prlimit", "--pid", str(agent.process.pid), f"--nofile={':'.join(lowered)}")
        subprocess.run(command, check=True)
        sessions: list[str] = []
        refused = ""
        for _ in range(2 * HARD_LIMIT):
            try:
                answer = agent.call("session/new", {"cwd": cwd, "mcpServers": []})
            except RuntimeError as error:
                refused = str(error)
                break
            sessions.append(answer["sessionId"])
        served = 0
        for session_id in sessions:
            with suppress(RuntimeError):
                served += agent.prompt(session_id, "Are you there?") == "Still here."
        agent.close()
    return (
        f"descriptor limit {HARD_LIMIT}: {len(sessions)} sessions opened, {served} of them then served; "
        f"the response to the next one was {json.dumps(refused)}"
    )


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or COUNTS)
