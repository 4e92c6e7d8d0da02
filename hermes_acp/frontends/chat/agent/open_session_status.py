"""The state of the open session: its options, commands and usage."""

import anyio
from msgspec import Struct

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.terminal_text import clip, sanitize_line
from hermes_protocol import v1

MAX_TITLE_LENGTH = 40
CALL_TIMEOUT_S = 10.0
LATE_OPTIONS = frozenset({"model", "effort", "provider"})
"""Options whose values are known only once the list of models is."""


class OptionValue(Struct, frozen=True):
    """One value of an option."""

    value: str
    name: str
    description: str = ""


class SessionStatus:
    """The state of the open session, for the status line and for completion."""

    def __init__(self) -> None:
        self.options: tuple[v1.SessionConfigOption, ...] = ()
        self.commands: tuple[v1.AvailableCommand, ...] = ()
        self.title = ""
        self._used = 0
        self._size = 0
        self._cost: v1.Cost | None = None
        self._change = anyio.Event()

    async def wait_for_option(self, name: str) -> v1.SessionConfigOption | None:
        """Return the option with this ID; wait for it, because some arrive after the session was opened."""
        with anyio.move_on_after(CALL_TIMEOUT_S):
            while self.option(name) is None:
                await self._change.wait()
        return self.option(name)

    async def wait_for_commands(self) -> tuple[v1.AvailableCommand, ...]:
        """Return the agent's commands; wait for them, because they arrive after the session was opened."""
        with anyio.move_on_after(CALL_TIMEOUT_S):
            while not self.commands:
                await self._change.wait()
        return self.commands

    def begin(self) -> None:
        """Reset the title and the usage for a new session, whose options have already been set."""
        self.title, self._used, self._size, self._cost = "", 0, 0, None

    def take(self, update: v1.SessionUpdate) -> None:
        """Apply an update."""
        self._change.set()
        self._change = anyio.Event()
        match update:
            case v1.ConfigOptionUpdate(config_options=options):
                self.options = tuple(options)
            case v1.AvailableCommandsUpdate(available_commands=commands):
                self.commands = tuple(commands)
            case v1.SessionInfoUpdate(title=str(title)):
                self.title = sanitize_line(title)
            case v1.UsageUpdate(used=used, size=size, cost=cost):
                self._used, self._size = used, size
                self._cost = cost or self._cost
            case _:
                pass

    def option(self, name: str) -> v1.SessionConfigOption | None:
        """Return the option with this ID, or None."""
        return next((option for option in self.options if option.id == name), None)

    def current(self, name: str) -> str:
        """Return the value of the option with this ID, or an empty string if it does not exist."""
        option = self.option(name)
        if option is None:
            return ""
        value = option.current_value
        return ("on" if value else "off") if isinstance(value, bool) else sanitize_line(value)

    def line(self, width: int) -> str:
        """Return the status line, with as many as fit of: model, mode, context, cost, title."""
        effort = self.current("effort")
        parts = [
            self.current("model"),
            self.current("mode"),
            messages.effort(effort) if effort not in ("", "default") else "",
            self._context(),
            f"${self._cost.amount:.2f}" if self._cost and self._cost.currency == "USD" else "",
            clip(self.title, MAX_TITLE_LENGTH),
        ]
        return clip(" · ".join(part for part in parts if part), max(1, width - 1))

    def _context(self) -> str:
        if not self._size:
            return ""
        return messages.context_used(100 * self._used // self._size, _short(self._size))


def values_of(option: v1.SessionConfigOption) -> tuple[OptionValue, ...]:
    """List the possible values of an option."""
    if isinstance(option, v1.SessionConfigOptionBoolean):
        return (OptionValue("on", "on"), OptionValue("off", "off"))
    found: list[OptionValue] = []
    for entry in option.options:
        offered = entry.options if isinstance(entry, v1.SessionConfigSelectGroup) else [entry]
        found += [
            OptionValue(each.value, sanitize_line(each.name), sanitize_line(each.description or ""))
            for each in offered
        ]
    return tuple(found)


def _short(count: int) -> str:
    return (
        f"{count / 1_000_000:g}M"
        if count >= 1_000_000
        else f"{count // 1000}k"
        if count >= 1000
        else str(count)
    )
