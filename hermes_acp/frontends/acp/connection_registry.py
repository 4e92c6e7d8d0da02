"""The clients that are at the door of one house.

Knows: who is there. Does not know: what any of them is told.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_acp.faces.acp.desk import Desk


class Hall:
    """The open desks of one process."""

    def __init__(self) -> None:
        self._desks: dict[int, Desk] = {}

    @property
    def desks(self) -> "tuple[Desk, ...]":
        """Everybody who is there now, in the order they came."""
        return tuple(self._desks.values())

    def enter(self, desk: "Desk") -> None:
        """Note somebody who came."""
        self._desks[id(desk)] = desk

    def leave(self, desk: "Desk") -> None:
        """Forget somebody who is going."""
        self._desks.pop(id(desk), None)
