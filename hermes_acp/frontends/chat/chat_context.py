"""The type of the chat's slash commands, and the context in which they run."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from hermes_acp_client.errors import AgentError
from msgspec import Struct
from rich.console import RenderableType

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.agent.agent_link import AgentLink, SessionRequest
from hermes_acp.frontends.chat.agent.open_session_status import LATE_OPTIONS, SessionStatus, values_of
from hermes_acp.frontends.chat.rendering.session_renderer import SessionRenderer
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import Gesture, Screen
from hermes_protocol import v1


class CommandContext:
    """The parts of a chat that commands can use."""

    def __init__(
        self,
        screen: Screen,
        layout: TranscriptLayout,
        session_renderer: SessionRenderer,
        session_status: SessionStatus,
        link: AgentLink,
        cwd: str,
        is_foreign: Callable[[str], bool],
    ) -> None:
        """Store the parts; `is_foreign` returns whether a path belongs to another profile."""
        self.is_foreign = is_foreign
        self.screen = screen
        self.layout = layout
        self.session_renderer = session_renderer
        self.session_status = session_status
        self.link = link
        self.cwd = cwd
        self.listed: list[v1.SessionInfo] = []
        self.is_leaving = False

    async def tell(self, text: str, style: str = "dim") -> None:
        """Show a short remark."""
        await self.screen.write(self.layout.remark(text, style))

    async def show(self, markdown: str) -> None:
        """Show Markdown."""
        await self.screen.write(self.layout.message(markdown))

    async def draw(self, *parts: RenderableType) -> None:
        """Show something drawn by the caller."""
        await self.screen.write(self.layout.drawing(*parts))

    async def switch(self, request: SessionRequest) -> bool:
        """Open another session, or report why it could not be opened; return whether it was opened."""
        await self.screen.write(self.layout.change_session())
        try:
            await self.link.switch(request)
        except AgentError as error:
            await self.screen.write(self.layout.change_session(is_undone=True))
            await self.tell(messages.session_not_opened(error.sentence), "red")
            return False
        return True

    async def begin_session(self) -> None:
        """Open a new session."""
        if await self.switch(SessionRequest()):
            await self.tell(messages.NEW_SESSION)

    async def set_option(self, name: str, wanted: str) -> None:
        """Set an option to a value, given by name or number; without a value, list the values and ask."""
        status = self.session_status
        option = await status.wait_for_option(name) if name in LATE_OPTIONS else status.option(name)
        if option is None:
            await self.tell(messages.unknown_option(name), "yellow")
            return
        values = values_of(option)
        if not wanted:
            wanted = await self._pick(name, [value.name for value in values], [v.description for v in values])
        if not wanted:
            return
        chosen = values[int(wanted) - 1].value if _is_number_of(wanted, values) else wanted
        chosen = next((value.value for value in values if value.name.lower() == chosen.lower()), chosen)
        if await self._apply(option, chosen):
            await self.tell(
                messages.option_set(sanitize_line(option.name), self.session_status.current(name))
            )

    async def cycle_option(self, name: str) -> None:
        """Set an option to the value after its current one."""
        option = self.session_status.option(name)
        values = [value.value for value in values_of(option)] if option else []
        if option and len(values) > 1:
            now = self.session_status.current(name)
            at = values.index(now) if now in values else -1
            await self._apply(option, values[(at + 1) % len(values)])

    async def _apply(self, option: v1.SessionConfigOption, value: str) -> bool:
        """Set an option; report why it could not be set."""
        try:
            session = await self.link.session()
            is_switch = isinstance(option, v1.SessionConfigOptionBoolean)
            await session.set_option(option.id, value == "on" if is_switch else value)
        except AgentError as error:
            await self.tell(error.sentence, "red")
            return False
        self.session_status.options = session.options
        return True

    async def _pick(self, name: str, names: Sequence[str], abouts: Sequence[str]) -> str:
        now = self.session_status.current(name)
        rows = "\n".join(
            f"{number}. {label}{f' — {about}' if about else ''}"
            for number, (label, about) in enumerate(zip(names, abouts, strict=True), 1)
        )
        await self.show(f"{messages.option_heading(name, now)}\n\n{rows}")
        line = await self.screen.read_line(f"  {messages.PICK_NUMBER}", is_expected=True)
        return "" if isinstance(line, Gesture) else line.strip()


class ChatCommand(Struct, frozen=True):
    """One slash command.

    `run` gets the text after the command's name; `option` is the option whose values complete that text. A command
    that `needs_idle` is refused during a turn.
    """

    description: str
    run: Callable[[CommandContext, str], Awaitable[None]]
    hint: str = ""
    option: str = ""
    needs_idle: bool = False


def _is_number_of(text: str, values: Sequence[object]) -> bool:
    return text.isdecimal() and 1 <= int(text) <= len(values)


COMMANDS: Final = PluginFolder[ChatCommand]("hermes_acp.frontends.chat.commands", "COMMAND")
