"""Measure warm turns with an instant model, text-only and with a file read, compared with a minimal agent.

Run: python -m bench.turns [RUNS] [TURNS]
"""

import sys
import time
from pathlib import Path

from bench.agents import OURS, ROOT, Agent, prepare, report_row, scripted_surroundings

FLOOR = (sys.executable, str(ROOT / "bench" / "tool_floor_agent.py"))
WARM_TURNS = 3
SCRIPT = {
    "rules": [
        {
            "when": "read it",
            "pick": "step",
            "replies": [
                {"tool_calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]},
                {"text": "It has a line."},
            ],
        }
    ],
    "default": [{"text": "Hello there."}],
    "pick": "cycle",
}
GOAL_WORDS_MS, GOAL_TOOL_MS = 8, 20


class Figures:
    """The measurements of one agent's turns, in warm processes."""

    def __init__(self) -> None:
        self.words_s: list[float] = []
        self.tool_s: list[float] = []

    def measure(self, command: tuple[str, ...], place: tuple[dict[str, str], str], turns: int) -> None:
        environment, cwd = place
        agent = Agent(command, environment)
        session_id = agent.open_session(cwd)
        for number in range(-WARM_TURNS, turns):
            words_s = _time_turn(agent, session_id, "hello", "Hello there.")
            tool_s = _time_turn(agent, session_id, "read it", "It has a line.")
            outputs = [u["rawOutput"]["text"] for _, u in agent.updates if "rawOutput" in u]
            if len(outputs) != 1 or "a line of its own" not in outputs[0]:
                raise RuntimeError(f"the file was not read: {outputs}")
            if number >= 0:
                self.words_s.append(words_s)
                self.tool_s.append(tool_s)
        agent.close()


def _time_turn(agent: Agent, session_id: str, prompt: str, expected: str) -> float:
    asked_at_s = time.perf_counter()
    text = agent.prompt(session_id, prompt)
    took_s = time.perf_counter() - asked_at_s
    if text != expected:
        raise RuntimeError(f"the answer arrived altered: {text!r}")
    return took_s


def main(runs: int, turns: int) -> None:
    prepare()
    floor, ours = Figures(), Figures()
    for _ in range(runs):
        for figures, command in ((floor, FLOOR), (ours, OURS)):
            with scripted_surroundings(SCRIPT) as place:
                (Path(place[1]) / "notes.txt").write_text("a line of its own\n")
                figures.measure(command, place, turns)
    print(f"{runs} runs of {turns} turns each, alternating; median (min … max)")
    report_row(f"warm prompt → stop, ms (≤ {GOAL_WORDS_MS})", floor.words_s, ours.words_s, 1e3)
    report_row(f"one-tool turn, ms (≤ {GOAL_TOOL_MS})", floor.tool_s, ours.tool_s, 1e3)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 5, numbers[1] if len(numbers) > 1 else 20)
