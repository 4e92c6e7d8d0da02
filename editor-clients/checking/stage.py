"""The environment of a check: a home folder, a project, and the command, started as an editor starts it."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from .names import Names
from .transcripts import Json, Transcript

WAIT_S = 60
PLAIN_PATH = "/usr/local/bin:/usr/bin:/bin"
"""The PATH of an editor that was started from a desktop."""


class AgentFault(Exception):
    """The agent violated a requirement for all agents."""


@dataclass(frozen=True)
class Model:
    """The model's address and key, as a user writes them into `.env` in the home folder."""

    url: str
    name: str
    key: str


class Agent:
    """One running agent with its two pipes."""

    def __init__(self, process: subprocess.Popen[bytes], errors: Path) -> None:
        assert process.stdin
        assert process.stdout
        self._process = process
        self._errors = errors
        self._sink = process.stdin
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, source: IO[bytes]) -> None:
        for line in source:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, frame: Json) -> None:
        """Send one frame. Raises AgentFault if the agent has exited."""
        try:
            self._sink.write(json.dumps(frame).encode() + b"\n")
            self._sink.flush()
        except BrokenPipeError as fault:
            raise AgentFault(f"The agent has exited. Its output: {self.errors}") from fault

    def receive(self, timeout_s: float = WAIT_S) -> Json | None:
        """Receive the agent's next frame, or None at the end.

        Raises TimeoutError, or AgentFault for an invalid frame.
        """
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError(f"The agent was silent for {timeout_s:g} s.") from None
        if not line:
            return None
        try:
            return cast("Json", json.loads(line))
        except ValueError as fault:
            raise AgentFault(f"The agent wrote something that is not a frame: {line[:200]!r}") from fault

    def end(self, way: str) -> None:
        """End the conversation as the editor does.

        Raises AgentFault for further output, a wrong exit code, or no exit.
        """
        if way != "eof":
            os.killpg(self._process.pid, signal.Signals[way])
        self._sink.close()
        if (stray := self.receive()) is not None:
            raise AgentFault(f"The agent sent more after the end: {json.dumps(stray)}")
        code = self._process.wait(WAIT_S)
        if way == "eof" and code != 0:
            raise AgentFault(f"The agent exited with code {code}. Its output: {self.errors}")

    def kill(self) -> None:
        """Kill the agent in any state; do nothing if it has exited."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with suppress(BrokenPipeError):
            self._sink.close()

    @property
    def errors(self) -> str:
        """The agent's standard error."""
        return self._errors.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class Stage:
    """An environment for one conversation."""

    root: Path

    @property
    def home(self) -> Path:
        """The user's home folder."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """The folder that is open in the editor."""
        return self.root / "project"

    @property
    def names(self) -> dict[str, str]:
        """The names that are available from the start of a transcript."""
        return {"cwd": str(self.project), "home": str(self.home)}

    def furnish(self, transcript: Transcript, model: Model) -> None:
        """Write the user's settings and the project's files."""
        settings = self.home / ".hermes"
        settings.mkdir(parents=True)
        self.project.mkdir()
        (settings / "config.yaml").write_text(transcript.header.settings, encoding="utf-8")
        secrets = settings / ".env"
        secrets.touch(0o600)
        secrets.write_text(
            f"OPENAI_BASE_URL={model.url}\nOPENAI_API_KEY={model.key}\nHERMES_MODEL={model.name}\n",
            encoding="utf-8",
        )
        for name, content in transcript.header.files.items():
            (self.project / name).write_text(content, encoding="utf-8")

    def check_files(self, transcript: Transcript) -> None:
        """Compare the files with those expected by the transcript. Raises AgentFault for the first difference."""
        for name, content in transcript.header.leaves.items():
            found = (self.project / name).read_text(encoding="utf-8")
            if found != content:
                raise AgentFault(f"{name} should contain {content!r} but contains {found!r}.")


@contextmanager
def open_stage(transcript: Transcript, model: Model) -> Generator[Stage]:
    """Create an environment in the folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="hermes-acp-check-", ignore_cleanup_errors=True) as root:
        stage = Stage(Path(root).resolve())
        stage.furnish(transcript, model)
        yield stage


@contextmanager
def started(transcript: Transcript, stage: Stage, command: Path) -> Generator[Agent]:
    """Start the command as the editor does; it inherits nothing from this process's environment."""
    start = transcript.header.start
    argv, given = transcript.command()
    by_name = "/" not in argv[0]
    path = f"{command.parent}{os.pathsep}{PLAIN_PATH}" if by_name else PLAIN_PATH
    names = Names(stage.names | {"path": path, "shell": "/bin/sh"})
    variables: Mapping[str, str] = names.filled(start.environment) | given
    argv = [command.name if by_name else str(command), *argv[1:]]
    if start.via:
        argv = [*start.via, " ".join(argv)]
    program = shutil.which(argv[0], path=variables["PATH"])
    if program is None:
        raise AgentFault(f"{argv[0]} was not found on the editor's PATH: {variables['PATH']}")
    errors = stage.root / "stderr"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [program, *argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            env=variables, cwd=names.filled(start.cwd), start_new_session=True,
        )  # fmt: skip
    agent = Agent(process, errors)
    try:
        yield agent
    finally:
        agent.kill()
