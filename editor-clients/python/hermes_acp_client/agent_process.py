"""The agent's process for the synchronous client, which starts it, writes to it, reads from it and ends it reliably."""

import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from hermes_acp_client.errors import AgentGone

KEPT_LINES: Final = 20
END_GRACE_S: Final = 5.0


class AgentProcess:
    """A running command whose standard input, output and error are pipes."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        """Start the command; `env`, if given, replaces the environment. Raises AgentGone."""
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(list(command), env=env, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise AgentGone(f"{command[0]} could not be started: {error}") from error
        self._name = command[0]
        self._writing = threading.Lock()
        self._last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._stderr_reader.start()

    def send(self, frame: bytes) -> None:
        """Write one frame. Raises AgentGone."""
        stdin = self._process.stdin
        assert stdin is not None
        with self._writing:
            try:
                stdin.write(frame + b"\n")
                stdin.flush()
            except (OSError, ValueError) as error:
                raise self.exit_error() from error

    def frames(self) -> Iterator[bytes]:
        """Yield the agent's output, line by line, until it ends."""
        assert self._process.stdout is not None
        yield from self._process.stdout

    def exit_error(self) -> AgentGone:
        """Return an error that says how the agent ended and what it last wrote to standard error."""
        try:
            self._process.wait(END_GRACE_S)
        except subprocess.TimeoutExpired:
            return AgentGone(f"{self._name} closed its output but is still running")
        self._stderr_reader.join(END_GRACE_S)
        said = "\n".join(self._last_lines) or "(nothing on standard error)"
        return AgentGone(f"{self._name} ended with status {self._process.returncode}:\n{said}")

    def end(self) -> int:
        """Close the agent's input and wait; kill the agent if it does not end. Return its exit status."""
        process = self._process
        with self._writing:
            if process.stdin is not None:
                with suppress(OSError):  # the agent may already have exited without reading everything
                    process.stdin.close()
        try:
            process.wait(END_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._stderr_reader.join(END_GRACE_S)
        return process.returncode

    def close_pipes(self) -> None:
        """Close the output pipes. Call this only once no thread reads from them."""
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._last_lines.append(line.decode("utf-8", "replace").rstrip("\n"))
