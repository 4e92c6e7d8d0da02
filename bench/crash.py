"""Kill the agent with SIGKILL at random moments of scripted turns; check that nothing is lost, torn or done twice.

Run: python -m bench.crash [KILLS [SEED]]
A round is one session in its own workspace: up to three turns, each killed at a random moment (sometimes while the
session is being loaded or the history before the turn is being summarised) and followed by a new process that loads the
session. Finally, `hermes-acp run --resume` resumes the last turn unless it was done, and a last prompt is answered. Two
rounds run at a time in one home folder.
"""

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench.agents import OURS, Agent, model_server, prepare
from bench.crash_checks import (
    TURNS,
    Faults,
    Screen,
    Work,
    can_go_on,
    content_of,
    database_faults,
    fate_of,
    raise_any,
    record_faults,
)

PARALLEL = 2
KILL_WHILE_LOADING = 0.15
MAX_WAIT_S = 30.0
CAPABILITIES: dict[str, object] = {"session": {"notices": {}}}
MODE_NOTE = "[Mode is now auto"
"""The last note for the model when a turn is resumed with `--mode auto`."""
TOLD: Mapping[str, str] = MappingProxyType({"done": "done", "none": "not done", "doubt": "in doubt"})
SMALL_WINDOW = "window_tokens: 30000\ncompaction: {at: 0.8, keep: 0.0}\n"
NEARLY_FULL = {"input_tokens": 26_000, "output_tokens": 20}
TALK = "Talk for a while."
"""The first prompt of some sessions; its answer fills the window, so that the next turn starts with a summary."""
FILLS_UP = 0.4
SUM_UP, SUMMARY = "Sum up the conversation above", ["The ", "turns ", "before ", "were ", "done. "]
LAST, ALL_WELL, RESUMED = "The last word?", "All is well.", "Taken up and done."


def turn_rule(turn: int) -> dict[str, Any]:
    """Script one turn: the model searches, writes a whole file, edits another, runs commands, and reports."""
    log = f"sleep 0.02; echo t{turn}%s >> log; sleep 0.02 # t{turn}%s"
    changed = {"path": "edited.txt", "old_text": f"turn {turn}: no", "new_text": f"turn {turn}: yes"}
    first = [
        {"name": "read_file", "arguments": {"path": "edited.txt"}},
        {"name": "write_file", "arguments": {"path": "whole.txt", "content": content_of(turn)}},
        {"name": "terminal", "arguments": {"command": log % ("a", "a")}},
    ]
    second = [
        {"name": "edit_file", "arguments": changed},
        {"name": "plan", "arguments": {"entries": [{"content": f"turn {turn}"}]}},
        {"name": "terminal", "arguments": {"command": log % ("b", "b")}},
    ]
    words = [f"w{number} " for number in range(12)]
    return {
        "when": _prompt(turn),
        "pick": "step",
        "replies": [
            {"thinking": "I look.", "text": ["First ", "I ", "look. "], "delay_s": 0.01, "tool_calls": first},
            {"text": words, "delay_s": 0.005, "tool_calls": second},
            {"text": ["Turn ", f"{turn} ", "is ", "done. "], "delay_s": 0.01},
        ],
    }


def _prompt(turn: int) -> str:
    return f"Do turn {turn}."


def script() -> dict[str, Any]:
    """Return the model's whole script."""
    write = {"name": "write_file", "arguments": {"path": "resumed.txt", "content": "resumed"}}
    rest = [
        {"when": SUM_UP, "pick": "cycle", "replies": [{"text": SUMMARY, "delay_s": 0.01}]},
        {"when": TALK, "pick": "step", "replies": [{"text": "Words. " * 4000, "usage": NEARLY_FULL}]},
        {"when": MODE_NOTE, "pick": "step", "replies": [{"tool_calls": [write]}, {"text": RESUMED}]},
        {"when": LAST, "pick": "step", "replies": [{"text": ALL_WELL}]},
    ]
    return {"rules": [*map(turn_rule, range(1, TURNS + 1)), *rest]}


class Round:
    """One session, killed again and again."""

    def __init__(
        self, environment: Mapping[str, str], folder: Path, dice: random.Random, turn_s: float
    ) -> None:
        self.kills = 0
        self.session_id = ""
        self.headless_took_up = False
        self.summaries = self.broken_summaries = 0
        self.fates: Counter[str] = Counter()
        self._environment = environment
        self._folder = folder
        self._dice = dice
        self._turn_s = turn_s
        self._work = Work(folder)
        self._screen = Screen()
        self._record = Path(environment["HERMES_HOME"]) / "sessions"

    def run(self, kills: int) -> None:
        """Kill the agent the given number of times, then check that the session continues."""
        self._begin()
        for turn in range(2, kills + 1):
            if self._dice.random() < KILL_WHILE_LOADING:
                self._load_and_die()
                continue
            with self._reopened() as agent:
                self._prompt_and_die(agent, turn)
        if self._dice.random() < 0.5:
            self._resume_headless()
        with self._reopened() as agent:
            self.fates = Counter(fate_of(card) for card in self._screen.cards.values())
            self._finish(agent)
        raise_any([*record_faults(self._path), *self._survivors()])
        record = self._path.read_bytes()
        self.summaries = record.count(b'"compaction_started"')
        self.broken_summaries = self.summaries - record.count(b'"history_compacted"')

    @property
    def _path(self) -> Path:
        return self._record / f"{self.session_id}.jsonl"

    def _begin(self) -> None:
        with _started(self._environment) as agent:
            self.session_id = _open(agent, self._folder)
            if self._dice.random() < FILLS_UP:
                self._talk(agent)
            self._prompt_and_die(agent, 1)

    def _talk(self, agent: Agent) -> None:
        self._screen.say(TALK)
        agent.prompt(self.session_id, TALK)
        for _, update in agent.updates:
            self._screen.take(update)
        agent.updates.clear()

    def _prompt_and_die(self, agent: Agent, turn: int) -> None:
        self._screen.say(_prompt(turn))
        call_id = agent.begin_prompt(self.session_id, _prompt(turn))
        self._die(agent, self._dice.uniform(0, self._turn_s * 1.1), call_id)
        for _, update in agent.updates:
            self._screen.take(update)

    def _load_and_die(self) -> None:
        """Kill an agent while it starts or loads the session, when it shows nothing new."""
        with _started(self._environment) as agent:
            agent.begin("initialize", {"protocolVersion": 1, "clientCapabilities": CAPABILITIES})
            agent.begin("session/load", self._named())
            self._die(agent, self._dice.uniform(0, 0.5), 0)

    def _die(self, agent: Agent, after_s: float, call_id: int) -> None:
        """Kill the agent after the given time and return its output so far, including any response."""
        agent.updates.clear()
        timer = threading.Timer(after_s, agent.process.kill)
        timer.start()
        try:
            agent.read_until(call_id)
            agent.read_until(-1)
        except (
            RuntimeError,
            ValueError,
            BrokenPipeError,
        ):  # end of file, a truncated line, or a question that no one reads
            pass
        timer.join()
        self.kills += 1
        agent.process.wait(MAX_WAIT_S)

    def _named(self) -> dict[str, object]:
        return {"sessionId": self.session_id, "cwd": str(self._folder), "mcpServers": []}

    @contextmanager
    def _reopened(self) -> Generator[Agent]:
        """Load the session in a new process and compare everything with what was seen before."""
        with _started(self._environment) as agent:
            agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": CAPABILITIES})
            agent.call("session/load", self._named())
            screen = Screen()
            for _, update in agent.updates:
                screen.take(update)
            raise_any([*self._screen.missing_in(screen), *self._work.faults(screen.cards)])
            self._screen = screen
            yield agent

    def _resume_headless(self) -> None:
        """Resume the turn without a prompt; a turn that was done must have nothing to resume."""
        expected = 0 if can_go_on(self._path) else 2
        command = (*OURS, "run", "--resume", self.session_id, "--mode", "auto", "--cwd", str(self._folder))
        done = subprocess.run(
            command,
            env=dict(self._environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MAX_WAIT_S,
            check=False,
        )
        if done.returncode != expected:
            raise Faults(
                f"--resume exited with {done.returncode} instead of {expected}: {done.stderr[-400:]}"
            )
        self.headless_took_up = expected == 0

    def _finish(self, agent: Agent) -> None:
        listed = agent.call("session/list", {"cwd": str(self._folder)})["sessions"]
        expected = [self.session_id] if b'"user_said"' in self._path.read_bytes() else []
        if [each["sessionId"] for each in listed] != expected:
            raise Faults(f"the listed sessions are {listed}")
        if (said := agent.prompt(self.session_id, LAST)) not in (ALL_WELL, RESUMED):
            raise Faults(f"the last prompt was answered with {said!r}")
        agent.close()

    def _survivors(self) -> list[str]:
        """Return the processes that still run in the workspace after a killed agent's commands have had time to end."""
        until_s = time.monotonic() + 20
        while (alive := _working_in(self._folder)) and time.monotonic() < until_s:
            time.sleep(0.05)
        return [f"process {pid} is still running in the workspace" for pid in alive]


def _working_in(folder: Path) -> list[int]:
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if os.readlink(place) == str(folder):
                found.append(int(place.parts[2]))
        except OSError:
            continue
    return found


@contextmanager
def _started(environment: Mapping[str, str]) -> Generator[Agent]:
    agent = Agent(OURS, environment)
    watchdog = threading.Timer(MAX_WAIT_S, agent.process.kill)
    watchdog.start()
    try:
        yield agent
    finally:
        watchdog.cancel()
        agent.process.kill()
        agent.process.wait()
        for stream in (agent.process.stdin, agent.process.stdout):
            if stream:
                _close_quietly(stream)


def _close_quietly(stream: Any) -> None:
    try:
        stream.close()
    except BrokenPipeError:
        return


def _open(agent: Agent, folder: Path) -> str:
    agent.call("initialize", {"protocolVersion": 1, "clientCapabilities": CAPABILITIES})
    return agent.call("session/new", {"cwd": str(folder), "mcpServers": []})["sessionId"]


class Bench:
    """All rounds, two at a time, until the given number of kills or the first fault."""

    def __init__(self, kills: int, seed: int) -> None:
        self.done = self.rounds = self.resumed = 0
        self.summaries = self.broken_summaries = 0
        self.fates: Counter[str] = Counter()
        self.faults: list[str] = []
        self._wanted = kills
        self._seed = seed
        self._lock = threading.Lock()
        self._planned = 0

    def run(self) -> None:
        """Run all rounds and collect faults in `faults`."""
        with tempfile.TemporaryDirectory() as place, model_server(script()) as url:
            home = Path(place).resolve()
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "HERMES_HOME": str(home / ".hermes"),
                "OPENAI_BASE_URL": url,
                "OPENAI_API_KEY": "sk-bench",
                "HERMES_MODEL": "m",
            }
            (home / ".hermes").mkdir()
            (home / ".hermes" / "config.yaml").write_text(SMALL_WINDOW)
            turn_s = _measure(environment, home / "measured")
            with ThreadPoolExecutor(PARALLEL) as workers:
                for worker in [
                    workers.submit(self._work, environment, home, turn_s) for _ in range(PARALLEL)
                ]:
                    worker.result()
            self.faults += database_faults(home / ".hermes")

    def _work(self, environment: Mapping[str, str], home: Path, turn_s: float) -> None:
        while planned := self._plan():
            number, kills = planned
            folder = home / f"round-{number}"
            folder.mkdir()
            one = Round(environment, folder, random.Random(f"{self._seed} {number}"), turn_s)
            try:
                one.run(kills)
            except (Faults, RuntimeError, OSError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                self.faults.append(f"round {number} ({one.session_id}): {type(error).__name__}: {error}")
            with self._lock:
                self.done += one.kills
                self.rounds += 1
                self.summaries += one.summaries
                self.broken_summaries += one.broken_summaries
                self.resumed += one.headless_took_up
                self.fates += one.fates

    def _plan(self) -> tuple[int, int] | None:
        with self._lock:
            left = self._wanted - self._planned
            if left <= 0:
                return None
            number, kills = self._planned, min(left, 1 + (self._planned % TURNS))
            self._planned += kills
            return number, kills


def _measure(environment: Mapping[str, str], folder: Path) -> float:
    """Run the first turn of a process undisturbed, twice, and return the duration of the second."""
    folder.mkdir()
    Work(folder)
    took_s = 0.0
    for turn in (1, 2):
        with _started(environment) as agent:
            session_id = _open(agent, folder)
            began_at_s = time.perf_counter()
            agent.prompt(session_id, _prompt(turn))
            took_s = time.perf_counter() - began_at_s
    return took_s


def main(kills: int, seed: int) -> int:
    prepare()
    began_at_s = time.perf_counter()
    bench = Bench(kills, seed)
    bench.run()
    took_s = time.perf_counter() - began_at_s
    print(f"{bench.done} kills in {bench.rounds} sessions in {took_s:.0f} s, seed {seed}; ", end="")
    print(f"{bench.resumed} turns were resumed by `run --resume`")
    print(
        f"{bench.summaries} histories were being summarised, {bench.broken_summaries} of them at the time of the kill"
    )
    print("calls by the outcome shown to the client: ", end="")
    print(", ".join(f"{TOLD[fate]} {count}" for fate, count in bench.fates.most_common()))
    for fault in bench.faults:
        print(f"FAULT {fault}")
    if not bench.faults:
        print(
            "nothing shown was lost, no file was half written, nothing was done twice, every session continued"
        )
    return 1 if bench.faults else 0


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(numbers + [500, random.randrange(1_000_000)][len(numbers) :])))
