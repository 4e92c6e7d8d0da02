"""Compare an editor's process on its own with one that hands over to a resident process: start-up and memory.

Run: python -m bench.handover [RUNS]
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.agents import OURS, Agent, model_server, prepare, spread, surroundings

IDLE_S = 60.0
TICKS_A_SECOND = 100


class Figures:
    """The measurements of one kind of run."""

    def __init__(self) -> None:
        self.wall_s: list[float] = []
        self.cpu_s: list[float] = []
        self.new_s: list[float] = []
        self.memory_mib: list[float] = []

    def measure(self, env: dict[str, str], cwd: str) -> None:
        agent = Agent(OURS, env)
        agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        self.wall_s.append(time.perf_counter() - agent.started_at_s)
        self.cpu_s.append(agent.exact_cpu_s())
        asked_at_s = time.perf_counter()
        agent.call("session/new", {"cwd": cwd, "mcpServers": []})
        self.new_s.append(time.perf_counter() - asked_at_s)
        self.memory_mib.append(agent.memory_mib())
        agent.close()


def cpu_s(pid: int) -> float:
    """Return the CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


def main(runs: int) -> None:
    prepare()
    alone, handed = Figures(), Figures()
    with (
        model_server({"default": [{"text": "Hello there."}], "pick": "cycle"}) as base_url,
        surroundings(OPENAI_BASE_URL=base_url, OPENAI_API_KEY="sk-bench", HERMES_MODEL="m") as (env, cwd),
        surroundings(OPENAI_BASE_URL=base_url, OPENAI_API_KEY="sk-bench", HERMES_MODEL="m") as (other, _),
    ):
        command = [*OURS, "daemon", "run"]
        with subprocess.Popen(command, env=env, cwd=cwd, stderr=subprocess.PIPE) as resident:
            assert resident.stderr
            resident.stderr.readline()
            for number in range(runs + 1):
                alone.measure(other, cwd)
                handed.measure(env, cwd)
                if number == 0:
                    alone, handed = Figures(), Figures()
            before_s = cpu_s(resident.pid)
            time.sleep(IDLE_S)
            idle_share = (cpu_s(resident.pid) - before_s) / IDLE_S
            resident.terminate()
    rows = (
        ("wall, start → initialize, ms", alone.wall_s, handed.wall_s, 1e3),
        ("CPU of that process, ms", alone.cpu_s, handed.cpu_s, 1e3),
        ("first session/new, ms", alone.new_s, handed.new_s, 1e3),
        ("memory of that process, MiB", alone.memory_mib, handed.memory_mib, 1),
    )
    print(f"{runs} runs each, alternating; median (min … max)")
    for name, a, b, scale in rows:
        ratio = statistics.median(b) / statistics.median(a)
        print(f"{name:30} alone {spread(a, scale):28} handed over {spread(b, scale):28} ratio {ratio:5.2f}")
    print(f"the resident process without clients: {idle_share:.2%} of a core over {IDLE_S:.0f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
