"""Drive an agent process from outside and measure its resource usage."""

import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FLOOR = (sys.executable, str(ROOT / "bench" / "floor_agent.py"))
OURS = (sys.executable, "-m", "hermes_acp")


class Agent:
    """One agent process. Every call waits for its response."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.started_at_s = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environment), cwd="/"
        )
        self.updates: list[tuple[float, dict[str, Any]]] = []
        self.read_bytes = 0
        self._last_id = 0

    def begin(self, method: str, params: Mapping[str, object]) -> int:
        """Send a request without waiting for the response; return its ID."""
        self._last_id += 1
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def read(self) -> dict[str, Any]:
        """Wait for the next message and return it. Permission requests are also approved once."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the agent ended unexpectedly")
        self.read_bytes += len(line)
        message = json.loads(line)
        if message.get("method") == "session/request_permission":
            outcome = {"outcome": "selected", "optionId": "allow_once"}
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}})
        return message

    def read_until(self, call_id: int) -> Any:
        """Read up to the response to a request and return its result. Earlier updates are recorded with their times."""
        while True:
            message = self.read()
            if "method" not in message and message.get("id") == call_id:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]
            if message.get("method") == "session/update":
                self.updates.append((time.perf_counter(), message["params"]["update"]))

    def call(self, method: str, params: Mapping[str, object]) -> Any:
        """Send a request and return its result. Updates that arrive before it are recorded with their times."""
        return self.read_until(self.begin(method, params))

    def _send(self, message: Mapping[str, object]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def open_session(self, cwd: str) -> str:
        """Initialize and open a session."""
        self.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        return self.call("session/new", {"cwd": cwd, "mcpServers": []})["sessionId"]

    def begin_prompt(self, session_id: str, text: str) -> int:
        """Start a turn; return the request's ID."""
        return self.begin(
            "session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
        )

    def prompt(self, session_id: str, text: str) -> str:
        """Run a turn and return the whole streamed text."""
        self.updates.clear()
        self.read_until(self.begin_prompt(session_id, text))
        chunks = (u for _, u in self.updates if u["sessionUpdate"] == "agent_message_chunk")
        return "".join(chunk["content"]["text"] for chunk in chunks)

    def first_word_at_s(self) -> float:
        """Return the time at which the first words of the last turn arrived."""
        return next(at for at, u in self.updates if u["sessionUpdate"] == "agent_message_chunk")

    def cpu_s(self) -> float:
        """Return the CPU time used so far, at the resolution of the kernel's clock ticks."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def exact_cpu_s(self) -> float:
        """Return the CPU time that all threads have used so far, at the scheduler's nanosecond resolution."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def memory_mib(self) -> float:
        """Return the current resident memory in MiB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def peak_mib(self) -> float:
        """Return the peak resident memory in MiB since the process started."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024

    def close(self) -> None:
        """Close the agent's input and wait for the process to end."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(10)


def prepare() -> None:
    """Compile the package's bytecode, as an installation does."""
    for folder in ("hermes_acp", "protocol/hermes_protocol", "bench"):
        compileall.compile_dir(ROOT / folder, quiet=2)


@contextmanager
def surroundings(**variables: str) -> Generator[tuple[dict[str, str], str]]:
    """Yield an environment with a new home folder, and a workspace. PYTHONPATH for another checkout is kept."""
    code = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as workspace:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "HERMES_HOME": f"{home}/.hermes",
            **code,
            **variables,
        }
        yield environment, workspace


@contextmanager
def model_server(script: Mapping[str, object]) -> Generator[str]:
    """Run the scripted model server in a separate process and return its base URL."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        path.write_text(json.dumps(script))
        command = (sys.executable, "-m", "tests.model_server", "--script", str(path))
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
        )
        assert process.stdout
        assert process.stdin
        try:
            yield f"{process.stdout.readline().split()[-1]}/v1"
        finally:
            process.stdin.close()
            process.wait(10)
            process.stdout.close()


@contextmanager
def scripted_surroundings(script: Mapping[str, object]) -> Generator[tuple[dict[str, str], str]]:
    """Yield an environment in which the agent's model follows a script, and a workspace."""
    with (
        model_server(script) as url,
        surroundings(OPENAI_BASE_URL=url, OPENAI_API_KEY="sk-bench", HERMES_MODEL="m") as place,
    ):
        yield place


def report_row(name: str, floor: Sequence[float], ours: Sequence[float], scale: float = 1.0) -> None:
    """Print one figure for both agents and the ratio of their medians."""
    ratio = statistics.median(ours) / statistics.median(floor)
    print(f"{name:40} floor {spread(floor, scale):28} ours {spread(ours, scale):28} ours/floor {ratio:5.2f}")


def spread(values: Sequence[float], scale: float = 1.0, digits: int = 1) -> str:
    """Format a median with its minimum and maximum."""
    median, least, most = (scale * each for each in (statistics.median(values), min(values), max(values)))
    return f"{median:8.{digits}f} ({least:.{digits}f} … {most:.{digits}f})"
