"""Searches that are run apart, as something at work in the folders could lead them astray.

Knows: what such a search gives back. Does not know: how it is run, what its output means.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

MAX_OUTPUT_BYTES: Final = 1 << 26


class SearchOutput(Struct, frozen=True):
    """What ripgrep put out, complaints among it; the end is missing where it is not whole."""

    content: bytes
    is_whole: bool


SandboxedSearch = Callable[[Sequence[str], str, float], Awaitable[SearchOutput | None]]
"""Runs ripgrep in a folder for so many seconds where nothing leads it astray; None where nothing could anyway."""


async def search_directly(argv: Sequence[str], folder: str, timeout_s: float) -> SearchOutput | None:
    """Tell that nothing could lead a search astray."""
    del argv, folder, timeout_s
    return None


def split_output(output: SearchOutput, end: bytes) -> tuple[list[bytes], str]:
    """Part messages and paths, which are absolute, from complaints; what was cut off is left out."""
    pieces = output.content.split(end)
    whole = [each for each in (pieces if output.is_whole else pieces[:-1]) if each]
    lines = [each for each in whole if each[:1] in (b"/", b"{")]
    strange = b"\n".join(each for each in whole if each[:1] not in (b"/", b"{"))
    return lines, strange[:4096].decode("utf-8", "replace")
