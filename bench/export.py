"""Measure exporting and importing a thousand sessions, and check that Harbor accepts each of them.

Run: python -m bench.export [SESSIONS]
The sessions come from the tests. They contain all types of events, one child agent each, and as much command output as
a typical working session. The goal is 1,000 sessions in 10 s, all valid.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from hermes_acp.core.events import CallEnded, CallProposed, Event, StepEnded, TextSaid, UserSaid
from hermes_acp.core.messages import TextPart, ToolCall
from hermes_acp.storage.record_writer import write_record
from hermes_acp.storage.tool_schema_store import ToolSchemaStore
from tests.unit.trajectories.rich_session import CHILD, ID, TOOLS, child_conversation, conversation, opening
from tests.unit.trajectories.test_atif import HARBOR, VALIDATE

GOAL_S: Final = 10.0
STEPS: Final = 20
OUTPUT: Final = "".join(
    f"2026-01-02 03:04:{number % 60:02} GET /api/v1/items/{number} 200\n" for number in range(40)
)


def work(steps: int) -> list[Event]:
    """Return the events of a turn with tool calls and their outputs, of about 3 kB each."""
    events: list[Event] = [UserSaid("u", (TextPart("Find out why the requests are slow."),))]
    for number in range(steps):
        name, call = f"msg_{number:016x}", f"call_{number:016x}"
        arguments = f'{{"command": "tail -n 40 logs/{number}.log"}}'
        events += [
            TextSaid(name, f"I look at file {number}. "),
            StepEnded(name, (ToolCall(call, "terminal", arguments),), model="model-x"),
            CallProposed(
                call, "terminal", f"tail {number}", "execute", {"command": f"tail -n 40 logs/{number}.log"}
            ),
            CallEnded(call, "terminal", "completed", f"{number}\n{OUTPUT}", exit_code=0),
        ]
    return events


def prepare(home: Path, sessions: int) -> int:
    """Write the sessions; return the total size of their records in bytes."""
    ToolSchemaStore(home).keep(TOOLS)
    written = 0
    for number in range(sessions):
        session_id = f"ses_{number:016x}"
        child_id = CHILD.replace(ID, session_id)
        path = home / "sessions" / f"{session_id}.jsonl"
        events = [*opening(session_id), *conversation()[len(opening()) :], *work(STEPS)]
        write_record(path, [(event, 1_700_000_000_000 + place) for place, event in enumerate(events)])
        child = path.with_suffix("") / f"{child_id}.jsonl"
        below = [*opening(child_id, session_id), *child_conversation()[len(opening()) :]]
        write_record(child, [(event, 1_700_000_000_000 + place) for place, event in enumerate(below)])
        written += path.stat().st_size + child.stat().st_size
    return written


class Took(NamedTuple):
    """The wall time and CPU time of a command; a busy machine increases only the wall time."""

    whole_s: float
    cpu_s: float

    def __str__(self) -> str:
        return f"{self.whole_s:7.2f} s, of which {self.cpu_s:6.2f} s CPU"


def timed(home: Path, *command: str) -> Took:
    """Run a hermes-acp command; return how long it took."""
    begun, before = time.perf_counter(), os.times()
    environment = {**os.environ, "HERMES_HOME": str(home)}
    subprocess.run(
        [sys.executable, "-m", "hermes_acp", *command], env=environment, check=True, capture_output=True
    )
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Took(time.perf_counter() - begun, used)


def count_valid(file: Path) -> str:
    """Return how many trajectories Harbor's own models accept, or a note that Harbor is not installed."""
    if not HARBOR.is_dir():
        return "not checked: run tests/install.sh to install Harbor"
    with file.open("rb") as lines:
        checked = subprocess.run(
            [sys.executable, "-c", VALIDATE],
            stdin=lines,
            env={**os.environ, "PYTHONPATH": str(HARBOR)},
            capture_output=True,
            check=False,
        )
    return f"{checked.stdout.count(b'valid'):,}"


def main() -> int:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory() as folder:
        home, other = Path(folder, "home"), Path(folder, "other")
        written = prepare(home, sessions)
        print(f"{sessions:,} sessions, {written / 1e6:,.1f} MB of records")
        files = {form: Path(folder, f"{form}.jsonl") for form in ("atif", "messages", "sharegpt", "dpo")}
        took = {
            form: timed(home, "sessions", "export", "--all", "--format", form, "--out", str(file), "--yes")
            for form, file in files.items()
        }
        for form, spent in took.items():
            print(f"{form:9} {spent}, {files[form].stat().st_size / 1e6:8,.1f} MB")
        print(f"import    {timed(other, 'sessions', 'import', str(files['atif']))}")
        again = Path(folder, "again.jsonl")
        timed(other, "sessions", "export", "--all", "--format", "atif", "--out", str(again), "--yes")
        is_same = again.read_bytes() == files["atif"].read_bytes()
        valid = count_valid(files["atif"])
        print(f"exported again: {'the same bytes' if is_same else 'OTHER BYTES'}; valid for Harbor: {valid}")
        return 0 if took["atif"].cpu_s <= GOAL_S and is_same and valid == f"{sessions:,}" else 1


if __name__ == "__main__":
    raise SystemExit(main())
