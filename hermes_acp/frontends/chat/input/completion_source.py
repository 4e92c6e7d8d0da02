"""Provide completions: the commands of the chat and the agent, and the values of options."""

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus, values_of
from hermes_acp.frontends.chat.chat_context import ChatCommand
from hermes_acp.frontends.chat.input.line_completion import CompletionItem
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_protocol import v1


class CompletionSource:
    """Lists commands and their possible values."""

    def __init__(self, session_status: SessionStatus, plugin_folder: PluginFolder[ChatCommand]) -> None:
        self._session_status = session_status
        self._plugins = plugin_folder

    async def wait_for_commands(self) -> None:
        """Wait, but not for long, until the agent has announced its commands."""
        await self._session_status.wait_for_commands()

    def commands(self) -> list[CompletionItem]:
        """List all commands by name; the chat's own take precedence."""
        own = {name: self._plugins.open(name) for name in self._plugins}
        offered = [CompletionItem(name, command.description, command.hint) for name, command in own.items()]
        for command in self._session_status.commands:
            name = sanitize_line(command.name)
            if name not in own:
                offered.append(CompletionItem(name, command.description, _hint(command)))
        return sorted(offered, key=lambda each: each.name)

    def values(self, command: str) -> list[CompletionItem]:
        """List the values that may follow a command."""
        if command not in self._plugins:
            return []
        option = self._session_status.option(self._plugins.open(command).option)
        return (
            [CompletionItem(value.value, value.description or value.name) for value in values_of(option)]
            if option
            else []
        )


def _hint(command: v1.AvailableCommand) -> str:
    return command.input.hint if isinstance(command.input, v1.UnstructuredCommandInput) else ""
