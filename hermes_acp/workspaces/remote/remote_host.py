"""What a machine elsewhere must be able to do for commands and files to be had there.

Knows: that it runs scripts of a POSIX shell, and what becomes of one. Does not know: how it is reached.
"""

from shlex import quote
from typing import Final, Protocol

from anyio import move_on_after
from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError

CALL_TIMEOUT_S: Final = 120.0
MAX_BYTES: Final = 48 * 1024 * 1024


class Channel(Protocol):
    """One script at work on a machine elsewhere."""

    async def receive(self) -> bytes:
        """Return the next bytes it puts out, none at their end."""
        ...

    async def send(self, data: bytes) -> None:
        """Give it input. Raises WorkspaceError where it takes none."""
        ...

    async def end_input(self) -> None:
        """Let its input end."""
        ...

    async def wait(self) -> int:
        """Wait for its end and give its exit code."""
        ...

    def complaint(self) -> str:
        """Give what the way to the machine said of a failure, in one line."""
        ...

    async def close(self) -> None:
        """Let go of it; what it started there is not ended by that."""
        ...


class Host(Protocol):
    """A machine elsewhere, brought up at its first use; a sandbox is one from which nothing leads out."""

    name: str
    remembers: bool

    @property
    def is_sandbox(self) -> bool:
        """Whether what runs there at this moment can reach nothing that it is to be kept from."""
        ...

    @property
    def folder(self) -> str:
        """Return the path of a folder there for files of our own, for this session alone; it need not exist yet."""
        ...

    async def open(self, script: str) -> Channel:
        """Start a script of the POSIX shell. Raises WorkspaceError where the machine cannot be had."""
        ...

    async def call(self, script: str, max_wait_s: float = CALL_TIMEOUT_S) -> "Outcome":
        """Run a script to its end. Raises WorkspaceError where it takes too long, or says too much."""
        ...

    async def put(self, path: str, content: bytes) -> None:
        """Write a file of our own in `folder`. Raises WorkspaceError."""
        ...

    async def renew(self) -> bool:
        """Return the machine up with all that is at work on it, for a fresh one; False where that cannot be done."""
        ...

    async def close(self) -> None:
        """Leave the machine; nothing of ours stays."""
        ...


class Outcome(Struct, frozen=True):
    """What a script came to: its exit code and all it put out."""

    code: int
    output: bytes


class ScriptOpener(Protocol):
    """What scripts can be started on."""

    name: str

    async def open(self, script: str) -> Channel:
        """Start a script."""
        ...


async def run_through(
    host: ScriptOpener, script: str, max_wait_s: float = CALL_TIMEOUT_S, given: bytes | None = None
) -> Outcome:
    """Run a script to its end through a channel. Raises WorkspaceError where it takes too long, or says too much."""
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
    told = "did not answer in time" if scope.cancelled_caught else "said too much"
    raise WorkspaceError(f"{host.name} {told}.", hint="Try again, or ask for less.", retryable=True)


async def put_through(host: ScriptOpener, path: str, content: bytes) -> None:
    """Write a file of our own through the input of a script. Raises WorkspaceError."""
    folder = quote(path.rpartition("/")[0])
    script = f"umask 077; mkdir -p {folder} && cat >{quote(path)}"
    done = await run_through(host, script, given=content)
    if done.code:
        raise WorkspaceError(
            f"{host.name} did not take {len(content):,} bytes.", hint="Look whether its disk is full."
        )
