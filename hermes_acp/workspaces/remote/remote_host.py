"""The interface of a remote machine that runs commands and holds files."""

from shlex import quote
from typing import Final, Protocol

from anyio import move_on_after
from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError

CALL_TIMEOUT_S: Final = 120.0
MAX_BYTES: Final = 48 * 1024 * 1024


class Channel(Protocol):
    """One script running on a remote machine."""

    async def receive(self) -> bytes:
        """Return the next bytes of the script's output, or no bytes at the end."""
        ...

    async def send(self, data: bytes) -> None:
        """Send input to the script. Raises WorkspaceError if it accepts none."""
        ...

    async def end_input(self) -> None:
        """Close the script's input."""
        ...

    async def wait(self) -> int:
        """Wait for the script to end and return its exit code."""
        ...

    def complaint(self) -> str:
        """Return the connection's failure message in one line."""
        ...

    async def close(self) -> None:
        """Release the channel; what the script started there keeps running."""
        ...


class Host(Protocol):
    """A remote machine, which is connected at first use. A host that is a sandbox confines everything in it."""

    name: str
    remembers: bool

    @property
    def is_sandbox(self) -> bool:
        """Whether everything that runs there is confined."""
        ...

    @property
    def folder(self) -> str:
        """Return the path of a remote folder for the agent's own files in this session alone; it may not exist yet."""
        ...

    async def open(self, script: str) -> Channel:
        """Start a POSIX shell script. Raises WorkspaceError if the machine is not available."""
        ...

    async def call(self, script: str, max_wait_s: float = CALL_TIMEOUT_S) -> "Outcome":
        """Run a script until it ends. Raises WorkspaceError if it takes too long or prints too much."""
        ...

    async def put(self, path: str, content: bytes) -> None:
        """Write one of the agent's own files in `folder`. Raises WorkspaceError."""
        ...

    async def renew(self) -> bool:
        """Replace the machine and everything running on it with a fresh one; return False if that is impossible."""
        ...

    async def close(self) -> None:
        """Remove the agent's files from the machine, and disconnect."""
        ...


class Outcome(Struct, frozen=True):
    """A script's exit code and output."""

    code: int
    output: bytes


class ScriptOpener(Protocol):
    """A machine on which scripts can be started."""

    name: str

    async def open(self, script: str) -> Channel:
        """Start a script."""
        ...


async def run_through(
    host: ScriptOpener, script: str, max_wait_s: float = CALL_TIMEOUT_S, given: bytes | None = None
) -> Outcome:
    """Run a script through a channel until it ends. Raises WorkspaceError if it takes too long or prints too much."""
    channel = await host.open(script)
    output = bytearray()
    try:
        with move_on_after(max_wait_s) as scope:
            if given is not None:
                await channel.send(given)
            await channel.end_input()
            while len(output) <= MAX_BYTES and (chunk := await channel.receive()):
                output += chunk
            if len(output) <= MAX_BYTES:
                return Outcome(await channel.wait(), bytes(output))
    finally:
        await channel.close()
    told = "did not answer in time" if scope.cancelled_caught else "returned too much output"
    raise WorkspaceError(f"{host.name} {told}.", hint="Try again, or request less.", retryable=True)


async def put_through(host: ScriptOpener, path: str, content: bytes) -> None:
    """Write one of the agent's own files through a script's input. Raises WorkspaceError."""
    folder = quote(path.rpartition("/")[0])
    script = f"umask 077; mkdir -p {folder} && cat >{quote(path)}"
    done = await run_through(host, script, given=content)
    if done.code:
        raise WorkspaceError(
            f"{host.name} did not accept {len(content):,} bytes.", hint="Check whether its disk is full."
        )
