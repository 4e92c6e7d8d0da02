"""Kill a client with SIGKILL at random moments of its turn; check that the turn and the other clients are unaffected.

Run: python -m bench.client_kills [KILLS [SEED]]
One resident process serves all rounds. In each round, a client opens a session, another one attaches to it, and the
first one starts a turn with three commands and is killed at a random moment, possibly while it is starting the turn or
being asked. In every second round, the commands need approval, which the other client gives. The turn must run each
command exactly once and complete. The other client, and a third one that loads the session afterwards, must each be
shown the whole answer exactly once.
"""

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from bench.agents import OURS, Agent, prepare, surroundings
from bench.resident_crash import has_begun, has_ended, start, wait
from tests.model_server import Recorded, Reply, Script, ToolCall, serve

MAX_KILL_S = 1.5
WAIT_S = 60.0
UNREAD_S = 5.0
"""If the turn has not started by then, its client was killed before the resident process could read the prompt."""
LOOK_S = 0.02
PROGRESS = 25
NAMES = "abc"
WORDS = ("I ", "go ", "on. ")
ANSWER = "".join(WORDS) * len(NAMES) + "Done."
SETTINGS = "allow_bypass: true\ncheckpoints: {enabled: false}\n"


def choose(request: Recorded) -> Reply:
    """Answer with one command per step, then end the turn."""
    known = sum(message["role"] == "tool" for message in request.body["messages"])
    if known == len(NAMES):
        return Reply("Done.")
    (file,) = {*re.findall(r"log-\d+", str(request.body["messages"]))}
    call = ToolCall("terminal", {"command": f"sleep 0.1; echo line{NAMES[known]} >> {file}"})
    return Reply(WORDS, delay_s=0.02, tool_calls=(call,))


def text_of(client: Agent) -> str:
    """Return the agent's text that a client was shown."""
    chunks = (update for _, update in client.updates if update["sessionUpdate"] == "agent_message_chunk")
    return "".join(chunk["content"]["text"] for chunk in chunks)


class Rounds:
    """Rounds with one kill each, in one home folder and one resident process."""

    def __init__(self, kills: int, seed: int) -> None:
        self.faults: list[str] = []
        self.counts = Counter[str]()
        self._kills = kills
        self._rng = random.Random(seed)

    async def run(self) -> None:
        """Serve the model and do all rounds."""
        with ExitStack() as stack:
            async with serve(Script(choose=choose)) as model:
                self._env, self._cwd = stack.enter_context(
                    surroundings(
                        OPENAI_BASE_URL=model.openai_base_url, OPENAI_API_KEY="sk-bench", HERMES_MODEL="m"
                    )
                )
                home = Path(self._env["HERMES_HOME"])
                home.mkdir(mode=0o700)
                (home / "config.yaml").write_text(SETTINGS)
                self._sessions = home / "sessions"
                await run_sync(self._all_rounds)

    def _all_rounds(self) -> None:
        resident = start(self._env, self._cwd)
        try:
            for number in range(self._kills):
                self._round(number)
                if (number + 1) % PROGRESS == 0:
                    print(
                        f"{number + 1} kills: {dict(sorted(self.counts.items()))} {self.faults}", flush=True
                    )
            if resident.poll() is not None:
                self.faults.append("the resident process has ended")
        finally:
            resident.terminate()
            wait(resident)

    def _round(self, number: int) -> None:
        """Start a turn, kill its client, and check what the others see."""
        killed, other = Agent(OURS, self._env), Agent(OURS, self._env)
        session_id = killed.open_session(self._cwd)
        kind = "asked" if number % 2 else "unasked"
        if kind == "unasked":
            killed.call("session/set_mode", {"sessionId": session_id, "modeId": "bypass"})
        self._attach(other, session_id)
        killed.begin_prompt(session_id, f"Write to log-{number}.")
        time.sleep(self._rng.uniform(0.0, MAX_KILL_S))
        killed.process.kill()
        wait(killed.process)
        record = self._sessions / f"{session_id}.jsonl"
        killed_at = time.monotonic()
        while (waited_s := time.monotonic() - killed_at) < WAIT_S:
            if (has_begun(record) and has_ended(record)) or (not has_begun(record) and waited_s > UNREAD_S):
                break
            other.call("session/list", {})  # reads, and answers questions
            time.sleep(LOOK_S)
        other.call("session/list", {})
        self._check(number, kind, record, other, session_id)
        other.close()

    def _attach(self, client: Agent, session_id: str) -> None:
        client.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        client.call("session/load", {"sessionId": session_id, "cwd": self._cwd, "mcpServers": []})

    def _check(self, number: int, kind: str, record: Path, other: Agent, session_id: str) -> None:
        """Compare the commands that ran, and what the two remaining clients were shown, with the whole turn."""
        later = Agent(OURS, self._env)
        self._attach(later, session_id)
        file = Path(self._cwd, f"log-{number}")
        lines = file.read_text().split() if file.exists() else []
        begun = has_begun(record)
        self.counts[f"{kind}, {'begun' if begun else 'not started'}"] += 1
        expected = [f"line{name}" for name in NAMES] if begun else []
        answer = ANSWER if begun else ""
        found = {
            "commands": (lines, expected),
            "other client": (text_of(other), answer),
            "later client": (text_of(later), answer),
        }
        if begun and not has_ended(record):
            self.faults.append(f"kill {number}, {kind}: the turn did not end")
        self.faults += [
            f"kill {number}, {kind}, {name}: {seen!r} instead of {wanted!r}"
            for name, (seen, wanted) in found.items()
            if seen != wanted
        ]
        later.close()


def main(arguments: Sequence[str]) -> None:
    """Run the rounds and print the findings."""
    kills, seed = (*map(int, arguments), *(200, 1)[len(arguments) :])
    prepare()
    rounds = Rounds(kills, seed)
    anyio.run(rounds.run)
    print(f"{kills} kills, seed {seed}: {dict(sorted(rounds.counts.items()))}")
    print("\n".join(rounds.faults) or "No turn was affected, and everything was shown exactly once.")
    sys.exit(bool(rounds.faults))


if __name__ == "__main__":
    main(sys.argv[1:])
