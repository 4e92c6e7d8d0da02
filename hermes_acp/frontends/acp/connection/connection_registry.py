"""The clients that are connected to one app.

Knows: who is there. Does not know: what any of them is told.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_acp.frontends.acp.connection.client_connection import ClientConnection


class ConnectionRegistry:
    """The open desks of one process."""

    def __init__(self) -> None:
        self._clients: dict[int, ClientConnection] = {}

    @property
    def clients(self) -> "tuple[ClientConnection, ...]":
        """Everybody who is there now, in the order they came."""
        return tuple(self._clients.values())

    def enter(self, client: "ClientConnection") -> None:
        """Note somebody who came."""
        self._clients[id(client)] = client

    def leave(self, client: "ClientConnection") -> None:
        """Forget somebody who is going."""
        self._clients.pop(id(client), None)
