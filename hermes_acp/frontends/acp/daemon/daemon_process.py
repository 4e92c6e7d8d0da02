"""The resident process: its socket, its signals, the turns it continues, and its end.

SIGTERM lets running turns end, for a limited time. Turns that did not end are cut off as if the process had been
killed, and the next resident process continues them.
"""

import os
import signal
import time
from collections.abc import Callable
from typing import Final

import anyio
import msgspec

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.connection.client_connection import ConnectionRegistry
from hermes_acp.frontends.acp.daemon.daemon_lock import DaemonLock
from hermes_acp.frontends.acp.daemon.daemon_socket import socket_address, socket_path
from hermes_acp.frontends.acp.daemon.daemon_status import daemon_status
from hermes_acp.frontends.acp.daemon.local_clients import Controls, LocalClients
from hermes_acp.frontends.acp.messages import daemon
from hermes_acp.sessions.clients.unfinished_turns import UnfinishedTurns
from hermes_acp.shutdown import ShutdownGuard, exit_process
from hermes_acp.storage.descriptor_limit import raise_limit

DRAIN_S: Final = 30.0
CLOSING_S: Final = 1.0


def run(environment: Environment, announce: Callable[[str], None], drain_s: float = DRAIN_S) -> int:
    """Run until a signal or a request to stop; return the exit code. Raises Busy if another one runs."""
    lock = DaemonLock(environment.home)
    try:
        guard = ShutdownGuard(drain_s=drain_s)
        raise_limit()
        guard.start()
        guard.watch_signals()
        return anyio.run(ResidentProcess(environment, guard, announce, drain_s).run)
    finally:
        lock.release()


class ResidentProcess:
    """The sessions of one home folder, for as long as the machine runs."""

    def __init__(
        self, environment: Environment, guard: ShutdownGuard, announce: Callable[[str], None], drain_s: float
    ) -> None:
        self._environment = environment
        self._guard = guard
        self._announce = announce
        self._drain_s = drain_s
        self._app = App(environment)
        self._registry = ConnectionRegistry()
        self._started_at = time.time()
        self._clients = LocalClients(
            self._app, environment, self._registry, Controls(self._status, self._stop)
        )

    async def run(self) -> int:
        """Serve until the end; return the exit code."""
        home = str(self._environment.home)
        unfinished = UnfinishedTurns(self._environment.home / "unfinished-turns.json")
        code = 0
        async with background_tasks(self._app.run), anyio.create_task_group() as tasks:
            left_over = await unfinished.left_over()
            self._app.turn_tasks.unfinished = unfinished
            folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                listener = await anyio.create_unix_listener(socket_address(home, folder), mode=0o600)
            finally:
                os.close(folder)
            tasks.start_soon(self._clients.serve, listener)
            self._announce(daemon.listening(socket_path(home)))
            for session_id in left_over:
                await self._continue(session_id)
            code = await self._ending()
            with anyio.move_on_after(CLOSING_S):
                await self._clients.stop()
            if self._app.turn_tasks.has_turns:
                await self._cut_off(code)
            tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._app.aclose()
        return code

    async def _continue(self, session_id: str) -> None:
        """Continue a turn that an earlier process did not finish."""
        sessions = self._app.sessions
        try:
            session, _ = await sessions.load(
                session_id, None, lambda _id, cwd, roots: self._app.open_workspace(cwd, roots)
            )
        except HermesError as error:
            self._announce(daemon.not_continued(session_id, error.sentence()))
            return
        if not session.record.can_resume:
            await sessions.close_if_unattended(session)
            return

        async def go_on() -> None:
            await session.go_on(session.clients)

        self._app.turn_tasks.start(session, go_on)

    async def _ending(self) -> int:
        """Drive runs until a signal, then wait for running turns after SIGTERM; return the exit code."""
        async with background_tasks(self._app.run_service.work):
            number = await self._guard.stopped()
        if number != signal.SIGTERM:
            return 128 + number
        code = 0
        async with anyio.create_task_group() as tasks:

            async def hurry() -> None:
                await self._guard.stopped()
                tasks.cancel_scope.cancel()

            tasks.start_soon(hurry)
            with anyio.move_on_after(self._drain_s):
                await self._app.turn_tasks.drain()
            tasks.cancel_scope.cancel()
        self._guard.end_drain()
        return code

    async def _cut_off(self, code: int) -> None:
        """End the process with turns under way: close what is idle, leave the rest as a killed process would."""
        with anyio.move_on_after(CLOSING_S):
            for session in self._app.sessions.opened:
                if session.has_work:
                    await session.ledger.settle()
                else:
                    await self._app.sessions.close(session.id)
        exit_process(code)

    def _status(self) -> bytes:
        names = tuple(client.name for client in self._registry.clients)
        return msgspec.json.encode(daemon_status(self._app, self._started_at, "", names))

    def _stop(self, at_once: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT if at_once else signal.SIGTERM)
