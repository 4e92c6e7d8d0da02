"""What completion offers: the chat's own commands and the agent's, and the values of options.

Knows: where each comes from. Does not know: what is typed.
"""

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.chat.agent.open_session_status import SessionStatus, values_of
from hermes_acp.frontends.chat.chat_context import ChatCommand
from hermes_acp.frontends.chat.input.line_completion import CompletionItem
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize_line
from hermes_protocol import v1


class CompletionSource:
    """Everything that may stand behind a slash now."""

    def __init__(self, session_status: SessionStatus, plugin_folder: PluginFolder[ChatCommand]) -> None:
        self._session_status = session_status
        self._plugins = plugin_folder

    def commands(self) -> list[CompletionItem]:
        """List commands by their names; the chat's own win."""
        own = {name: self._plugins.open(name) for name in self._plugins}
        offered = [CompletionItem(name, command.description, command.hint) for name, command in own.items()]
        for command in self._session_status.commands:
            name = sanitize_line(command.name)
            if name not in own:
                offered.append(CompletionItem(name, command.description, _hint(command)))
        return sorted(offered, key=lambda each: each.name)

    def values(self, command: str) -> list[CompletionItem]:
        """List what may stand behind a command's name."""
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
