"""Show a fleet with real components: Postgres, Temporal, two workers and a board of ten cards; one worker is killed.

Exit codes: 0 if every card was done exactly once, else 1.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from fleet_servers import FleetServers, fleet_servers
from scripted_model import scripted_model

COMMAND: Final = (sys.executable, "-m", "hermes_acp")
CARDS: Final = 10
SLOTS: Final = "2"
PATIENCE_S: Final = 300.0
LOOK_S: Final = 0.5
SETTINGS: Final = "mode: accept_edits\nfleet:\n  address: {address}\n"
CHECK: Final = "grep -l return part_*.py"


class Demo:
    """A home folder, a repository, and the commands that a user would type."""

    def __init__(self, folder: Path, servers: FleetServers, model_url: str) -> None:
        """Write the settings and a repository."""
        self.folder = folder
        self.project = folder / "project"
        home = folder / "home"
        home.mkdir(mode=0o700)
        (home / "config.yaml").write_text(SETTINGS.format(address=servers.address))
        self.variables: Mapping[str, str] = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "HERMES_HOME": str(home),
            "HERMES_FLEET_DATABASE": servers.database,
            "OPENAI_BASE_URL": model_url,
            "OPENAI_API_KEY": "not-needed",
            "HERMES_MODEL": "scripted",
            "GIT_AUTHOR_NAME": "demo",
            "GIT_AUTHOR_EMAIL": "demo@example.invalid",
            "GIT_COMMITTER_NAME": "demo",
            "GIT_COMMITTER_EMAIL": "demo@example.invalid",
        }
        self.project.mkdir()
        for words in (
            ("init", "-q", "--initial-branch=main"),
            ("commit", "-q", "--allow-empty", "-m", "Begin"),
        ):
            self.run("git", *words)

    def run(self, *command: str) -> str:
        """Run a command in the repository and return its output."""
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def hermes(self, *words: str) -> str:
        """Run a command of hermes-acp."""
        return self.run(*COMMAND, *words)

    def states(self) -> dict[str, str]:
        """Return the state of each card."""
        cards: list[dict[str, Any]] = json.loads(self.hermes("board", "list", "--all", "--json"))
        return {card["id"]: card["state"] for card in cards}

    @contextmanager
    def worker(self, name: str) -> Generator[subprocess.Popen[bytes]]:
        """Run a worker for the duration of the block."""
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*COMMAND, "worker", "--slots", SLOTS],
                cwd=self.project, env=self.variables, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(60)


def counted(states: Mapping[str, str]) -> str:
    """Return the number of cards in each state."""
    found = sorted(set(states.values()))
    return ", ".join(f"{list(states.values()).count(state)} {state.replace('_', ' ')}" for state in found)


def wait_for(demo: Demo, wanted: str, number: int) -> dict[str, str]:
    """Report the board's states as they change, until the given number of cards is in one state."""
    deadline, last = time.monotonic() + PATIENCE_S, ""
    while True:
        states = demo.states()
        if (line := counted(states)) != last:
            print(f"    {line}", flush=True)
            last = line
        if list(states.values()).count(wanted) >= number:
            return states
        if time.monotonic() > deadline:
            sys.exit(f"After {PATIENCE_S:g} s, not all cards are {wanted}: {line}.")
        time.sleep(LOOK_S)


def show(demo: Demo) -> int:
    """Work on ten cards, killing a worker meanwhile; return the exit code."""
    for number in range(1, CARDS + 1):
        demo.hermes(
            "board", "add", f"Write part_{number}.py", "--text", f"Write part_{number}.py with one function.",
            "--approval", "checks", "--check", CHECK, "--ready",
        )  # fmt: skip
    print(f"{CARDS} cards are on the board. Two workers start, each with up to {SLOTS} cards at a time.")
    with demo.worker("first") as first, demo.worker("second"):
        wait_for(demo, "done", 2)
        os.killpg(first.pid, signal.SIGKILL)
        print(f"  The first worker (process {first.pid}) and everything it started were just killed.")
        wait_for(demo, "done", CARDS)
    runs: list[dict[str, Any]] = json.loads(demo.hermes("runs", "list", "--all", "--json"))
    again = [run for run in runs if run["attempts"]["epoch"] > 1]
    subjects = demo.run("git", "log", "--format=%s", "main").splitlines()
    parts = sorted(demo.project.glob("part_*.py"))
    print(f"  {len(again)} of {len(runs)} runs were taken over and continued by the second worker.")
    is_whole = len(parts) == CARDS and len(subjects) == len(set(subjects)) == CARDS + 1
    print(
        f"  {len(parts)} files are on main, each merged by {'exactly one' if is_whole else 'NOT one'} commit."
    )
    return 0 if is_whole else 1


def main() -> int:
    """Start the servers, show the fleet, and stop everything."""
    with TemporaryDirectory(prefix="hermes-fleet-") as folder:
        root = Path(folder).resolve()
        with fleet_servers(root) as servers, scripted_model() as model_url:
            print(f"Postgres is running, and Temporal at {servers.address}.")
            return show(Demo(root, servers, model_url))


if __name__ == "__main__":
    sys.exit(main())
