"""Format tool output as Markdown without control characters."""

import re
from typing import Final

from hermes_acp.lazy_pattern import LazyPattern

FENCE: Final = "```"
RUNS_OF_BACKTICKS: Final = LazyPattern("`{3,}")
COLOURS: Final = LazyPattern(r"\x1b\[[0-9;:]*m")
CONTROL_CHARACTERS: Final = LazyPattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def inert(text: str) -> str:
    """Remove colours, and escape characters that move the cursor, set a title or change the text direction."""
    if text.isascii() and text.isprintable():
        return text
    return CONTROL_CHARACTERS.compiled.sub(_sign, COLOURS.compiled.sub("", text.replace("\r\n", "\n")))


def _sign(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number < 0x20:
        return chr(0x2400 + number)
    return "\u2421" if number == 0x7F else f"\\u{number:04x}"


def fenced(text: str) -> str:
    """Format output for a card: inert; several lines go into a code fence that they cannot close."""
    text = inert(text)
    if "\n" not in text.rstrip("\n"):
        return text
    fence = FENCE
    if FENCE in text:
        fence = "`" * (1 + max(len(run) for run in RUNS_OF_BACKTICKS.compiled.findall(text)))
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}\n{text}{end}{fence}"
