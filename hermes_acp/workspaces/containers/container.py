"""One container: started at its first use, gone with this process, whatever ends it.

Knows: the engine's program, the container's life. Does not know: files, what commands are for.
Its first process waits at a pipe whose other end this process holds, through the engine's client. When that end
closes, the process ends, and the kernel ends all others in the container with it.
"""

import os
from collections.abc import Mapping
from secrets import token_hex
from typing import Final

from anyio import CancelScope, Lock, move_on_after

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.workspaces.containers.engine import FOLDER, OWNER_LABEL, Limits, Mounts, run_options
from hermes_acp.workspaces.containers.owners import is_gone, own_label
from hermes_acp.workspaces.remote.hosts import CALL_S, Channel, Outcome, put_through, run_through
from hermes_acp.workspaces.remote.program_channels import ProgramChannel, open_program

# The outer shell takes in every orphan as it ends; the inner one waits at the pipe.
FIRST_PROCESS: Final = "exec 3<&0; (echo ready; exec cat <&3 >/dev/null) & wait $!"
END_S: Final = 10.0
ASIDE_S: Final = 15.0


class Container:
    """The container of one session."""

    remembers = False

    def __init__(
        self,
        program: str,
        limits: Limits,
        mounts: Mounts,
        user: tuple[int, int],
        environment: Mapping[str, str],
    ) -> None:
        """Start nothing yet; `program` is the engine's, `user` the number of a user and of a group."""
        self.name = f"the {limits.engine} container"
        self.is_sandbox = limits.network == "none"
        self._program = program
        self._limits = limits
        self._mounts = mounts
        self._user = user
        self._environment = environment
        self._starting = Lock()
        self._lease: ProgramChannel | None = None
        self._called = ""
        self._has_looked = False

    @property
    def folder(self) -> str:
        """Give the folder for files of our own."""
        return f"{FOLDER}/.{self._called}"

    async def open(self, script: str) -> Channel:
        """Start a script in the container. Raises WorkspaceTrouble where there is none to be had."""
        async with self._starting:
            if self._lease is None or self._lease.has_ended:
                await self._start()
        return await self._run("exec", "--interactive", self._called, "/bin/sh", "-c", script)

    async def call(self, script: str, patience_s: float = CALL_S) -> Outcome:
        """Run a script to its end. Raises WorkspaceTrouble."""
        return await run_through(self, script, patience_s)

    async def put(self, path: str, content: bytes) -> None:
        """Write a file of our own."""
        await put_through(self, path, content)

    async def renew(self) -> bool:
        """Remove the container; the next use starts another one."""
        async with self._starting:
            await self._end()
        return True

    async def close(self) -> None:
        """Remove the container with all that runs in it."""
        async with self._starting:
            await self._end()

    async def _start(self) -> None:
        await self._end()
        if not self._has_looked:
            self._has_looked = True
            await self._remove_strays()
        self._called = f"hermes-acp-{token_hex(8)}"
        options = run_options(self._limits, self._mounts, self._user, is_root=os.getuid() == 0)
        names = (f"--name={self._called}", f"--label={OWNER_LABEL}={own_label()}")
        lease = await self._run("run", *names, *options, self._limits.image, "-c", FIRST_PROCESS)
        is_ready = False
        try:
            with move_on_after(self._limits.start_s):
                is_ready = await lease.receive() != b""
        finally:
            if is_ready:
                self._lease = lease
            else:
                await lease.close()
                await self._remove(self._called)
        if not is_ready:
            image = self._limits.image
            raise WorkspaceTrouble(
                f"{self.name.capitalize()} did not start: {lease.complaint() or 'it took too long'}.",
                hint=f"Check that `{self._limits.engine} run --rm {image} true` works; images are never pulled here.",
            )

    async def _end(self) -> None:
        lease, self._lease = self._lease, None
        if lease is None:
            return
        with CancelScope(shield=True):
            await lease.end_input()
            with move_on_after(END_S / 10):
                await lease.wait()
            if not lease.has_ended:
                await self._remove(self._called)
            await lease.close()

    async def _remove_strays(self) -> None:
        """Remove containers whose owners are gone, should one have outlived its pipe."""
        form = '{{.ID}} {{.Label "' + OWNER_LABEL + '"}}'
        listed = await self._aside("ps", "--all", f"--filter=label={OWNER_LABEL}", f"--format={form}")
        for line in listed.splitlines():
            container, _, owner = line.partition(" ")
            if is_gone(owner):
                await self._remove(container)

    async def _remove(self, container: str) -> None:
        with CancelScope(shield=True):
            await self._aside("rm", "--force", "--volumes", container)

    async def _aside(self, *arguments: str) -> str:
        """Let the engine do something whose failure shows elsewhere, and give what it says."""
        said = bytearray()
        with move_on_after(ASIDE_S):
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
