"""A sandbox rented from a service, provisioned at first use and released when the session closes.

A running command writes to a file there, which is polled for new output. With every service, output therefore arrives
while the command runs, and a broken connection loses nothing.
"""

import base64
import binascii
from collections.abc import Callable
from contextlib import suppress
from secrets import token_hex
from shlex import quote
from string import Template
from typing import Final, Literal, Protocol

from anyio import Lock, move_on_after
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.errors import HermesError, WorkspaceError
from hermes_acp.workspaces.cloud.kept_sandboxes import SandboxClaim
from hermes_acp.workspaces.remote.remote_host import CALL_TIMEOUT_S, Outcome

POLL_INTERVAL_S: Final = 2.0
CHUNK_BYTES: Final = 1 << 20
SERVICE_TIMEOUT_S: Final = 60.0
SUSPEND_TIMEOUT_S: Final = 120.0
# Bytes are returned as base64, because services return text; the exit code is the last line.
ASK_SCRIPT: Final = Template("""(
( eval "$$(printf %s $letters | base64 -d)" ) </dev/null
printf '\\n%s' "$$?"
) 2>/dev/null | base64""")
START_SCRIPT: Final = Template(r"""
umask 077
mkdir -p $folder && : >$folder/$name.out || exit 1
umask 022
(
    trap '' HUP
    /bin/sh -c $script </dev/null >>$folder/$name.out 2>$folder/$name.said
    echo "$$?" >$folder/$name.code
) </dev/null >/dev/null 2>&1 &
""")
POLL_SCRIPT: Final = Template(r"""
n=0
while :; do
    code=$$(cat $folder/$name.code 2>/dev/null)
    size=$$(wc -c <$folder/$name.out)
    { [ "$$size" -gt $seen ] || [ -n "$$code" ] || [ "$$n" -ge $rounds ]; } && break
    n=$$((n + 1))
    sleep 0.05 || { sleep 1; n=$$((n + 19)); }
done
echo "$${code:-none}"
tail -c +$from $folder/$name.out | head -c $most
""")

DeniedPathLookup = Callable[[str], tuple[DeniedPath, ...]]
"""A function that returns the paths that rules deny to a session's commands in a remote folder."""


def no_denied_paths(folder: str) -> tuple[DeniedPath, ...]:
    """Return no denied paths."""
    del folder
    return ()


class SandboxFacts(Struct, frozen=True):
    """A service's report on a sandbox: whether it runs, its resources, and its cost, if known."""

    state: Literal["running", "suspended", "gone"]
    resources: str = ""
    cost_usd: float | None = None


class CloudService(Protocol):
    """The interface of a service: provide a sandbox, run scripts in it, and upload files to it.

    A kept sandbox has a handle by which later processes find it again.
    """

    name: str

    @property
    def handle(self) -> str:
        """The handle of the sandbox; empty if there is none, or if it cannot be found again."""
        ...

    async def provision(self) -> None:
        """Provision a fresh sandbox and release an incomplete one. Raises WorkspaceError."""
        ...

    async def attach(self, handle: str) -> SandboxFacts:
        """Connect to a sandbox that an earlier process left behind, without starting it. Raises WorkspaceError."""
        ...

    async def start(self) -> bool:
        """Resume a suspended sandbox; return False if it turns out to be gone. Raises WorkspaceError."""
        ...

    async def suspend(self) -> str:
        """Stop the sandbox but keep its files; return its new handle. Raises WorkspaceError."""
        ...

    async def disconnect(self) -> None:
        """Close the connection; leave the sandbox as it is."""
        ...

    async def execute(self, script: str, max_wait_s: float) -> str:
        """Run a POSIX shell script until it ends and return its output as text. Raises WorkspaceError."""
        ...

    async def upload(self, path: str, content: bytes) -> None:
        """Write a file to an existing folder. Raises WorkspaceError."""
        ...

    async def deprovision(self) -> None:
        """Delete the sandbox with everything in it, and close the connection to it."""
        ...


class CloudChannel:
    """One script running in a sandbox, polled for its output."""

    def __init__(self, host: "CloudHost", name: str) -> None:
        self._host = host
        self._name = name
        self._seen = 0
        self._code: int | None = None

    async def receive(self) -> bytes:
        """Return the next bytes of the script's output, or no bytes at the end."""
        while True:
            piece = await self._poll()
            self._seen += len(piece)
            if piece or self._code is not None:
                return piece

    async def _poll(self) -> bytes:
        script = POLL_SCRIPT.substitute(
            folder=quote(self._host.folder),
            name=self._name,
            seen=self._seen,
            rounds=round(POLL_INTERVAL_S * 20),
            most=CHUNK_BYTES,
            **{"from": self._seen + 1},
        )
        done = await self._host.call(script)
        code, _, piece = done.output.partition(b"\n")
        if not piece and code.isdigit():
            self._code = int(code)
        return piece

    async def send(self, data: bytes) -> None:
        """Refuse input, because scripts in a sandbox receive none through channels."""
        raise WorkspaceError("The command takes no input.", hint="Start it as a background process.")

    async def end_input(self) -> None:
        """Do nothing, because the script's input ended before the script started."""

    async def wait(self) -> int:
        """Wait for the script to end and return its exit code."""
        while self._code is None:
            await self.receive()
        return self._code

    def complaint(self) -> str:
        """Return an empty string, because connection failures are raised instead."""
        return ""

    async def close(self) -> None:
        """Release the channel."""


class CloudHost:
    """The sandbox of one session."""

    remembers = False

    def __init__(
        self,
        service: CloudService,
        place: str,
        *,
        has_network: bool,
        denied_paths: DeniedPathLookup = no_denied_paths,
        claim: SandboxClaim | None = None,
    ) -> None:
        """Initialise without renting anything; `place` is the remote folder in which the session works.

        With a claim, the sandbox is kept for the session's next workspace; without one, it is released at the end.
        """
        self.name = service.name
        self._has_network = has_network
        self._closures = denied_paths
        self._service = service
        self._place = place
        self._claim = claim
        self._hiring = Lock()
        self._is_there = False
        self._has_own = False
        self._called = f"hermes-acp-{token_hex(12)}"
        self._count = 0

    @property
    def is_sandbox(self) -> bool:
        """Whether this host counts as a sandbox: it has no network, and no rule denies paths."""
        is_something_shut = any(each.may_match_below(self._place) for each in self._closures(self._place))
        return not self._has_network and not is_something_shut

    @property
    def folder(self) -> str:
        """Return the folder for the agent's own files."""
        return f"/tmp/{self._called}"

    async def open(self, script: str) -> CloudChannel:
        """Start a script in the sandbox. Raises WorkspaceError if no sandbox is available."""
        self._count += 1
        name = f"c{self._count}"
        start = START_SCRIPT.substitute(folder=quote(self.folder), name=name, script=quote(script))
        done = await self.call(start)
        if done.code:
            raise WorkspaceError(
                f"{self.name} did not start the command.", hint="Check whether its disk is full."
            )
        return CloudChannel(self, name)

    async def call(self, script: str, max_wait_s: float = CALL_TIMEOUT_S) -> Outcome:
        """Run a script until it ends. Raises WorkspaceError."""
        await self._ensure_provisioned()
        letters = base64.b64encode(script.encode()).decode("ascii")
        said = None
        with move_on_after(max_wait_s):
            said = await self._service.execute(ASK_SCRIPT.substitute(letters=letters), max_wait_s)
        if said is None:
            raise WorkspaceError(f"{self.name} did not answer in time.", hint="Try again.", retryable=True)
        try:
            output, _, code = base64.b64decode(said).rpartition(b"\n")
            return Outcome(int(code), output)
        except (binascii.Error, ValueError) as error:
            raise WorkspaceError(
                f"{self.name} returned an unreadable response.", hint="Try again."
            ) from error

    async def put(self, path: str, content: bytes) -> None:
        """Write one of the agent's own files."""
        done = await self.call(f"umask 077; mkdir -p {quote(self.folder)}")
        if done.code:
            raise WorkspaceError(
                f"{self.name} did not accept a file.", hint="Check whether its disk is full."
            )
        await self._service.upload(path, content)

    async def renew(self) -> bool:
        """Return False, because a sandbox with the session's files is never replaced."""
        return False

    async def close(self) -> None:
        """Suspend the sandbox for the session's next workspace, or release it."""
        async with self._hiring:
            if self._is_there:
                self._is_there = False
                if not await self._suspend():
                    await self._deprovision()

    async def _ensure_provisioned(self) -> None:
        async with self._hiring:
            if self._is_there:
                return
            try:
                if not await self._find():
                    await self._provision()
                self._is_there = True
            finally:
                if not self._is_there:
                    await self._deprovision()
            await self._service.execute(f"mkdir -p {quote(self._place)}", SERVICE_TIMEOUT_S)

    async def _find(self) -> bool:
        """Continue in the session's sandbox; return False if it has none. Raises WorkspaceError if it is gone."""
        handle = await run_sync(self._claim.find) if self._claim else ""
        if not (self._claim and handle):
            return False
        self._has_own = True
        facts = await self._service.attach(handle)
        is_there = facts.state != "gone"
        if facts.state == "suspended":
            is_there = await self._service.start()
        if not is_there:
            await run_sync(self._claim.forget)
            self._has_own = False
            raise WorkspaceError(
                f"The sandbox of this session at {self.name} no longer exists, so its files are lost.",
                hint="The next command gets a new, empty one.",
                retryable=True,
            )
        await run_sync(self._claim.note, self._service.handle, "running")
        return True

    async def _provision(self) -> None:
        await self._service.provision()
        if self._claim and self._service.handle:
            await run_sync(self._claim.note, self._service.handle, "running")

    async def _suspend(self) -> bool:
        """Keep the sandbox if the session may be resumed; return whether it is kept."""
        if not (self._claim and self._claim.session_id and self._service.handle):
            return False
        with move_on_after(SUSPEND_TIMEOUT_S, shield=True):
            with suppress(
                HermesError
            ):  # it stays recorded as running, and the service stops it when its lifetime ends
                await run_sync(self._claim.note, await self._service.suspend(), "suspended")
            await self._service.disconnect()
        return True

    async def _deprovision(self) -> None:
        """Release the sandbox, even if cancelled, because it costs money as long as it exists.

        A sandbox with a session's files is only disconnected, because it may be unusable only temporarily.
        """
        with move_on_after(SERVICE_TIMEOUT_S, shield=True):
            if self._has_own:
                await self._service.disconnect()
                return
            await self._service.deprovision()
            if self._claim:
                self._claim.forget()
