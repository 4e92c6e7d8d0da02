"""What completion offers: the chat's own commands and the agent's, and the values of options.

Knows: where each comes from. Does not know: what is typed.
"""

from hermes_acp.core.drawers import Drawer
from hermes_acp.faces.chat.completing import Offered
from hermes_acp.faces.chat.lettering import harmless_line
from hermes_acp.faces.chat.slash import ChatCommand
from hermes_acp.faces.chat.standing import Standing, values_of
from hermes_protocol import v1


class Offering:
    """Everything that may stand behind a slash now."""

    def __init__(self, standing: Standing, drawer: Drawer[ChatCommand]) -> None:
        self._standing = standing
        self._drawer = drawer

    def commands(self) -> list[Offered]:
        """List commands by their names; the chat's own win."""
        own = {name: self._drawer.open(name) for name in self._drawer}
        offered = [Offered(name, command.description, command.hint) for name, command in own.items()]
        for command in self._standing.commands:
            name = harmless_line(command.name)
            if name not in own:
                offered.append(Offered(name, command.description, _hint(command)))
        return sorted(offered, key=lambda each: each.name)

    def values(self, command: str) -> list[Offered]:
        """List what may stand behind a command's name."""
        if command not in self._drawer:
            return []
        option = self._standing.option(self._drawer.open(command).option)
        return (
            [Offered(value.value, value.description or value.name) for value in values_of(option)]
            if option
            else []
        )


def _hint(command: v1.AvailableCommand) -> str:
    return command.input.hint if isinstance(command.input, v1.UnstructuredCommandInput) else ""
