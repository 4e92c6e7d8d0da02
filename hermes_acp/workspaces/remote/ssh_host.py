"""A machine reached with the system's own ssh, over one connection shared by all commands.

The connection's first session waits on a pipe and, when the pipe closes, kills what the others left. That happens
however this process ends, and also if the connection is lost. No agent, display or variable of this machine is
forwarded.
"""

import base64
import os
import shutil
import tempfile
from collections.abc import Mapping
from secrets import token_hex
from typing import Final

from anyio import CancelScope, Lock, move_on_after
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.workspaces.remote.program_channel import ProgramChannel, open_program
from hermes_acp.workspaces.remote.remote_host import (
    CALL_TIMEOUT_S,
    Channel,
    Outcome,
    put_through,
    run_through,
)

DISCONNECT_TIMEOUT_S: Final = 20.0
MAX_SCRIPT_CHARS: Final = 90_000
OPTIONS: Final = (
    "-T", "-a", "-x",
    "-oBatchMode=yes",
    "-oClearAllForwardings=yes",
    "-oForwardAgent=no",
    "-oPermitLocalCommand=no",
    "-oRequestTTY=no",
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=3",
    "-oLogLevel=ERROR",
)  # fmt: skip
WAIT_SCRIPT: Final = """
trap '' HUP INT TERM
base64 </dev/null >/dev/null 2>&1 && echo ready base64 || echo ready plain
cat >/dev/null
"""


class Address(Struct, frozen=True):
    """A machine's address, and the key and configuration to reach it; empty values are left to ssh."""

    host: str
    user: str = ""
    port: int = 0
    identity_file: str = ""
    config_file: str = ""
    connect_s: float = 20.0

    def options(self) -> list[str]:
        """Return ssh's options up to the host."""
        return [
            *(["-F", self.config_file] if self.config_file else []),
            *(["-i", self.identity_file] if self.identity_file else []),
            *(["-p", str(self.port)] if self.port else []),
            *(["-l", self.user] if self.user else []),
            f"-oConnectTimeout={max(1, round(self.connect_s))}",
        ]


class SshHost:
    """One machine, reached over one connection."""

    is_sandbox = False
    remembers = True

    def __init__(
        self, program: str, address: Address, environment: Mapping[str, str], on_disconnect: str
    ) -> None:
        """Initialise without connecting.

        `on_disconnect` is the script that kills the remaining processes of commands once the connection is gone.
        """
        self.name = address.host
        self._program = program
        self._address = address
        self._environment = environment
        self._on_disconnect = on_disconnect
        self._connecting = Lock()
        self._line: ProgramChannel | None = None
        self._sockets = ""
        self._has_base64 = False
        self._called = f"hermes-acp-{token_hex(12)}"

    @property
    def folder(self) -> str:
        """Return the folder for the agent's own files."""
        return f"/tmp/{self._called}"

    async def open(self, script: str) -> Channel:
        """Start a script on the machine, connecting first if needed. Raises WorkspaceError."""
        async with self._connecting:
            if self._line is None or self._line.has_ended:
                await self._connect()
        return await self._session("no", script)

    async def call(self, script: str, max_wait_s: float = CALL_TIMEOUT_S) -> Outcome:
        """Run a script until it ends. Raises WorkspaceError."""
        return await run_through(self, script, max_wait_s)

    async def put(self, path: str, content: bytes) -> None:
        """Write one of the agent's own files."""
        await put_through(self, path, content)

    async def renew(self) -> bool:
        """Return False, because an existing machine cannot be replaced."""
        return False

    async def close(self) -> None:
        """Close the connection, after the remaining processes on the machine have been killed."""
        async with self._connecting:
            await self._disconnect()

    async def _connect(self) -> None:
        await self._disconnect()
        self._sockets = await run_sync(self._make_folder)
        script = f"{WAIT_SCRIPT}\n{self._on_disconnect}\nrm -rf -- {self.folder}"
        line = await self._session("yes", script)
        said = b""
        try:
            with move_on_after(self._address.connect_s + 10):
                while b"ready" not in said and (piece := await line.receive()):
                    said += piece
        finally:
            if b"ready" in said:
                self._line = line
                self._has_base64 = b"base64" in said
            else:
                await line.close()
                await run_sync(self._remove_folder)
        if b"ready" not in said:
            raise WorkspaceError(
                f"Cannot reach {self.name} by ssh: {line.complaint() or 'it did not answer'}.",
                hint=f"Check that `ssh -o BatchMode=yes {self.name} true` works without a prompt.",
                retryable=True,
            )

    async def _disconnect(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            with CancelScope(shield=True):
                await line.end_input()
                with move_on_after(DISCONNECT_TIMEOUT_S):
                    await line.wait()
                await line.close()
        await run_sync(self._remove_folder)

    async def _session(self, is_master: str, script: str) -> ProgramChannel:
        shared = (
            f"-oControlMaster={is_master}",
            f"-oControlPath={self._sockets}/line",
            "-oControlPersist=no",
        )
        address = (*self._address.options(), "--", self._address.host)
        return await open_program(
            (self._program, *OPTIONS, *shared, *address, self._line_of(script)), self._environment
        )

    def _line_of(self, script: str) -> str:
        """Return the command line for the remote user's login shell, whichever it is.

        Only plain letters have the same meaning in all shells.
        """
        from shlex import quote

        if not self._has_base64 or len(script) > MAX_SCRIPT_CHARS:
            return f"exec /bin/sh -c {quote(script)}"
        letters = base64.b64encode(script.encode()).decode("ascii")
        return f"exec /bin/sh -c 'eval \"$(printf %s {letters} | base64 -d)\"'"

    def _make_folder(self) -> str:
        """Create the folder for the connection's socket, whose path is limited to about a hundred bytes."""
        at_hand = self._environment.get("XDG_RUNTIME_DIR", "")
        parent = at_hand if os.path.isdir(at_hand) and len(at_hand) < 60 else "/tmp"
        return tempfile.mkdtemp(prefix="hermes-ssh-", dir=parent)

    def _remove_folder(self) -> None:
        if self._sockets:
            shutil.rmtree(self._sockets, ignore_errors=True)
        self._sockets = ""
