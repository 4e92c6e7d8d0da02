"""Recognise slash commands, and list their names."""

import os
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.chat.chat_context import COMMANDS
from hermes_protocol import v1

COMMAND: Final = re.compile(r"/([A-Za-z][\w:.-]*)(?:\s+(.*))?\Z", re.DOTALL)
SHELL: Final = "shell"
ALIASES: Final = MappingProxyType({"exit": "quit"})
UNLISTED: Final = frozenset({"mcp"})
"""Commands that the agent announces only in some sessions."""


def as_command(line: str) -> str:
    """Replace `!ls` with the slash command that runs it, and `?` with /help; return other lines unchanged."""
    typed = line.strip()
    if typed == "?":
        return "/help"
    return f"/{SHELL} {typed[1:].strip()}" if typed.startswith("!") and typed[1:].strip() else line


def split_command(line: str) -> tuple[str, str]:
    """Return a command's name and the words after it; both are empty for a prompt, even one that starts with a path."""
    found = COMMAND.match(line.strip())
    if found is None or (found[1] not in COMMANDS and os.path.exists(f"/{found[1]}")):
        return "", ""
    return ALIASES.get(found[1], found[1]), (found[2] or "").strip()


def known_names(commands: Iterable[v1.AvailableCommand]) -> Sequence[str]:
    """Return the names of the chat's own commands and of the agent's."""
    return sorted({*COMMANDS, *ALIASES, *UNLISTED, *(command.name for command in commands)})


def closest(name: str, names: Sequence[str]) -> str:
    """Return the name that was probably meant, or an empty string."""
    return next(iter(get_close_matches(name.lower(), names, n=1)), "")
