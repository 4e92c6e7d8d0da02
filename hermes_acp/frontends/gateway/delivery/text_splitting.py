"""Split long text into messages, at sensible positions and with complete code blocks.

When the text grows, only the last message changes. A code block that continues in the next message is closed in one
message and reopened in the next.
"""

import re
from html import escape
from typing import Final

from hermes_acp.frontends.gateway.port.platform_port import Limits

MIN_SHARE: Final = 0.5
"""The minimum fraction of the maximum length that a message uses, unless it is the last one."""
CLOSING: Final = 8
"""The number of characters reserved for closing a code block."""
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
_BREAKS: Final = (re.compile(r"\n\n"), re.compile(r"\n"), re.compile(r"[.!?…] "), re.compile(r"\s"))
MAX_REOPENED: Final = 40


def split_text(text: str, limits: Limits) -> list[str]:
    """Split a text into messages; white space alone gives none."""
    messages: list[str] = []
    opener = ""
    rest = text
    while rest.strip():
        head = f"{opener}\n" if opener else ""
        room = limits.max_length - length(head, limits) - CLOSING
        if length(rest, limits) <= room:
            messages.append(_closed(f"{head}{rest}".strip("\n").rstrip(), _open_fence(f"{head}{rest}")))
            break
        end = _break(rest, _longest(rest, room, limits), in_code=bool(opener))
        part, rest = rest[:end], rest[end:]
        opener = _open_fence(f"{head}{part}")
        messages.append(_closed(f"{head}{part}".strip("\n").rstrip(), opener))
        rest = rest.removeprefix("\n") if opener else rest.lstrip()
    return [message for message in messages if message.strip()]


def length(text: str, limits: Limits) -> int:
    """Return the length of a text in the platform's unit."""
    if limits.unit == "bytes":
        return len(text.encode("utf-8", "replace"))
    if limits.unit == "utf16":
        return len(text.encode("utf-16-le", "replace")) // 2
    if limits.unit == "escaped":
        return len(escape(text, quote=False))
    return len(text)


def _longest(text: str, room: int, limits: Limits) -> int:
    """Return how many characters fit into `room`, at least one."""
    if limits.unit == "characters":
        return max(1, room)
    low, high = 1, min(len(text), max(1, room))
    while low < high:
        middle = (low + high + 1) // 2
        if length(text[:middle], limits) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _break(text: str, longest: int, *, in_code: bool) -> int:
    """Return the best position for splitting a text, after at most `longest` characters.

    The end of a paragraph is preferred, then of a line, then of a sentence. Code is split only between lines.
    """
    window, least = text[:longest], int(longest * MIN_SHARE)
    for pattern in _BREAKS:
        ends = [found.end() for found in pattern.finditer(window) if found.end() > least]
        outside = [end for end in ends if not (in_code or _open_fence(window[:end]))]
        if outside:
            return outside[-1]
        if ends and pattern is _BREAKS[1]:
            return ends[-1]
    return longest


def _open_fence(text: str) -> str:
    """Return the opening line of the code block in which a text ends, or an empty string."""
    opener = ""
    for found in _FENCE.finditer(text):
        mark, info = found[1], found[2].strip()
        if not opener:
            opener = f"{mark}{info[: MAX_REOPENED - len(mark)]}"
        elif mark[0] == opener[0] and len(mark) >= len(_mark(opener)) and not info:
            opener = ""
    return opener


def _mark(opener: str) -> str:
    return opener[: len(opener) - len(opener.lstrip(opener[0]))]


def _closed(text: str, opener: str) -> str:
    return f"{text}\n{_mark(opener)}" if opener and text.strip() else text
