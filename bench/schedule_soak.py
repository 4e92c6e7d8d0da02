"""Run a day of schedules in an hour with an accelerated clock, and check that memory and descriptors stay flat.

python -m bench.schedule_soak [MINUTES [SPEED]]

Needs the program `faketime`. The resident process's wall clock runs at `SPEED` times the real speed; its monotonic
clock, which leases and time limits use, is unchanged. Each due time must have one run, or a line in the history that
says why not; each run's turn writes one line to a file.
"""

import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import psutil
from anyio.from_thread import start_blocking_portal

from bench.agents import OURS, prepare, surroundings
from bench.resident_crash import SETTINGS
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.run_ports import ENDED, RunFilter
from hermes_acp.runs.engine_choice import open_engine
from tests.model_server import Recorded, Reply, Script, ToolCall, serve

CRONS = (
    "*/10 * * * *",
    "*/15 * * * *",
    "5,35 * * * *",
    "17 * * * *",
    "0 */2 * * *",
    "30 2 * * *",
    "*/20 8-18 * * *",
)
SAMPLES = 60


def choose(request: Recorded) -> Reply:
    """Answer with one command, then end the turn."""
    if any(message["role"] == "tool" for message in request.body["messages"]):
        return Reply("Done.")
    return Reply("", tool_calls=(ToolCall("terminal", {"command": "echo ran >> log"}),))


def add_schedules(env: dict[str, str], cwd: str) -> None:
    """Add two schedules of each kind, in two time zones."""
    for number, cron in enumerate(CRONS):
        for zone in ("Europe/Berlin", "America/New_York"):
            name = f"s{number}-{zone[:2].lower()}"
            flags = ["--tz", zone, "--name", name, "-p", f"Write a line for {name}."]
            subprocess.run(
                [*OURS, "schedule", "add", cron, *flags],
                env=env,
                cwd=cwd,
                check=True,
                stdout=subprocess.DEVNULL,
            )


def start(env: dict[str, str], cwd: str, speed: int) -> subprocess.Popen[bytes]:
    """Start a resident process with an accelerated wall clock."""
    faketime = shutil.which("faketime")
    if not faketime:
        raise SystemExit("Install the program `faketime`.")
    fast = {**env, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    process = subprocess.Popen(
        [faketime, "-f", f"+0 x{speed}", *OURS, "daemon", "run"], env=fast, cwd=cwd, stderr=subprocess.PIPE
    )
    assert process.stderr
    while b"is ready" not in (line := process.stderr.readline()):
        if not line:
            raise RuntimeError("the resident process did not start")
    return process


async def account(home: Path) -> Counter[str]:
    """Count the results of the due times and of the runs."""
    engine, counts = open_engine(environment_of({"HERMES_HOME": str(home)}), SystemClock()), Counter[str]()
    for view in await engine.schedules.list():
        for occurrence in await engine.schedules.history(view.schedule.id, 100_000):
            counts[occurrence.fate] += occurrence.count
    for run in await engine.list(RunFilter(limit=1_000_000)):
        counts[f"run {run.state}" if run.state in ENDED else "run open"] += 1
    await engine.aclose()
    return counts


def main(minutes: float, speed: int) -> None:
    """Run the soak test, sampling the process, and print the findings."""
    prepare()
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
        add_schedules(env, cwd)
        resident = start(env, cwd, speed)
        process = psutil.Process(resident.pid).children()[0]
        memory, descriptors = list[float](), list[int]()
        for _ in range(SAMPLES):
            time.sleep(minutes * 60 / SAMPLES)
            memory.append(process.memory_info().rss / 2**20)
            descriptors.append(process.num_fds())
        before = process.cpu_times()
        process.terminate()
        code = resident.wait(60)
        counts = portal.call(account, home)
        lines = len((Path(cwd) / "log").read_text().splitlines())
    print(
        f"{minutes:g} minutes at {speed} times: exit code {code}, {before.user + before.system:.0f} s of CPU"
    )
    print(f"history: {dict(counts)}; lines written by runs: {lines}")
    quarter = SAMPLES // 4
    for name, values in (("memory MiB", memory), ("descriptors", descriptors)):
        print(
            f"{name:12} after a quarter {values[quarter]:8.1f}, at the end {values[-1]:8.1f}, most {max(values):8.1f}"
        )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, int(sys.argv[2]) if len(sys.argv) > 2 else 24)
