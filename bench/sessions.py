"""Measure concurrent streams in one process: ten of 2.0 s each, and a hundred, compared with a single one.

Run: python -m bench.sessions [RUNS] [MANY]
The floor is one session of the minimal agent with the same reply. Every session gets a different text, which is
verified, so that misdirected or reordered words are detected.
"""

import statistics
import sys
import time
from collections import defaultdict

from bench.agents import FLOOR, OURS, Agent, model_server, prepare, spread, surroundings

REPLY_S = 2.0
FEW, FEW_DELTAS = 10, 40
MANY, MANY_DELTAS = 100, 100
GOAL_WALL_S, GOAL_MIB = 2.15, 90


class Figures:
    """The measurements of several concurrent sessions of one process."""

    def __init__(self) -> None:
        self.wall_s: list[float] = []
        self.cpu_s: list[float] = []
        self.peak_mib: list[float] = []
        self.first_word_s: list[float] = []

    def measure(self, command: tuple[str, ...], base_url: str, replies: dict[str, str]) -> None:
        """Open a session for each reply, let all of them stream at once, and verify what arrived."""
        variables = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-bench", "HERMES_MODEL": "m"}
        with surroundings(**variables) as (environment, cwd):
            agent = Agent(command, environment)
            agent.open_session(cwd)
            new: dict[str, object] = {"cwd": cwd, "mcpServers": []}
            expected = {agent.call("session/new", new)["sessionId"]: prompt for prompt in replies}
            agent.prompt(next(iter(expected)), "hello")
            cpu_s, asked_at_s = agent.exact_cpu_s(), time.perf_counter()
            waiting = {agent.begin_prompt(session_id, prompt) for session_id, prompt in expected.items()}
            said: defaultdict[str, str] = defaultdict(str)
            first_words: dict[str, float] = {}
            while waiting:
                message = agent.read()
                if "method" not in message:
                    if message["result"]["stopReason"] != "end_turn":
                        raise RuntimeError(f"a turn failed: {message}")
                    waiting.discard(message["id"])
                elif message["params"]["update"]["sessionUpdate"] == "agent_message_chunk":
                    session_id = message["params"]["sessionId"]
                    first_words.setdefault(session_id, time.perf_counter() - asked_at_s)
                    said[session_id] += message["params"]["update"]["content"]["text"]
            self.wall_s.append(time.perf_counter() - asked_at_s)
            self.cpu_s.append(agent.exact_cpu_s() - cpu_s)
            self.peak_mib.append(agent.peak_mib())
            self.first_word_s.append(statistics.median(first_words.values()))
            if said != {session_id: replies[prompt] for session_id, prompt in expected.items()}:
                raise RuntimeError("the text of a session arrived altered")
            agent.close()


def _script(count: int, deltas: int) -> tuple[dict[str, object], dict[str, str]]:
    """Return a script with one reply of `REPLY_S` seconds per session, and the texts by prompt."""
    words = {f"speak {n}.": [f"s{n}w{d} " for d in range(deltas)] for n in range(count)}
    rules = [
        {"when": prompt, "replies": [{"text": text, "delay_s": REPLY_S / deltas}], "pick": "cycle"}
        for prompt, text in words.items()
    ]
    script: dict[str, object] = {"rules": rules, "default": [{"text": "Hello."}], "pick": "cycle"}
    return script, {prompt: "".join(text) for prompt, text in words.items()}


def _compare(runs: int, count: int, deltas: int) -> tuple[Figures, Figures, Figures]:
    floor, one, all_of_them = Figures(), Figures(), Figures()
    script, replies = _script(count, deltas)
    single = dict([next(iter(replies.items()))])
    with model_server(script) as base_url:
        for _ in range(runs):
            floor.measure(FLOOR, base_url, single)
            one.measure(OURS, base_url, single)
            all_of_them.measure(OURS, base_url, replies)
    return floor, one, all_of_them


def main(runs: int, many: int) -> None:
    prepare()
    print(f"{runs} runs; median (min … max); replies of {REPLY_S} s; every text was verified")
    for count, deltas in ((FEW, FEW_DELTAS), (many, MANY_DELTAS)):
        floor, one, all_of_them = _compare(runs, count, deltas)
        goal = f"  (goal ≤ {GOAL_WALL_S} s, ≤ {GOAL_MIB} MiB)" if count == FEW else ""
        print(f"\n{count} sessions at once, {deltas} deltas each{goal}")
        for name, figures in (
            ("floor, 1 session", floor),
            ("ours, 1 session", one),
            (f"ours, {count} sessions", all_of_them),
        ):
            ratio = statistics.median(figures.wall_s) / statistics.median(floor.wall_s)
            print(
                f"{name:20} wall s {spread(figures.wall_s, 1, 3):26} CPU s {spread(figures.cpu_s, 1, 3):22} "
                f"first word ms {spread(figures.first_word_s, 1e3):24} peak MiB {spread(figures.peak_mib):24} "
                f"wall/floor {ratio:5.2f}"
            )


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 3, numbers[1] if len(numbers) > 1 else MANY)
