"""Measure 5,000 deltas from a model server through the whole agent, compared with the minimal agent in the same run.

Run: python -m bench.stream [RUNS] [DELTAS]
"""

import statistics
import sys
import time

from bench.agents import FLOOR, OURS, Agent, model_server, prepare, spread, surroundings


class Figures:
    """The measurements of one agent's streams, in a warm process."""

    def __init__(self) -> None:
        self.wall_s: list[float] = []
        self.cpu_s: list[float] = []
        self.word_s: list[float] = []
        self.warm_s: list[float] = []
        self.updates: list[float] = []
        self.memory_mib: list[float] = []

    def measure(self, agent: Agent, session_id: str, expected: str) -> None:
        cpu_s, asked_at_s = agent.exact_cpu_s(), time.perf_counter()
        text = agent.prompt(session_id, "stream")
        self.wall_s.append(time.perf_counter() - asked_at_s)
        self.cpu_s.append(agent.exact_cpu_s() - cpu_s)
        self.word_s.append(agent.first_word_at_s() - asked_at_s)
        self.updates.append(len(agent.updates))
        self.memory_mib.append(agent.memory_mib())
        if text != expected:
            raise RuntimeError(f"the text arrived altered: {len(text)} of {len(expected)} characters")
        asked_at_s = time.perf_counter()
        agent.prompt(session_id, "hello")
        self.warm_s.append(time.perf_counter() - asked_at_s)


def main(runs: int, deltas: int) -> None:
    prepare()
    words = [f"word{number} " for number in range(deltas)]
    rules = [{"when": "stream", "replies": [{"text": words}], "pick": "cycle"}]
    script = {"rules": rules, "default": [{"text": "Hello."}], "pick": "cycle"}
    floor, ours = Figures(), Figures()
    with model_server(script) as base_url:
        for _ in range(runs):
            for figures, command in ((floor, FLOOR), (ours, OURS)):
                variables = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-bench", "HERMES_MODEL": "m"}
                with surroundings(**variables) as (environment, cwd):
                    agent = Agent(command, environment)
                    session_id = agent.open_session(cwd)
                    agent.prompt(session_id, "hello")
                    figures.measure(agent, session_id, "".join(words))
                    agent.close()
    rows = (
        (f"{deltas:,} deltas, wall, ms", floor.wall_s, ours.wall_s, 1e3),
        (f"{deltas:,} deltas, CPU, ms", floor.cpu_s, ours.cpu_s, 1e3),
        ("first word, ms", floor.word_s, ours.word_s, 1e3),
        ("updates sent", floor.updates, ours.updates, 1),
        ("memory afterwards, MiB", floor.memory_mib, ours.memory_mib, 1),
        ("warm prompt → stop, ms", floor.warm_s, ours.warm_s, 1e3),
    )
    print(f"{runs} runs each, alternating; median (min … max); the whole text was verified each time")
    for name, a, b, scale in rows:
        ratio = statistics.median(b) / statistics.median(a)
        print(f"{name:26} floor {spread(a, scale):30} ours {spread(b, scale):30} ours/floor {ratio:5.2f}")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 8, numbers[1] if len(numbers) > 1 else 5000)
