"""Slash commands: the built-in ones and the prompts from a session's sources."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from hermes_acp.agent.turn.ledger import Ledger
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import CommandsChanged
from hermes_acp.core.messages import Part, words_in
from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.tool_sources import ToolSources


class OfferedCommand(Struct, frozen=True):
    """A command as users see it. `hint` describes the words after its name and may be empty."""

    name: str
    description: str
    hint: str = ""


class SlashCommand(Struct, frozen=True):
    """A command: its name without the slash, its description, and the function that answers it."""

    name: str
    description: str
    answer: Callable[[Record], Awaitable[str]]


class TurnCommand(Struct, frozen=True):
    """A command that asks the model: it runs as a turn, can be stopped, and returns text.

    `run` receives the words after its name; `hint` describes them. A command that `needs_servers` is listed only in
    sessions with tool servers, but it also works elsewhere.
    """

    name: str
    description: str
    hint: str
    run: Callable[[Turn, str], Awaitable[str]]
    needs_servers: bool = False


class ActingCommand(Struct, frozen=True):
    """A command that is a turn of the conversation: the model sees its effect, now or later.

    `act` receives the words after its name, which `hint` describes, and runs the turn to its ending.
    """

    name: str
    description: str
    hint: str
    act: Callable[[Turn, str], Awaitable[Ending]]


class SlashCommands:
    """The built-in commands, in the order in which they are listed."""

    def __init__(
        self,
        answered: tuple[SlashCommand, ...],
        in_turns: tuple[TurnCommand, ...] = (),
        acting: tuple[ActingCommand, ...] = (),
    ) -> None:
        self._answered = answered
        self._in_turns = in_turns
        self._acting = acting

    def offered(self, *, has_servers: bool) -> tuple[OfferedCommand, ...]:
        """Return the commands to list in a session."""
        return (
            *(OfferedCommand(command.name, command.description) for command in self._answered),
            *(
                OfferedCommand(command.name, command.description, command.hint)
                for command in self._in_turns
                if has_servers or not command.needs_servers
            ),
            *(OfferedCommand(command.name, command.description, command.hint) for command in self._acting),
        )

    def find(self, prompt: str) -> SlashCommand | None:
        """Return the command that is the whole prompt; None for anything else, including a path or an unknown name."""
        words = prompt.strip().split()
        if len(words) != 1 or not words[0].startswith("/"):
            return None
        return next((command for command in self._answered if command.name == words[0][1:]), None)

    def find_turn_command(self, prompt: str) -> TurnCommand | None:
        """Return the turn command at the start of a prompt, whatever words follow it; None for anything else."""
        name, _ = split_command(prompt)
        return next((command for command in self._in_turns if command.name == name), None)

    def find_acting(self, prompt: str) -> ActingCommand | None:
        """Return the acting command at the start of a prompt, whatever words follow it; None for anything else."""
        name, _ = split_command(prompt)
        return next((command for command in self._acting if command.name == name), None)

    def has(self, prompt: str) -> bool:
        """Return whether the prompt invokes one of these commands."""
        return any(find(prompt) for find in (self.find, self.find_turn_command, self.find_acting))


class CommandMenu:
    """The slash commands that one session offers."""

    def __init__(self, own: SlashCommands, sources: ToolSources, ledger: Ledger) -> None:
        self._own = own
        self._sources = sources
        self._ledger = ledger
        self._announced = self.offered

    @property
    def offered(self) -> tuple[OfferedCommand, ...]:
        """The built-in commands, followed by the prompts from the session's sources."""
        prompts = sorted(self._sources.templates().items())
        return (
            *self._own.offered(has_servers=self._sources.has_servers),
            *(OfferedCommand(name, prompt.description, prompt.hint) for name, prompt in prompts),
        )

    def announce(self) -> None:
        """Show the available commands if they have changed since they were last shown."""
        offered = self.offered
        if offered != self._announced:
            self._announced = offered
            self._ledger.show(CommandsChanged())

    def lists(self, parts: tuple[Part, ...]) -> bool:
        """Return whether the prompt invokes an available command."""
        text = words_in(parts)
        return self._own.has(text) or split_command(text)[0] in self._sources.templates()


def split_command(prompt: str) -> tuple[str, str]:
    """Return the name after the slash at the start of a prompt, and the words after it; both empty without a slash."""
    prompt = prompt.strip()
    if not prompt.startswith("/") or not prompt[1:2].strip():
        return "", ""
    name, *words = prompt[1:].split(None, 1)
    return name, "".join(words)
