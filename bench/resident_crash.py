"""Kill the resident process with SIGKILL at random moments; check that no work is lost or done twice.

Run: python -m bench.resident_crash [KILLS [SEED]]
Before each kill, an editor starts a turn, two runs are started (one asks about each of its commands), and a one-off
schedule is about to be due. Each of them appends three numbered lines to a separate file, one per command, and each run
that ends or asks is reported to a web hook. The process is killed at a random moment and restarted. All work must be
completed. If a command may have run before the kill, the model is told so and does not repeat it, so at most one line
per kill may be missing. A notification may arrive twice if the second one says so.
"""

import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from bench.agents import OURS, Agent, prepare, surroundings
from hermes_acp.app.app import App
from hermes_acp.config.environment import environment_of
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import TurnEnded
from hermes_acp.core.ports.run_ports import ENDED, RunFilter
from hermes_acp.core.ports.schedule_ports import Timing
from hermes_acp.notifications.message_texts import HEADINGS, SENT_AGAIN
from hermes_acp.runs.run_service import RunRequest
from hermes_acp.storage.transcript import Transcript
from tests.model_server import Recorded, Reply, Script, ToolCall, serve
from tests.unit.notifications.notification_receiver import Receiver, receiver

MAX_KILL_S = 2.0
WAIT_S = 90.0
LOOK_S = 0.05
PROGRESS = 25
NAMES = "abc"
KINDS = ("turn", "run", "asking", "schedule")
SETTINGS = "mode: bypass\nallow_bypass: true\ncheckpoints: {enabled: false}\n"
NOTIFYING = "notifications: {targets: {web: apprise}}\n"


def choose(request: Recorded) -> Reply:
    """Answer like a model that never repeats a command: run three commands, one per step, then end."""
    known = sum(message["role"] == "tool" for message in request.body["messages"])
    if known == len(NAMES):
        return Reply("Done.")
    (file,) = {*re.findall(r"log-\w+", str(request.body["messages"]))}
    command = f"sleep 0.1; echo line{NAMES[known]} >> {file}; sleep 0.1"
    call = ToolCall("terminal", {"command": command})
    return Reply(("I ", "go ", "on. "), delay_s=0.02, tool_calls=(call,))


def start(env: dict[str, str], cwd: str) -> subprocess.Popen[bytes]:
    """Start a resident process and wait until it listens."""
    process = subprocess.Popen([*OURS, "daemon", "run"], env=env, cwd=cwd, stderr=subprocess.PIPE)
    assert process.stderr
    while b"is ready" not in (line := process.stderr.readline()):
        if not line:
            raise RuntimeError("the resident process did not start")
    return process


class Bench:
    """Rounds of work with one kill each, in one home folder."""

    def __init__(self, kills: int, seed: int) -> None:
        self.faults: list[str] = []
        self.counts = Counter[str]()
        self._kills = kills
        self._rng = random.Random(seed)

    async def run(self) -> None:
        """Run all rounds, then check the reports."""
        async with AsyncExitStack() as stack:
            model = await stack.enter_async_context(serve(Script(choose=choose)))
            web = stack.enter_context(receiver())
            variables = {
                "OPENAI_BASE_URL": model.openai_base_url,
                "OPENAI_API_KEY": "sk-bench",
                "HERMES_MODEL": "m",
                "HERMES_NOTIFY_WEB": f"json://127.0.0.1:{web.port}/hook",
            }
            self._env, self._cwd = stack.enter_context(surroundings(**variables))
            home = Path(self._env["HERMES_HOME"])
            home.mkdir(mode=0o700)
            (home / "config.yaml").write_text(SETTINGS + NOTIFYING)
            self._sessions = home / "sessions"
            self._runs = App(environment_of({"HERMES_HOME": str(home)})).run_service
            resident = await run_sync(start, self._env, self._cwd)
            try:
                for number in range(self._kills):
                    resident = await self._round(number, resident)
                    if (number + 1) % PROGRESS == 0:
                        print(
                            f"{number + 1} kills: {dict(sorted(self.counts.items()))} {self.faults}",
                            flush=True,
                        )
                await self._check_reports(web)
            finally:
                resident.terminate()
                await run_sync(wait, resident)
                await self._runs.aclose()

    async def _round(self, number: int, resident: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
        """Start work, kill the process, and check that its successor, which is returned, completes everything."""
        agent, session_id = await run_sync(self._begin_turn, number)
        await self._runs.start(self._wish(f"run-{number}", f"log-{number}run"))
        await self._runs.start(self._wish(f"asking-{number}", f"log-{number}asking", mode="ask"))
        due = Timing(at=time.time() + self._rng.uniform(0.1, MAX_KILL_S))
        await self._runs.add_schedule(self._wish("", f"log-{number}schedule"), due, name=f"at-{number}")
        moment = anyio.current_time() + self._rng.uniform(0.0, MAX_KILL_S)
        while anyio.current_time() < moment:
            await self._answer(f"asking-{number}")
            await anyio.sleep(min(LOOK_S, max(0.0, moment - anyio.current_time())))
        resident.kill()
        await run_sync(wait, resident)
        await run_sync(wait, agent.process)
        resident = await run_sync(start, self._env, self._cwd)
        try:
            with anyio.fail_after(WAIT_S):
                while not await self._is_over(number, session_id):
                    await self._answer(f"asking-{number}")
                    await anyio.sleep(LOOK_S)
        except TimeoutError:
            self.faults.append(f"kill {number}: not all work was completed")
        kinds = [
            kind for kind in KINDS if kind != "turn" or has_begun(self._sessions / f"{session_id}.jsonl")
        ]
        self._check_files(number, kinds)
        return resident

    def _wish(self, run_id: str, file: str, mode: str = "") -> RunRequest:
        return RunRequest(f"Write to {file}.", self._cwd, id=run_id, mode=mode)

    def _begin_turn(self, number: int) -> tuple[Agent, str]:
        agent = Agent(OURS, self._env)
        session_id = agent.open_session(self._cwd)
        agent.begin_prompt(session_id, f"Write to log-{number}turn.")
        return agent, session_id

    async def _answer(self, run_id: str) -> None:
        """Approve what a run asks for."""
        with suppress(BadRequest):
            await self._runs.answer(run_id, "allow_once", by="bench")

    async def _is_over(self, number: int, session_id: str) -> bool:
        ids = [f"run-{number}", f"asking-{number}"]
        ids += [each.run_id for each in await self._runs.engine.schedules.history(f"at-{number}")]
        if len(ids) != len(KINDS) - 1 or not has_ended(self._sessions / f"{session_id}.jsonl"):
            return False
        views = [await self._runs.engine.show(run_id) for run_id in ids]
        return all(view is not None and view.state in ENDED for view in views)

    def _check_files(self, number: int, kinds: Sequence[str]) -> None:
        """Check the files; the client repeats a prompt that the killed process had not read."""
        for kind in kinds:
            file = Path(self._cwd, f"log-{number}{kind}")
            lines = Counter(re.findall(r"\w+", file.read_text())) if file.exists() else Counter[str]()
            self.counts[f"{kind}: {len(lines)} of {len(NAMES)}"] += 1
            self.faults += [
                f"kill {number}, {kind}: {line} was done {count} times"
                for line, count in lines.items()
                if count > 1
            ]
            if len(lines) < len(NAMES) - 1:
                self.faults.append(f"kill {number}, {kind}: only {len(lines)} commands ran")

    async def _check_reports(self, web: Receiver) -> None:
        """Check that each due time has one run and that each run's end was reported, repeatedly only with a remark."""
        runs = await self._runs.engine.list(RunFilter(limit=1_000_000))
        self.counts.update(f"run {run.state}" for run in runs)
        due = Counter(run.order.origin for run in runs if run.order.origin)
        self.faults += [f"{origin} has {count} runs" for origin, count in due.items() if count > 1]
        missing, reports = {run.order.id for run in runs}, Counter[str]()
        with anyio.move_on_after(WAIT_S):
            while missing:
                self._note_reports(web, missing, reports)
                await anyio.sleep(LOOK_S)
        self._note_reports(web, missing, reports)
        self.counts["reports"] = reports.total()
        self.faults += [f"the end of {run_id} was not reported" for run_id in sorted(missing)]

    def _note_reports(self, web: Receiver, missing: set[str], reports: Counter[str]) -> None:
        while not web.received.empty():
            content = web.received.get()[1]
            body = str(content["message"])
            reference = body.rpartition("reference ")[2][:8]
            is_marked = SENT_AGAIN in body
            self.counts["reports marked as resent"] += is_marked
            if reports[reference] and not is_marked:
                self.faults.append(f"a report was repeated without a remark: {body!r}")
            reports[reference] += 1
            if HEADINGS["done"] in content["title"]:
                missing -= {*re.findall(r"Run (\S+)", body)}


def wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process to end, and close its pipes."""
    with suppress(BrokenPipeError), process:
        process.wait()


def has_ended(record: Path) -> bool:
    """Return whether the last turn of a record, if any, is done."""
    events = Transcript.read_events(record)
    ends = [event for event in events if isinstance(event, TurnEnded)]
    return bool(ends and ends[-1].reason == "done") or not has_begun(record)


def has_begun(record: Path) -> bool:
    """Return whether a record has a turn."""
    return "turn_started" in record.read_text()


def main(arguments: Sequence[str]) -> None:
    """Run the rounds and print the findings."""
    kills, seed = (*map(int, arguments), *(100, 1)[len(arguments) :])
    prepare()
    bench = Bench(kills, seed)
    anyio.run(bench.run)
    print(f"{kills} kills, seed {seed}: {dict(sorted(bench.counts.items()))}")
    print("\n".join(bench.faults) or "Nothing was lost, and nothing was done twice.")
    sys.exit(bool(bench.faults))


if __name__ == "__main__":
    main(sys.argv[1:])
