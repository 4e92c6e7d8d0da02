"""A command that was launched on a machine elsewhere, and the files there through which it is looked after.

Knows: the scripts that look, write and end. Does not know: how the machine is reached.
Nothing has to listen meanwhile, so a process outlives a broken line, and its output is there at the next look.
"""

from typing import Final

from anyio import move_on_after

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.core.exchanges import CommandEnd, Sight
from hermes_acp.core.word_breaks import from_a_break, to_a_break
from hermes_acp.workspaces.output import BoundedOutput, WholeWords
from hermes_acp.workspaces.remote.hosts import Host
from hermes_acp.workspaces.remote.scripts import look_script, strike_script, write_script

KEPT_BYTES: Final = 16 * 1024
MOST_SENT_BYTES: Final = 2 * KEPT_BYTES
LONGEST_LOOK_S: Final = 20.0
PIECE_BYTES: Final = 8 * 1024
WRITE_S: Final = 5.0
STRIKE_S: Final = 15.0
END_OF_INPUT: Final = "\x04"
KILLED: Final = 137


class FarProcess:
    """One launched command, known by its short name and its mark."""

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
        self._words = WholeWords()
        self._end: CommandEnd | None = None

    @property
    def has_ended(self) -> bool:
        """Whether it is known to have come to its end."""
        return self._end is not None

    def begin(self, leader: int) -> None:
        """Take the number of the process that leads it there."""
        self._leader = leader

    def give_up(self) -> None:
        """It never began."""
        self._end = CommandEnd("", None)

    async def read(self, wait_s: float) -> Sight:
        """Give what came since the last look; waits for something, then for a moment of quiet, or for the end."""
        left_s = max(0.0, wait_s)
        while True:
            once_s = min(left_s, LONGEST_LOOK_S)
            sight = await self._look(once_s)
            left_s -= once_s
            if sight.output or sight.end or left_s <= 0:
                return sight

    async def _look(self, wait_s: float) -> Sight:
        script = look_script(self._host.folder, self.name, self._seen, wait_s, MOST_SENT_BYTES)
        done = await self._host.call(script)
        head, _, content = done.output.partition(b"\n")
        match head.decode("ascii", "replace").split():
            case [size, code] if size.isdigit():
                self._learn(code)
            case _:
                raise WorkspaceTrouble(
                    f"{self._host.name} does not know {self.name} any more.", hint="Start it again."
                )
        new = int(size) - self._seen
        self._seen = int(size)
        return Sight(self._words.join(_without_middle(content, new)), self._end)

    def _learn(self, code: str) -> None:
        if self._end is None and code != "none":
            self._end = CommandEnd("", int(code) if code.isdigit() else KILLED)

    async def write(self, text: str) -> None:
        """Give it input; a final U+0004 ends the input. Raises WorkspaceTrouble where it takes none any more."""
        ends = text.endswith(END_OF_INPUT) and not self._in_terminal
        data = text.removesuffix(END_OF_INPUT if ends else "").encode("utf-8", "replace")
        pieces = [data[at : at + PIECE_BYTES] for at in range(0, len(data) or 1, PIECE_BYTES)]
        for number, piece in enumerate(pieces, 1):
            is_last = number == len(pieces)
            script = write_script(self._host.folder, self.name, piece, ends=ends and is_last)
            done = await self._host.call(script, patience_s=WRITE_S)
            if self.has_ended or done.output or done.code:
                raise WorkspaceTrouble(f"{self.name} takes no input any more.", hint="Read how it ended.")

    async def kill(self) -> None:
        """End it with all it started; nothing of it is left on return. Raises WorkspaceTrouble."""
        is_ended = False
        with move_on_after(STRIKE_S, shield=True):
            done = await self._host.call(strike_script(self._mark, self._leader))
            is_ended = b"struck" in done.output
        if not is_ended:
            raise WorkspaceTrouble(f"{self.name} could not be ended.", hint="Look at the processes there.")
        self._end = self._end or CommandEnd("", KILLED)


def _without_middle(content: bytes, size_bytes: int) -> str:
    """Give output as text; where only its two ends were sent, a line between them says so."""
    output = BoundedOutput(KEPT_BYTES)
    if size_bytes <= len(content):
        output.take(content)
        return output.text()
    half = len(content) // 2
    head, tail = to_a_break(content[:half]), from_a_break(content[half:])
    left_out = size_bytes - len(head) - len(tail)
    gap = f"\n[… {left_out:,} of {size_bytes:,} bytes left out here …]\n"
    return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")
