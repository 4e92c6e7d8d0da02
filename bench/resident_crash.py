"""Kill -9 of the resident process at random moments of turns: does each turn go on, and is nothing done twice?

Run: python -m bench.resident_crash [KILLS [SEED]]
One editor's process at a time begins a turn that appends three numbered lines to a file, one with each command. The
resident process is killed at a random moment and started again, without any client. It must continue the turn to its
end by itself. A command that may have run before the kill is in doubt: the model is told so, and does not repeat it
here.
"""

import random
import re
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from anyio.from_thread import start_blocking_portal

from bench.agents import OURS, Agent, prepare, surroundings
from hermes_acp.core.events import TurnEnded
from hermes_acp.storage.transcript import Transcript
from tests.model_server import Recorded, Reply, Script, ToolCall, serve

LONGEST_TURN_S = 1.2
WAIT_S = 60.0
NAMES = "abc"
SETTINGS = "mode: bypass\nallow_bypass: true\ncheckpoints: {enabled: false}\n"


def choose(request: Recorded) -> Reply:
    """Answer as a model does that never repeats a command: three commands, one a step, then the end."""
    known = sum(message["role"] == "tool" for message in request.body["messages"])
    if known == len(NAMES):
        return Reply("Done.")
    command = f"sleep 0.1; echo line{NAMES[known]} >> log; sleep 0.1"
    call = ToolCall("terminal", {"command": command})
    return Reply(("I ", "go ", "on. "), delay_s=0.02, tool_calls=(call,))


def start(env: dict[str, str], cwd: str) -> subprocess.Popen[bytes]:
    """Start a resident process and wait until it listens."""
    process = subprocess.Popen([*OURS, "daemon", "run"], env=env, cwd=cwd, stderr=subprocess.PIPE)
    assert process.stderr
    while b"is resident" not in (line := process.stderr.readline()):
        if not line:
            raise RuntimeError("the resident process did not start")
    return process


def ends(record: Path) -> list[TurnEnded]:
    """Return how the turns of a record ended."""
    return [event for event in Transcript.read_events(record) if isinstance(event, TurnEnded)]


def main(kills: int, seed: int) -> None:
    prepare()
    rng, fates, faults = random.Random(seed), Counter[str](), list[str]()
    with start_blocking_portal() as portal, ExitStack() as stack:
        model = stack.enter_context(portal.wrap_async_context_manager(serve(Script(choose=choose))))
        variables = {
            "OPENAI_BASE_URL": model.openai_base_url,
            "OPENAI_API_KEY": "sk-bench",
            "HERMES_MODEL": "m",
        }
        env, cwd = stack.enter_context(surroundings(**variables))
        home = Path(env["HERMES_HOME"])
        home.mkdir(mode=0o700)
        (home / "config.yaml").write_text(SETTINGS)
        resident = start(env, cwd)
        for number in range(kills):
            log = Path(cwd) / "log"
            log.unlink(missing_ok=True)
            agent = Agent(OURS, env)
            session_id = agent.open_session(cwd)
            agent.begin_prompt(session_id, f"Turn {number}")
            time.sleep(rng.uniform(0.0, LONGEST_TURN_S))
            resident.kill()
            resident.wait()
            agent.process.wait(10)
            resident = start(env, cwd)
            record = home / "sessions" / f"{session_id}.jsonl"
            deadline = time.monotonic() + WAIT_S
            while "turn_started" in record.read_text() and (
                not (done := ends(record)) or done[-1].reason != "done"
            ):
                if time.monotonic() > deadline:
                    faults.append(f"kill {number}: the turn of {session_id} did not go on")
                    break
                time.sleep(0.05)
            lines = Counter(re.findall(r"\w+", log.read_text())) if log.exists() else Counter[str]()
            fates[f"{len(lines)} commands ran"] += 1
            faults += [
                f"kill {number}: {line} was done {count} times" for line, count in lines.items() if count > 1
            ]
        resident.terminate()
        resident.wait()
    print(f"{kills} kills, seed {seed}: {dict(fates)}")
    print("\n".join(faults) or "No turn was lost, and nothing was done twice.")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
