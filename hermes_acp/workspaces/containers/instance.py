"""One instance of apptainer or singularity: started at its first use, gone with this process, whatever ends it.

Knows: the program's command lines, the instance's life. Does not know: files, what commands are for.
A shell beside it waits at a pipe whose other end this process holds, and stops the instance when that closes.
"""

from collections.abc import Mapping
from secrets import token_hex
from typing import Final

from anyio import CancelScope, Lock, move_on_after
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, WorkspaceTrouble
from hermes_acp.workspaces.containers.engine import FOLDER, Mounts
from hermes_acp.workspaces.remote.hosts import CALL_S, Channel, Outcome, put_through, run_through
from hermes_acp.workspaces.remote.program_channels import ProgramChannel, open_program

LEASE: Final = (
    'trap "" HUP INT TERM; cat >/dev/null; exec "$1" instance stop --signal=KILL "$2" >/dev/null 2>&1'
)
STOP_S: Final = 15.0


class InstanceLimits(Struct, frozen=True):
    """What an instance is made from and may use; what is None is not limited."""

    image: str
    has_network: bool = False
    memory_mb: int | None = None
    cpus: float | None = None
    pids: int | None = None
    start_s: float = 120.0


def start_options(limits: InstanceLimits, mounts: Mounts) -> list[str]:
    """Give what follows `instance start` up to the image. Raises BadRequest for a folder that cannot be bound."""
    return [
        "--containall",
        "--no-home",
        "--no-privs",
        "--cleanenv",
        *([] if limits.has_network else ["--net", "--network=none"]),
        *([f"--memory={limits.memory_mb}M"] if limits.memory_mb else []),
        *([f"--cpus={limits.cpus:g}"] if limits.cpus else []),
        *([f"--pids-limit={limits.pids}"] if limits.pids else []),
        *(_bind(path, "") for path in mounts.roots),
        *(_bind(path, ":ro") for path in mounts.fixed),
    ]


def _bind(path: str, manner: str) -> str:
    if any(character in path for character in ',:\\"\n\r'):
        raise BadRequest(
            f"{path!r} cannot be given to a container.", hint="Rename it: no comma, colon or quotation mark."
        )
    return f"--bind={path}:{path}{manner}"


class Instance:
    """The instance of one session."""

    remembers = False

    def __init__(
        self, program: str, limits: InstanceLimits, mounts: Mounts, environment: Mapping[str, str]
    ) -> None:
        """Start nothing yet; `program` is apptainer or singularity."""
        self.name = "the apptainer instance"
        self.is_sandbox = not limits.has_network
        self._program = program
        self._limits = limits
        self._mounts = mounts
        self._environment = environment
        self._starting = Lock()
        self._lease: ProgramChannel | None = None
        self._called = ""

    @property
    def folder(self) -> str:
        """Give the folder for files of our own."""
        return f"{FOLDER}/.{self._called}"

    async def open(self, script: str) -> Channel:
        """Start a script in the instance. Raises WorkspaceTrouble where there is none to be had."""
        async with self._starting:
            if self._lease is None or self._lease.has_ended:
                await self._start()
        return await self._run(
            "exec",
            "--containall",
            "--no-home",
            "--cleanenv",
            f"instance://{self._called}",
            "/bin/sh",
            "-c",
            script,
        )

    async def call(self, script: str, patience_s: float = CALL_S) -> Outcome:
        """Run a script to its end. Raises WorkspaceTrouble."""
        return await run_through(self, script, patience_s)

    async def put(self, path: str, content: bytes) -> None:
        """Write a file of our own."""
        await put_through(self, path, content)

    async def renew(self) -> bool:
        """Stop the instance; the next use starts another one."""
        async with self._starting:
            await self._end()
        return True

    async def close(self) -> None:
        """Stop the instance with all that runs in it."""
        async with self._starting:
            await self._end()

    async def _start(self) -> None:
        await self._end()
        self._called = f"hermes-acp-{token_hex(8)}"
        watch = ("/bin/sh", "-c", LEASE, "hermes-acp-watch", self._program, self._called)
        self._lease = await open_program(watch, self._environment)
        options = start_options(self._limits, self._mounts)
        code, complaint = -1, ""
        with move_on_after(self._limits.start_s):
            channel = await self._run("instance", "start", *options, self._limits.image, self._called)
            try:
                await channel.end_input()
                code = await channel.wait()
            finally:
                complaint = channel.complaint()
                await channel.close()
        if code:
            await self._end()
            raise WorkspaceTrouble(
                f"The instance of {self._limits.image} did not start: {complaint or 'it took too long'}.",
                hint="Try it by hand: `apptainer exec --containall --no-home IMAGE true`.",
            )

    async def _end(self) -> None:
        """Let the shell beside it stop the instance."""
        lease, self._lease = self._lease, None
        if lease is not None:
            with CancelScope(shield=True):
                await lease.end_input()
                with move_on_after(STOP_S):
                    await lease.wait()
                await lease.close()

    async def _run(self, *arguments: str) -> ProgramChannel:
        return await open_program((self._program, *arguments), self._environment)
