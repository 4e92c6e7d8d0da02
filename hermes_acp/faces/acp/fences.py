"""Output as Markdown.

Knows: fences. Does not know: what carries the text.
"""

import re
from typing import Final

FENCE: Final = "```"
RUNS_OF_BACKTICKS: Final = re.compile("`{3,}")


def fenced(text: str) -> str:
    """Give output as a card shows it: several lines go into a fence longer than any they hold."""
    if "\n" not in text.rstrip("\n"):
        return text
    fence = FENCE
    if FENCE in text:
        fence = "`" * (1 + max(len(run) for run in RUNS_OF_BACKTICKS.findall(text)))
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}\n{text}{end}{fence}"
