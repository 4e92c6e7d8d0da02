"""Measure start-up, session/new and the first word, compared with a minimal standard-library agent in the same run.

Run: python -m bench.startup [RUNS]
"""

import statistics
import sys
import time

from bench.agents import FLOOR, OURS, Agent, model_server, prepare, spread, surroundings


class Figures:
    """The measurements of one agent's runs."""

    def __init__(self) -> None:
        self.cpu_s: list[float] = []
        self.wall_s: list[float] = []
        self.memory_mib: list[float] = []
        self.new_s: list[float] = []
        self.word_s: list[float] = []
        self.later_mib: list[float] = []

    def measure(self, command: tuple[str, ...], base_url: str) -> None:
        with surroundings(OPENAI_BASE_URL=base_url, OPENAI_API_KEY="sk-bench", HERMES_MODEL="m") as (
            env,
            cwd,
        ):
            agent = Agent(command, env)
            agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            self.cpu_s.append(agent.exact_cpu_s())
            self.wall_s.append(time.perf_counter() - agent.started_at_s)
            self.memory_mib.append(agent.memory_mib())
            asked_at_s = time.perf_counter()
            session_id = agent.call("session/new", {"cwd": cwd, "mcpServers": []})["sessionId"]
            self.new_s.append(time.perf_counter() - asked_at_s)
            agent.prompt(session_id, "hello")
            self.word_s.append(agent.first_word_at_s() - agent.started_at_s)
            self.later_mib.append(agent.memory_mib())
            agent.close()


def main(runs: int) -> None:
    prepare()
    floor, ours = Figures(), Figures()
    with model_server({"default": [{"text": "Hello there."}], "pick": "cycle"}) as base_url:
        for number in range(runs + 1):
            floor.measure(FLOOR, base_url)
            ours.measure(OURS, base_url)
            if number == 0:
                floor, ours = Figures(), Figures()
    rows = (
        ("CPU, start → initialize, ms", floor.cpu_s, ours.cpu_s, 1e3),
        ("wall, start → initialize, ms", floor.wall_s, ours.wall_s, 1e3),
        ("memory at initialize, MiB", floor.memory_mib, ours.memory_mib, 1),
        ("first session/new, ms", floor.new_s, ours.new_s, 1e3),
        ("start → first word, ms", floor.word_s, ours.word_s, 1e3),
        ("memory after the first turn, MiB", floor.later_mib, ours.later_mib, 1),
    )
    print(f"{runs} runs each, alternating; median (min … max)")
    for name, a, b, scale in rows:
        ratio = statistics.median(b) / statistics.median(a)
        print(f"{name:34} floor {spread(a, scale):28} ours {spread(b, scale):28} ours/floor {ratio:5.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
