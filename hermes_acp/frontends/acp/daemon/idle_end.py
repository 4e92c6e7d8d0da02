"""Detect when a resident process that was started on demand has been idle long enough to end."""

from contextlib import suppress
from typing import Final

import anyio

from hermes_acp.app.app import App
from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.run_ports import RunFilter
from hermes_acp.frontends.acp.connection.client_connection import ConnectionRegistry
from hermes_acp.notifications.notification_service import NotificationService

MAX_POLL_INTERVAL_S: Final = 30.0
POLLS_PER_IDLE_TIME: Final = 10
"""The number of checks for activity within the idle time."""


class IdleEnd:
    """Watch whether a process has clients, turns, runs, schedules or pending notifications."""

    def __init__(
        self, app: App, registry: ConnectionRegistry, notifications: NotificationService, idle_s: float
    ) -> None:
        self._app = app
        self._registry = registry
        self._notifications = notifications
        self._idle_s = idle_s

    async def passed(self) -> None:
        """Wait until the process has been idle for the whole idle time."""
        poll_interval_s = min(MAX_POLL_INTERVAL_S, self._idle_s / POLLS_PER_IDLE_TIME)
        used_at = anyio.current_time()
        while anyio.current_time() - used_at < self._idle_s:
            await anyio.sleep(poll_interval_s)
            if await self._is_used():
                used_at = anyio.current_time()

    async def _is_used(self) -> bool:
        if self._registry.clients or self._app.turn_tasks.has_turns:
            return True
        if any(session.clients or session.has_work for session in self._app.sessions.opened):
            return True
        with suppress(HermesError):  # an unreadable state does not keep the process alive
            engine = self._app.run_service.engine
            if await engine.list(RunFilter(states=("queued", "running", "input_required"), limit=1)):
                return True
            if any(view.next_at is not None for view in await engine.schedules.list()):
                return True
            return await self._notifications.has_pending()
        return False
