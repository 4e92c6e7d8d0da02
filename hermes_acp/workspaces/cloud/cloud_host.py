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

from hermes_acp.core.closures import Closure
from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.workspaces.remote.hosts import CALL_S, Outcome

LOOK_S: Final = 2.0
PIECE_BYTES: Final = 1 << 20
PATIENCE_S: Final = 60.0
# Bytes come back as letters, since services give text; the exit code is their last line.
ASK: Final = Template("""(
( eval "$$(printf %s $letters | base64 -d)" ) </dev/null
printf '\\n%s' "$$?"
) 2>/dev/null | base64""")
START: Final = Template(r"""
umask 077
mkdir -p $folder && : >$folder/$name.out || exit 1
umask 022
(
    trap '' HUP
    /bin/sh -c $script </dev/null >>$folder/$name.out 2>$folder/$name.said
    echo "$$?" >$folder/$name.code
) </dev/null >/dev/null 2>&1 &
""")
LOOK: Final = Template(r"""
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

Closures = Callable[[str], tuple[Closure, ...]]
"""Gives what rules shut for commands of a session that works in a folder of a service's."""


def nothing_shut(folder: str) -> tuple[Closure, ...]:
    """Shut nothing."""
    del folder
    return ()


class Service(Protocol):
    """What a service must give: a sandbox, the end of a script in it, a file's bytes put there."""

    name: str

    async def hire(self) -> None:
        """Bring a fresh sandbox up; what was not, or not wholly, is given back. Raises WorkspaceTrouble."""
        ...

    async def execute(self, script: str, patience_s: float) -> str:
        """Run a script of the POSIX shell to its end and give its output as text. Raises WorkspaceTrouble."""
        ...

    async def upload(self, path: str, content: bytes) -> None:
        """Write a file, whose folder is there. Raises WorkspaceTrouble."""
        ...

    async def give_back(self) -> None:
        """Let the sandbox go, with all that is in it, and close what leads to it."""
        ...


class HiredChannel:
    """One script at work in a sandbox, looked at again and again."""

    def __init__(self, host: "HiredHost", name: str) -> None:
        self._host = host
        self._name = name
        self._seen = 0
        self._code: int | None = None

    async def receive(self) -> bytes:
        """Give the next bytes it puts out, none at their end."""
        while True:
            piece = await self._look()
            self._seen += len(piece)
            if piece or self._code is not None:
                return piece

    async def _look(self) -> bytes:
        script = LOOK.substitute(
            folder=quote(self._host.folder),
            name=self._name,
            seen=self._seen,
            rounds=round(LOOK_S * 20),
            most=PIECE_BYTES,
            **{"from": self._seen + 1},
        )
        done = await self._host.call(script)
        code, _, piece = done.output.partition(b"\n")
        if not piece and code.isdigit():
            self._code = int(code)
        return piece

    async def send(self, data: bytes) -> None:
        """Refuse input: a script in a sandbox gets none this way."""
        raise WorkspaceTrouble("The command takes no input.", hint="Start it as a process of its own.")

    async def end_input(self) -> None:
        """Do nothing: its input ended before it began."""

    async def wait(self) -> int:
        """Wait for its end and give its exit code."""
        while self._code is None:
            await self.receive()
        return self._code

    def complaint(self) -> str:
        """Give nothing: what fails on the way there is raised."""
        return ""

    async def close(self) -> None:
        """Let go of it."""


class HiredHost:
    """The sandbox of one session."""

    remembers = False

    def __init__(
        self, service: Service, place: str, *, has_network: bool, closures: Closures = nothing_shut
    ) -> None:
        """Hire nothing yet; `place` is the folder in which the session works there."""
        self.name = service.name
        self._has_network = has_network
        self._closures = closures
        self._service = service
        self._place = place
        self._hiring = Lock()
        self._is_there = False
        self._called = f"hermes-acp-{token_hex(12)}"
        self._count = 0

    @property
    def is_sandbox(self) -> bool:
        """Whether nothing leads out, and rules shut nothing there, which no service keeps a command from."""
        is_something_shut = any(each.may_lie_beneath(self._place) for each in self._closures(self._place))
        return not self._has_network and not is_something_shut

    @property
    def folder(self) -> str:
        """Give the folder for files of our own."""
        return f"/tmp/{self._called}"

    async def open(self, script: str) -> HiredChannel:
        """Start a script in the sandbox. Raises WorkspaceTrouble where there is none to be had."""
        self._count += 1
        name = f"c{self._count}"
        start = START.substitute(folder=quote(self.folder), name=name, script=quote(script))
        done = await self.call(start)
        if done.code:
            raise WorkspaceTrouble(
                f"{self.name} did not start the command.", hint="Look whether its disk is full."
            )
        return HiredChannel(self, name)

    async def call(self, script: str, patience_s: float = CALL_S) -> Outcome:
        """Run a script to its end. Raises WorkspaceTrouble."""
        await self._be_there()
        letters = base64.b64encode(script.encode()).decode("ascii")
        said = None
        with move_on_after(patience_s):
            said = await self._service.execute(ASK.substitute(letters=letters), patience_s)
        if said is None:
            raise WorkspaceTrouble(f"{self.name} did not answer in time.", hint="Try again.", retryable=True)
        try:
            output, _, code = base64.b64decode(said).rpartition(b"\n")
            return Outcome(int(code), output)
        except (binascii.Error, ValueError) as error:
            raise WorkspaceTrouble(
                f"{self.name} gave no answer that can be read.", hint="Try again."
            ) from error

    async def put(self, path: str, content: bytes) -> None:
        """Write a file of our own."""
        done = await self.call(f"umask 077; mkdir -p {quote(self.folder)}")
        if done.code:
            raise WorkspaceTrouble(f"{self.name} took no file.", hint="Look whether its disk is full.")
        await self._service.upload(path, content)

    async def renew(self) -> bool:
        """Say that a sandbox which holds the session's files is not given up."""
        return False

    async def close(self) -> None:
        """Give the sandbox back."""
        async with self._hiring:
            if self._is_there:
                self._is_there = False
                await self._give_back()

    async def _be_there(self) -> None:
        async with self._hiring:
            if self._is_there:
                return
            try:
                await self._service.hire()
                self._is_there = True
            finally:
                if not self._is_there:
                    await self._give_back()
            await self._service.execute(f"mkdir -p {quote(self._place)}", PATIENCE_S)

    async def _give_back(self) -> None:
        """Give back what there is, even when cancelled: it costs as long as it is there."""
        with move_on_after(PATIENCE_S, shield=True):
            await self._service.give_back()
