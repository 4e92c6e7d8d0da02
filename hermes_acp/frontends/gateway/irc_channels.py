"""Join IRC channels, retry failed attempts, and report channels that cannot be joined."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.irc_connection import IrcConnection
from hermes_acp.frontends.gateway.irc_lines import Line, Members, plain_text
from hermes_acp.frontends.gateway.port.platform_port import PlatformContext

NOT_JOINED: Final = frozenset({"403", "405", "437", "471", "473", "474", "475", "476", "477", "489", "520"})


class IrcChannels:
    """The configured channels of a connection, including the lobby. `own_nick` returns the agent's current nick."""

    def __init__(
        self,
        connection: IrcConnection,
        context: PlatformContext,
        members: Members,
        own_nick: Callable[[], str],
        join_interval_s: float,
    ) -> None:
        self._connection = connection
        self._context = context
        self._members = members
        self._refusals: dict[str, str] = {}
        self._own_nick = own_nick
        self._join_interval_s = join_interval_s

    def take(self, line: Line) -> None:
        """Record why the server refused to let the agent join a channel."""
        if line.command in NOT_JOINED:
            self._refusals[self._members.fold(line.param(1))] = plain_text(line.params[-1])

    async def join(self) -> None:
        """Request to join the configured channels that the agent is not in."""
        for channel in self._missing():
            self._refusals.pop(self._members.fold(channel), None)
            await self._connection.send("JOIN", channel)

    async def report(self) -> None:
        """Report the channels that the agent is not in, after the server has answered."""
        fold, missing = self._members.fold, self._missing()
        reasons = {each: self._refusals.get(fold(each), messages.NO_ANSWER_IN_TIME) for each in missing}
        await self._context.report_rooms(reasons)

    async def stay(self, answered: Callable[[], Awaitable[None]]) -> None:
        """Retry to join missing channels periodically. `answered` waits until the server has answered."""
        while True:
            await anyio.sleep(self._join_interval_s)
            await self.join()
            await answered()
            await self.report()

    def _missing(self) -> list[str]:
        own = self._members.find(self._own_nick())
        lobby: str | None = self._context.settings.lobby
        wanted: set[str] = {*self._context.rooms, *([lobby] if lobby else ())}
        return [each for each in sorted(wanted) if not own or self._members.fold(each) not in own.channels]
