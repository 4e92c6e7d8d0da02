"""A sandbox hired from a service, brought up at its first use and given back at the close.

Knows: how scripts are run where a service gives nothing but the end of one. Does not know: any service.
A running command writes to a file there, and is asked for what it wrote since: so its output comes while it runs, on
every service alike, and a line that breaks in between loses nothing.
"""

import base64
import binascii
from collections.abc import Callable
from secrets import token_hex
from shlex import quote
from string import Template
from typing import Final, Protocol

from anyio import Lock, move_on_after

from hermes_acp.core.denied_paths import DeniedPath
from hermes_acp.core.errors import WorkspaceError
from hermes_acp.workspaces.remote.remote_host import CALL_TIMEOUT_S, Outcome

POLL_INTERVAL_S: Final = 2.0
CHUNK_BYTES: Final = 1 << 20
SERVICE_TIMEOUT_S: Final = 60.0
# Bytes come back as letters, since services give text; the exit code is their last line.
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
"""Gives what rules shut for commands of a session that works in a folder of a service's."""


def no_denied_paths(folder: str) -> tuple[DeniedPath, ...]:
    """Shut nothing."""
    del folder
    return ()


class CloudService(Protocol):
    """What a service must give: a sandbox, the end of a script in it, a file's bytes put there."""

    name: str

    async def provision(self) -> None:
        """Bring a fresh sandbox up; what was not, or not wholly, is given back. Raises WorkspaceError."""
        ...

    async def execute(self, script: str, max_wait_s: float) -> str:
        """Run a script of the POSIX shell to its end and give its output as text. Raises WorkspaceError."""
        ...

    async def upload(self, path: str, content: bytes) -> None:
        """Write a file, whose folder is there. Raises WorkspaceError."""
        ...

    async def deprovision(self) -> None:
        """Let the sandbox go, with all that is in it, and close what leads to it."""
        ...


class CloudChannel:
    """One script at work in a sandbox, looked at again and again."""

    def __init__(self, host: "CloudHost", name: str) -> None:
        self._host = host
        self._name = name
        self._seen = 0
        self._code: int | None = None

    async def receive(self) -> bytes:
        """Return the next bytes it puts out, none at their end."""
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
        """Refuse input: a script in a sandbox gets none this way."""
        raise WorkspaceError("The command takes no input.", hint="Start it as a process of its own.")

    async def end_input(self) -> None:
        """Do nothing: its input ended before it began."""

    async def wait(self) -> int:
        """Wait for its end and give its exit code."""
        while self._code is None:
            await self.receive()
        return self._code

    def complaint(self) -> str:
        """Return nothing: what fails on the way there is raised."""
        return ""

    async def close(self) -> None:
        """Let go of it."""


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
    ) -> None:
        """Hire nothing yet; `place` is the folder in which the session works there."""
        self.name = service.name
        self._has_network = has_network
        self._closures = denied_paths
        self._service = service
        self._place = place
        self._hiring = Lock()
        self._is_there = False
        self._called = f"hermes-acp-{token_hex(12)}"
        self._count = 0

    @property
    def is_sandbox(self) -> bool:
        """Whether nothing leads out, and rules shut nothing there, which no service keeps a command from."""
        is_something_shut = any(each.may_match_below(self._place) for each in self._closures(self._place))
        return not self._has_network and not is_something_shut

    @property
    def folder(self) -> str:
        """Return the folder for files of our own."""
        return f"/tmp/{self._called}"

    async def open(self, script: str) -> CloudChannel:
        """Start a script in the sandbox. Raises WorkspaceError where there is none to be had."""
        self._count += 1
        name = f"c{self._count}"
        start = START_SCRIPT.substitute(folder=quote(self.folder), name=name, script=quote(script))
        done = await self.call(start)
        if done.code:
            raise WorkspaceError(
                f"{self.name} did not start the command.", hint="Look whether its disk is full."
            )
        return CloudChannel(self, name)

    async def call(self, script: str, max_wait_s: float = CALL_TIMEOUT_S) -> Outcome:
        """Run a script to its end. Raises WorkspaceError."""
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
                f"{self.name} gave no answer that can be read.", hint="Try again."
            ) from error

    async def put(self, path: str, content: bytes) -> None:
        """Write a file of our own."""
        done = await self.call(f"umask 077; mkdir -p {quote(self.folder)}")
        if done.code:
            raise WorkspaceError(f"{self.name} took no file.", hint="Look whether its disk is full.")
        await self._service.upload(path, content)

    async def renew(self) -> bool:
        """Say that a sandbox which holds the session's files is not given up."""
        return False

    async def close(self) -> None:
        """Give the sandbox back."""
        async with self._hiring:
            if self._is_there:
                self._is_there = False
                await self._deprovision()

    async def _ensure_provisioned(self) -> None:
        async with self._hiring:
            if self._is_there:
                return
            try:
                await self._service.provision()
                self._is_there = True
            finally:
                if not self._is_there:
                    await self._deprovision()
            await self._service.execute(f"mkdir -p {quote(self._place)}", SERVICE_TIMEOUT_S)

    async def _deprovision(self) -> None:
        """Give back what there is, even when cancelled: it costs as long as it is there."""
        with move_on_after(SERVICE_TIMEOUT_S, shield=True):
            await self._service.deprovision()
