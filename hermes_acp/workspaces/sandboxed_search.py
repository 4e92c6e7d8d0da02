"""Run searches in a sandbox, because running commands could redirect them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.workspaces.ripgrep_process import SearchEnd, read_end

MAX_OUTPUT_BYTES: Final = 1 << 26


class SearchOutput(Struct, frozen=True):
    """The output of ripgrep, including error messages; unless `is_whole` is set, the end is missing.

    `exit_code` is None if ripgrep was killed.
    """

    content: bytes
    is_whole: bool
    exit_code: int | None = 0

    def end(self, complaint: str, timeout_s: float) -> SearchEnd:
        """Return how the search ended."""
        if len(self.content) > MAX_OUTPUT_BYTES:
            return SearchEnd(broken_off=f"it found more than {MAX_OUTPUT_BYTES >> 20} MB")
        if not self.is_whole:
            return SearchEnd(broken_off=f"its time limit of {timeout_s:.0f} s was reached")
        if self.exit_code is None:
            return SearchEnd(broken_off="ripgrep was killed")
        return read_end(self.exit_code, complaint)


SandboxedSearch = Callable[[Sequence[str], str, float], Awaitable[SearchOutput | None]]
"""A function that runs ripgrep sandboxed in a folder with a timeout in seconds, or returns None if unneeded."""


async def search_directly(argv: Sequence[str], folder: str, timeout_s: float) -> SearchOutput | None:
    """Return None, because there is nothing that could redirect the search."""
    del argv, folder, timeout_s
    return None


def split_output(output: SearchOutput, end: bytes) -> tuple[list[bytes], str]:
    """Separate messages and absolute paths from error messages; a truncated end is dropped."""
    pieces = output.content.split(end)
    whole = [each for each in (pieces if output.is_whole else pieces[:-1]) if each]
    lines = [each for each in whole if each[:1] in (b"/", b"{")]
    strange = b"\n".join(each for each in whole if each[:1] not in (b"/", b"{"))
    return lines, strange[:4096].decode("utf-8", "replace")
