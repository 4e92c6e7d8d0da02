"""Make untrusted text safe for a terminal.

All text from an agent, a model or a tool passes through this module before it is shown.
"""

import re
from typing import Final

CONTROL_CHARACTERS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]"
)
COLOURS: Final = re.compile("\x1b\\[[0-9;:]*m")
LINE_ENDS: Final = re.compile("\r+\n")
OVERWRITTEN: Final = re.compile("[^\n]*\r(?=[^\n])")
FENCE: Final = re.compile(r"\A(`{3,})[^\n`]*\n(.*?)\n?\1\s*\Z", re.DOTALL)
TAB_WIDTH: Final = 4


def sanitize(text: str) -> str:
    """Replace control characters with visible ones, keeping line endings and tabs."""
    return CONTROL_CHARACTERS.sub(_sign, LINE_ENDS.sub("\n", text))


def sanitize_line(text: str) -> str:
    """Return the text on one line: like `sanitize`, with line endings and tabs as spaces."""
    return " ".join(sanitize(text).split())


def output_text(text: str) -> str:
    """Return a program's output without colours and overwritten text, and with spaces instead of tabs."""
    unfenced = FENCE.sub(lambda found: found[2], text)
    kept = OVERWRITTEN.sub("", LINE_ENDS.sub("\n", COLOURS.sub("", unfenced)))
    return sanitize(kept.rstrip("\r")).expandtabs(TAB_WIDTH)


def clip(text: str, most: int) -> str:
    """Cut a line to at most `most` characters, ending in an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\u{code:04x}"
