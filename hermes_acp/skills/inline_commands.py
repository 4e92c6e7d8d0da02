"""Find commands that a skill's text embeds for their output: !`git status`, and blocks fenced as ```!.

Loading a skill runs nothing. A note tells the model to run them with its tool, where the policy checks them like any
other command. Source: Claude Code, "Extend Claude with skills", dynamic context.
"""

import re
from typing import Final

INLINE: Final = re.compile(r"(?<!\S)!`([^`\n]+)`|^```!\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
MAX_LISTED: Final = 20
TOLD: Final = (
    "[Where !`…` or a block after ```! stands above, the output of that command is meant. Nothing was run: run these "
    "with the tool terminal first, as far as the task needs them:]"
)


def with_commands(body: str) -> str:
    """Return a skill's text with a note on any commands in it."""
    found = (one or "; ".join(block.split("\n")).strip("; ") for one, block in INLINE.findall(body))
    commands = list(dict.fromkeys(command.strip() for command in found if command.strip()))[:MAX_LISTED]
    return "\n".join((body, "", TOLD, *(f"- {command}" for command in commands))) if commands else body
