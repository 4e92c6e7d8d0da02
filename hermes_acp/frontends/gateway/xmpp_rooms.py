"""Join XMPP rooms, without their history, and report failures.

Source: XEP-0045.
"""

from importlib import import_module
from typing import Any, Final

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.port.platform_port import Place, PlatformContext, PlatformError

TIMEOUT_S: Final = 20.0


class XmppRooms:
    """The configured rooms of a connection. `nicks` contains the agent's nick in each room that it has joined."""

    def __init__(self, context: PlatformContext, client: Any) -> None:
        self._context = context
        self._client = client
        self._muc = client.plugin["xep_0045"]
        self.nicks: dict[str, str] = {}

    async def join(self) -> None:
        """Join the rooms that the agent is not in, and report those that cannot be joined."""
        errors: Any = import_module("slixmpp.exceptions")
        wanted: str = self._context.settings.nick
        refused: dict[str, str] = {}
        for room in self._context.rooms:
            nick = self.nicks.get(room, wanted)
            if room in self.nicks and self._muc.rooms.get(None, {}).get(jid(room), {}).get(nick):
                continue
            self.nicks.pop(room, None)
            try:
                await self._muc.join_muc_wait(jid(room), wanted, maxstanzas=0, timeout=TIMEOUT_S)
            except errors.PresenceError as error:  # joining is retried later, and messages to the room wait
                found = error.presence["error"]
                refused[room] = str(found["text"] or found["condition"])
            except TimeoutError:
                refused[room] = messages.NO_ANSWER_IN_TIME
            else:
                self.nicks[room] = wanted
        await self._context.report_rooms(refused)

    def check(self, place: Place) -> None:
        """Raise PlatformError unless messages to a place can be sent."""
        if not place.is_direct and place.room not in self.nicks:
            raise PlatformError(messages.xmpp_not_in_room(place.room))

    def take_refusal(self, stanza: Any) -> None:
        """End an attempt to join that was refused; the library does not recognise the refusals of all servers."""
        room = str(stanza["from"].bare)
        if room in self._context.rooms:
            self._client.event(f"muc::{room}::presence-error", stanza)

    def sender(self, room: str, nick: str) -> str:
        """Return the bare address of a member, or an empty string if the room hides it."""
        found = self._muc.get_jid_property(jid(room), nick, "jid")
        return str(jid(str(found)).bare) if found else ""


def jid(address: str) -> Any:
    """Convert an address to the library's type."""
    library: Any = import_module("slixmpp")
    return library.JID(address)
