"""Slash commands that the program answers itself.

Knows: how a prompt is recognised as a command. Does not know: what the model would have said.
"""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from hermes_acp.core.record import Record


class Command(Struct, frozen=True):
    """One command: its name without the slash, what it is for, how it is answered."""

    name: str
    description: str
    answer: Callable[[Record], Awaitable[str]]


class Commands:
    """The commands of a session, in the order they are offered."""

    def __init__(self, offered: tuple[Command, ...]) -> None:
        self.offered = offered

    def find(self, prompt: str) -> Command | None:
        """Give the command a prompt consists of; None for anything else, a path or an unknown name included."""
        words = prompt.strip().split()
        if len(words) != 1 or not words[0].startswith("/"):
            return None
        return next((command for command in self.offered if command.name == words[0][1:]), None)
