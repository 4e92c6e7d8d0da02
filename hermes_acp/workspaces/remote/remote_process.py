"""A command launched on a remote machine, and the remote files that control it.

No connection is needed while it runs, so a process survives a lost connection, and its output is available at the next
poll.
"""

from typing import Final

from anyio import move_on_after

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import CommandResult, OutputSnapshot
from hermes_acp.core.word_breaks import trim_from_break, trim_to_break
from hermes_acp.workspaces.command_output import BoundedOutput, WordJoiner
from hermes_acp.workspaces.remote.command_scripts import kill_script, poll_script, write_script
from hermes_acp.workspaces.remote.remote_host import Host

KEPT_BYTES: Final = 16 * 1024
MAX_SENT_BYTES: Final = 2 * KEPT_BYTES
MAX_POLL_INTERVAL_S: Final = 20.0
CHUNK_BYTES: Final = 8 * 1024
WRITE_TIMEOUT_S: Final = 15.0
KILL_TIMEOUT_S: Final = 15.0
END_OF_INPUT: Final = "\x04"
KILLED: Final = 137


class RemoteProcess:
    """One launched command, identified by its short name and its mark."""

    def __init__(
        self, host: Host, name: str, line: str, mark: str, *, in_terminal: bool, is_confined: bool = False
    ) -> None:
        self.name = name
        self.line = line
        self.is_confined = is_confined
        self._in_terminal = in_terminal
        self._host = host
        self._mark = mark
        self._leader = 0
        self._seen = 0
        self._words = WordJoiner()
        self._end: CommandResult | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the process is known to have ended."""
        return self._end is not None

    def begin(self, leader: int) -> None:
        """Record the ID of the remote process that leads the command."""
        self._leader = leader

    def give_up(self) -> None:
        """Record that the process never started."""
        self._end = CommandResult("", None)

    async def read(self, wait_s: float) -> OutputSnapshot:
        """Return the output since the last read; wait for some output, then for a brief pause in it or its end."""
        left_s = max(0.0, wait_s)
        while True:
            once_s = min(left_s, MAX_POLL_INTERVAL_S)
            sight = await self._poll(once_s)
            left_s -= once_s
            if sight.output or sight.end or left_s <= 0:
                return sight

    async def _poll(self, wait_s: float) -> OutputSnapshot:
        script = poll_script(self._host.folder, self.name, self._seen, wait_s, MAX_SENT_BYTES)
        done = await self._host.call(script)
        head, _, content = done.output.partition(b"\n")
        match head.decode("ascii", "replace").split():
            case [size, code] if size.isdigit():
                self._record_exit(code)
            case _:
                raise WorkspaceError(
                    f"{self._host.name} no longer knows {self.name}.", hint="Start it again."
                )
        new = int(size) - self._seen
        self._seen = int(size)
        return OutputSnapshot(self._words.join(_elide_middle(content, new)), self._end)

    def _record_exit(self, code: str) -> None:
        if self._end is None and code != "none":
            self._end = CommandResult("", int(code) if code.isdigit() else KILLED)

    async def write(self, text: str) -> None:
        """Send input; a final U+0004 ends the input. Raises WorkspaceError if the process no longer accepts any."""
        ends = text.endswith(END_OF_INPUT) and not self._in_terminal
        data = text.removesuffix(END_OF_INPUT if ends else "").encode("utf-8", "replace")
        pieces = [data[at : at + CHUNK_BYTES] for at in range(0, len(data) or 1, CHUNK_BYTES)]
        for number, piece in enumerate(pieces, 1):
            is_last = number == len(pieces)
            script = write_script(self._host.folder, self.name, piece, ends=ends and is_last)
            done = await self._host.call(script, max_wait_s=WRITE_TIMEOUT_S)
            if self.has_ended or done.output or done.code:
                raise WorkspaceError(
                    f"{self.name} accepts no more input.", hint="Read its output to see how it ended."
                )

    async def kill(self) -> None:
        """Kill the process and everything it started; on return, no such process is left. Raises WorkspaceError."""
        is_ended = False
        with move_on_after(KILL_TIMEOUT_S, shield=True):
            done = await self._host.call(kill_script(self._mark, self._leader))
            is_ended = b"struck" in done.output
        if not is_ended:
            raise WorkspaceError(f"{self.name} could not be killed.", hint="Check the processes there.")
        self._end = self._end or CommandResult("", KILLED)


def _elide_middle(content: bytes, size_bytes: int) -> str:
    """Return output as text; if only its start and end were sent, a line between them says so."""
    output = BoundedOutput(KEPT_BYTES)
    if size_bytes <= len(content):
        output.take(content)
        return output.text()
    half = len(content) // 2
    head, tail = trim_to_break(content[:half]), trim_from_break(content[half:])
    left_out = size_bytes - len(head) - len(tail)
    gap = f"\n[… {left_out:,} of {size_bytes:,} bytes left out here …]\n"
    return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")
