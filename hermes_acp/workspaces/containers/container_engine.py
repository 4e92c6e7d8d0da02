"""Start, enter and remove docker and podman containers.

A container's first process waits on a pipe whose other end this process holds, through the engine's
client. When that end closes, the first process exits and the kernel ends every other process in the
container.
"""

import os
from collections.abc import Mapping
from typing import Final

from anyio import CancelScope, move_on_after
from msgspec import structs

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.workspaces.containers.container_owner import is_gone, own_label
from hermes_acp.workspaces.containers.engine_options import (
    OWNER_LABEL,
    Limits,
    Mounts,
    cpu_limit_in,
    run_options,
)
from hermes_acp.workspaces.remote.program_channel import ProgramChannel, open_program
from hermes_acp.workspaces.remote.remote_host import Channel

# The outer shell reaps every orphan; the inner one waits on the pipe.
FIRST_PROCESS: Final = "exec 3<&0; (echo ready; exec cat <&3 >/dev/null) & wait $!"
STOP_TIMEOUT_S: Final = 1.0
CLEANUP_TIMEOUT_S: Final = 15.0


class DockerEngine:
    """Docker or podman, with the limits for its containers."""

    def __init__(
        self,
        program: str,
        limits: Limits,
        mounts: Mounts,
        user: tuple[int, int],
        environment: Mapping[str, str],
    ) -> None:
        """Initialise with the engine's `program`; `user` is a user ID and group ID."""
        self.name = f"the {limits.engine} container"
        self.is_sandbox = limits.network == "none"
        self._program = program
        self._limits = limits
        self._mounts = mounts
        self._user = user
        self._environment = environment
        self._has_looked = False

    async def start(self, called: str) -> ProgramChannel:
        """Start a container, after removing those whose owners are gone. Raises WorkspaceError."""
        if not self._has_looked:
            self._has_looked = True
            await self._remove_strays()
        lease, is_ready = await self._begin(called)
        if not is_ready and (most := cpu_limit_in(lease.complaint())) and most < self._limits.cpus:
            self._limits = structs.replace(self._limits, cpus=most)
            lease, is_ready = await self._begin(called)
        if not is_ready:
            image = self._limits.image
            raise WorkspaceError(
                f"{self.name.capitalize()} did not start: {lease.complaint() or 'it took too long'}.",
                hint=f"Check that `{self._limits.engine} run --rm {image} true` works; images are never pulled here.",
            )
        return lease

    async def _begin(self, called: str) -> tuple[ProgramChannel, bool]:
        """Start a container and return whether it became ready; if not, remove it completely."""
        options = run_options(self._limits, self._mounts, self._user, is_root=os.getuid() == 0)
        names = (f"--name={called}", f"--label={OWNER_LABEL}={own_label()}")
        lease = await self._run("run", *names, *options, self._limits.image, "-c", FIRST_PROCESS)
        is_ready = False
        try:
            with move_on_after(self._limits.start_s):
                is_ready = await lease.receive() != b""
        finally:
            if not is_ready:
                await lease.close()
                await self._remove(called)
        return lease, is_ready

    async def enter(self, called: str, script: str) -> Channel:
        """Start a script in the container. Raises WorkspaceError."""
        return await self._run("exec", "--interactive", called, "/bin/sh", "-c", script)

    async def end(self, called: str, lease: ProgramChannel) -> None:
        """End the container's first process; remove the container if it still exists."""
        await lease.end_input()
        with move_on_after(STOP_TIMEOUT_S):
            await lease.wait()
        if not lease.has_ended:
            await self._remove(called)
            with move_on_after(
                CLEANUP_TIMEOUT_S
            ):  # an engine that is already removing it reports an error, and continues
                await lease.wait()
        await lease.close()

    async def _remove_strays(self) -> None:
        """Remove containers whose owners are gone, which may have outlived their pipes."""
        form = '{{.ID}} {{.Label "' + OWNER_LABEL + '"}}'
        listed = await self._in_background("ps", "--all", f"--filter=label={OWNER_LABEL}", f"--format={form}")
        for line in listed.splitlines():
            container, _, owner = line.partition(" ")
            if is_gone(owner):
                await self._remove(container)

    async def _remove(self, container: str) -> None:
        with CancelScope(shield=True):
            await self._in_background("rm", "--force", "--volumes", container)

    async def _in_background(self, *arguments: str) -> str:
        """Run an engine command whose failure is noticed elsewhere, and return its output."""
        said = bytearray()
        with move_on_after(CLEANUP_TIMEOUT_S):
            channel = await self._run(*arguments)
            try:
                while chunk := await channel.receive():
                    said += chunk
                await channel.wait()
            finally:
                await channel.close()
        return said.decode("utf-8", "replace")

    async def _run(self, *arguments: str) -> ProgramChannel:
        return await open_program((self._program, *arguments), self._environment)
