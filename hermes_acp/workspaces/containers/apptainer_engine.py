"""Start, enter and stop apptainer and singularity instances.

A helper shell for each instance waits on a pipe whose other end this process holds, and stops the instance when that
end closes.
"""

from collections.abc import Mapping
from typing import Final

from anyio import CancelScope, move_on_after
from msgspec import Struct

from hermes_acp.core.errors import BadRequest, WorkspaceError
from hermes_acp.workspaces.containers.engine_options import Mounts
from hermes_acp.workspaces.remote.program_channel import ProgramChannel, open_program
from hermes_acp.workspaces.remote.remote_host import Channel

LEASE_SCRIPT: Final = (
    'trap "" HUP INT TERM; cat >/dev/null; exec "$1" instance stop --signal=KILL "$2" >/dev/null 2>&1'
)
STOP_S: Final = 15.0


class ApptainerLimits(Struct, frozen=True):
    """An instance's image and resource limits; None means no limit."""

    image: str
    has_network: bool = False
    memory_mb: int | None = None
    cpus: float | None = None
    pids: int | None = None
    start_s: float = 120.0


def start_options(limits: ApptainerLimits, mounts: Mounts) -> list[str]:
    """Return the arguments of `instance start` up to the image. Raises BadRequest for folders that cannot be bound."""
    return [
        "--containall",
        "--no-home",
        "--no-privs",
        "--cleanenv",
        *([] if limits.has_network else ["--net", "--network=none"]),
        *([f"--memory={limits.memory_mb}M"] if limits.memory_mb else []),
        *([f"--cpus={limits.cpus:g}"] if limits.cpus else []),
        *([f"--pids-limit={limits.pids}"] if limits.pids else []),
        *(_bind(path, ":ro" if mounts.is_read_only else "") for path in (*mounts.roots, *mounts.pinned)),
        *(_bind(path, ":ro") for path in mounts.fixed),
        *(_bind(path, ":ro", source) for path, source in mounts.replaced),
    ]


def _bind(path: str, manner: str, source: str = "") -> str:
    if any(character in path for character in ',:\\"\n\r'):
        raise BadRequest(
            f"{path!r} cannot be mounted in a container.",
            hint="Rename it without commas, colons and quotation marks.",
        )
    return f"--bind={source or path}:{path}{manner}"


class ApptainerEngine:
    """Apptainer or singularity, with the limits for its instances."""

    name = "the apptainer instance"

    def __init__(
        self, program: str, limits: ApptainerLimits, mounts: Mounts, environment: Mapping[str, str]
    ) -> None:
        """Initialise the engine; `program` is apptainer or singularity."""
        self.is_sandbox = not limits.has_network
        self._program = program
        self._limits = limits
        self._mounts = mounts
        self._environment = environment

    async def start(self, called: str) -> ProgramChannel:
        """Start an instance and the helper shell that stops it. Raises WorkspaceError or BadRequest."""
        options = start_options(self._limits, self._mounts)
        watch = ("/bin/sh", "-c", LEASE_SCRIPT, "hermes-acp-watch", self._program, called)
        lease = await open_program(watch, self._environment)
        code, complaint = -1, ""
        try:
            with move_on_after(self._limits.start_s):
                channel = await self._run("instance", "start", *options, self._limits.image, called)
                try:
                    await channel.end_input()
                    code = await channel.wait()
                finally:
                    complaint = channel.complaint()
                    await channel.close()
        finally:
            if code:
                with CancelScope(shield=True):
                    await self.end(called, lease)
        if code:
            raise WorkspaceError(
                f"The instance of {self._limits.image} did not start: {complaint or 'it took too long'}.",
                hint="Try it manually: `apptainer exec --containall --no-home IMAGE true`.",
            )
        return lease

    async def enter(self, called: str, script: str) -> Channel:
        """Start a script in the instance. Raises WorkspaceError."""
        options = ("--containall", "--no-home", "--cleanenv")
        return await self._run("exec", *options, f"instance://{called}", "/bin/sh", "-c", script)

    async def end(self, called: str, lease: ProgramChannel) -> None:
        """Make the helper shell stop the instance."""
        await lease.end_input()
        with move_on_after(STOP_S):
            await lease.wait()
        await lease.close()

    async def _run(self, *arguments: str) -> ProgramChannel:
        return await open_program((self._program, *arguments), self._environment)
