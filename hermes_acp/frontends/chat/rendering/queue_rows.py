"""Draw the prompts that no turn has used yet."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line

MIN_ROWS: Final = 2
MAX_ROWS: Final = 6
LABEL_COLUMNS: Final = 16


def queue_rows(steering: Sequence[str], waiting: Sequence[str], rows: int, columns: int) -> list[Text]:
    """Draw one row for each prompt, in about half of `rows`; the last row counts those that do not fit."""
    space = max(MIN_ROWS, min(MAX_ROWS, rows // 2))
    prompts = [(prompt, messages.STEERING) for prompt in steering]
    prompts += [(prompt, messages.QUEUED) for prompt in waiting]
    shown = len(prompts) if len(prompts) <= space else space - 1
    lines = [
        f"❯ {clip(sanitize_line(prompt), columns - LABEL_COLUMNS)}  ({fate})"
        for prompt, fate in prompts[:shown]
    ]
    if shown < len(prompts):
        lines.append(messages.more_queued(len(prompts) - shown))
    return [Text(line, style="dim") for line in lines]
