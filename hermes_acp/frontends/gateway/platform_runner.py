"""Keep a platform connected: connect, receive, send, and reconnect after failures with increasing delays.

All exceptions of a platform are handled here, so that they do not affect other platforms or conversations.
"""

from collections.abc import Callable, Mapping
from typing import Final, cast

import anyio
from anyio import to_thread
from msgspec import Struct, structs

from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.delivery.message_sender import MessageSender
from hermes_acp.frontends.gateway.port.platform_port import (
    Platform,
    PlatformContext,
    PlatformError,
    PlatformPlugin,
)
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase

BACKOFF_S: Final = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
STABLE_S: Final = 60.0
"""The time after which a stable connection resets the reconnection delay."""


class FactCursor:
    """Stores a platform's position in the gateway's database."""

    def __init__(self, database: GatewayDatabase, platform: str) -> None:
        self._database = database
        self._name = f"cursor:{platform}"

    async def load(self) -> str:
        """Return the last saved position, or an empty string."""
        return await to_thread.run_sync(self._database.fact, self._name)

    async def save(self, position: str) -> None:
        """Save a position."""
        await to_thread.run_sync(self._database.set_fact, self._name, position)


class RunnerReports(Struct, frozen=True):
    """Receives the states of platforms and their unexpected exceptions."""

    announce: Callable[[str], None]
    report: Callable[[BaseException, str], None]


class PlatformRunner:
    """Runs a configured platform."""

    def __init__(
        self,
        name: str,
        plugin: PlatformPlugin,
        context: PlatformContext,
        database: GatewayDatabase,
        reports: RunnerReports,
        clock: Clock,
    ) -> None:
        self.name = name
        self.platform: Platform | None = None
        self.sender: MessageSender | None = None
        self._plugin = plugin
        self._database = database
        self._reports = reports
        self._clock = clock
        self._version = -1
        self._rooms = ""
        self._context = structs.replace(context, report_rooms=self._report_rooms)

    async def run(self) -> None:
        """Keep the platform connected until cancelled."""
        failures = 0
        while True:
            began = self._clock.monotonic()
            reason = await self._connection()
            if self._clock.monotonic() - began > STABLE_S:
                failures = 0
            wait_s = BACKOFF_S[min(failures, len(BACKOFF_S) - 1)]
            failures += 1
            self._reports.announce(messages.lost(self.name, reason, wait_s))
            await self._note(reason)
            await anyio.sleep(wait_s)

    async def _connection(self) -> str:
        """Connect, run until the connection ends, and return why it ended."""
        self._rooms = ""
        try:
            async with self._plugin.connect(self._context) as platform:
                self.platform = platform
                self._reports.announce(messages.connected(self.name))
                await self._note(self._rooms)
                await self._work(platform)
            return messages.CONNECTION_ENDED
        except BaseExceptionGroup as group:
            first = _first(group)
            if not isinstance(first, Exception):
                raise
            return self._reason(first)
        except Exception as error:
            return self._reason(error)
        finally:
            self.platform = None

    async def _work(self, platform: Platform) -> None:
        assert self.sender is not None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.sender.run, platform, self._has_changed)
            await platform.run()
            tasks.cancel_scope.cancel()

    async def _report_rooms(self, rooms: Mapping[str, str]) -> None:
        """Log which rooms cannot be joined, and add them to the status."""
        refused = [messages.room_not_joined(room, reason) for room, reason in sorted(rooms.items())]
        shown = messages.rooms_not_joined(refused) if refused else ""
        if shown == self._rooms:
            return
        self._rooms = shown
        self._reports.announce(messages.in_rooms(self.name, shown))
        if self.platform is not None:
            await self._note(shown)

    async def _has_changed(self) -> bool:
        """Return whether another process has changed the outbox since the last call."""
        version = await to_thread.run_sync(self._database.version)
        has_changed, self._version = version != self._version, version
        return has_changed

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, PlatformError):
            return error.reason
        if isinstance(error, HermesError):
            return error.sentence()
        if isinstance(error, OSError):  # an unreachable server is not a bug
            return messages.unreachable(str(error) or type(error).__name__)
        self._reports.report(error, self.name)
        return messages.bug(self.name, type(error).__name__)

    async def _note(self, state: str) -> None:
        """Store the state for `hermes-acp gateway status`; ignore write errors."""
        try:
            await to_thread.run_sync(self._database.set_fact, f"state:{self.name}", state)
        except HermesError as error:
            self._reports.announce(error.sentence())


def _first(error: BaseException) -> BaseException:
    """Return the first exception in a group that must end more than the platform, else the first exception."""
    within = cast("tuple[BaseException, ...]", getattr(error, "exceptions", ()))
    if not within:
        return error
    inner = [_first(each) for each in within]
    return next((each for each in inner if not isinstance(each, Exception)), inner[0])
