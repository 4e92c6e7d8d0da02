"""Run the resident process: its socket, its signals, the interrupted turns that it continues, and its shutdown.

SIGTERM lets running turns end, for a limited time. Turns that did not end are cut off as if the process had been
killed, and the next resident process continues them.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import anyio
import anyio.to_thread
import msgspec
from anyio.abc import SocketListener
from msgspec import Struct

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.app.service_factories import build_notifications
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import Environment
from hermes_acp.config.settings import load_settings
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.ports.quota_ports import NoQuota
from hermes_acp.core.ports.session_ports import SessionObserver
from hermes_acp.frontends.acp.connection.client_connection import ConnectionRegistry
from hermes_acp.frontends.acp.daemon.daemon_lock import DaemonLock
from hermes_acp.frontends.acp.daemon.daemon_messages import ON_DEMAND
from hermes_acp.frontends.acp.daemon.daemon_socket import (
    NEW_SOCKET,
    SOCKET,
    socket_address,
    socket_path,
)
from hermes_acp.frontends.acp.daemon.daemon_status import daemon_status
from hermes_acp.frontends.acp.daemon.gateway_child import GatewayChild
from hermes_acp.frontends.acp.daemon.idle_end import IdleEnd
from hermes_acp.frontends.acp.daemon.local_clients import Controls, LocalClients
from hermes_acp.frontends.acp.messages import daemon
from hermes_acp.runs.attached_questions import AttachedQuestions
from hermes_acp.service_manager import VARIABLES, ServiceManager
from hermes_acp.sessions.clients.absence_notifications import AbsenceNotifications
from hermes_acp.sessions.clients.unfinished_turns import UnfinishedTurns
from hermes_acp.shutdown import ShutdownGuard, code_after, exit_process
from hermes_acp.storage.descriptor_limit import raise_limit
from hermes_acp.storage.private_files import storage_error

if TYPE_CHECKING:
    from hermes_acp.frontends.acp.daemon.hub_link import HubLink

CLOSING_S: Final = 1.0
CONTINUING_S: Final = 1.0
"""The time that startup waits for interrupted turns to continue; it is less than clients wait for a response."""
DAY_S: Final = 86_400.0
RUNS_RETRY_S: Final = 5.0


class ResidentOptions(Struct, frozen=True):
    """The options of a resident process: its command's flags, which a successor gets too, and times in seconds.

    Running turns get `drain_s` to end. With `idle_s`, the process ends after being idle for that long. `hub` is the
    link to the hub that started it.
    """

    flags: tuple[str, ...]
    drain_s: float
    idle_s: float | None = None
    hub: "HubLink | None" = None


class HttpService(Protocol):
    """A server for network clients."""

    @property
    def address(self) -> str:
        """The address that it listens on."""
        ...

    @property
    def observers(self) -> tuple[SessionObserver, ...]:
        """The observers that are notified of the events of all sessions."""
        ...

    def announce(self, say: Callable[[str], None]) -> None:
        """Report the address at which clients are served."""
        ...

    async def serve(self, app: App, registry: ConnectionRegistry, home: Path) -> None:
        """Serve clients until `stop`."""
        ...

    def refuse_clients(self) -> None:
        """Accept no new clients from now on."""
        ...

    async def stop(self) -> None:
        """End all connections, then the server."""
        ...


def run(
    environment: Environment,
    announce: Callable[[str], None],
    options: ResidentOptions,
    *,
    serve: Callable[[], HttpService] | None = None,
) -> int:
    """Run until a signal or a request to stop; return the exit code. Raises Busy if another one runs.

    `serve` binds a server for remote clients; it is called once this is known to be the only resident process. If the
    home folder is not writable, only remote clients are served. Raises StorageError if the folder cannot be created.
    """
    lock: DaemonLock | None = None
    try:
        lock = DaemonLock(environment.home)
    except StorageError:
        if serve is None or not environment.home.is_dir():
            raise
    try:
        http = serve() if serve else None
        guard = ShutdownGuard(drain_s=options.drain_s)
        raise_limit()
        guard.start()
        guard.watch_signals()
        manager = ServiceManager.of(environment.variables, os.getpid())
        for name in VARIABLES:
            environment = environment.without(name)
        resident = ResidentProcess(environment, guard, announce, http, options, lock, manager)
        return anyio.run(resident.run)
    except BaseException:
        if lock:
            lock.release(is_replaced=False)
        raise


class ResidentProcess:
    """The process that keeps the sessions of a home folder open, independently of their clients."""

    def __init__(
        self,
        environment: Environment,
        guard: ShutdownGuard,
        announce: Callable[[str], None],
        http: HttpService | None,
        options: ResidentOptions,
        lock: DaemonLock | None,
        manager: ServiceManager,
    ) -> None:
        """Prepare without starting anything. Without a lock, the process has no socket.

        It reports its state to the service manager, and its user's usage to the hub.
        """
        hub = self._hub = options.hub
        self._environment = environment
        self._manager = manager
        self._options = options
        self._lock = lock
        self._is_replaced: bool | None = None
        self._guard = guard
        self._announce = announce
        self._http = http
        self._stays = anyio.Event()
        self._notifications = build_notifications(environment, SystemClock())
        absences = AbsenceNotifications(
            lambda session_id: self._app.sessions.get(session_id), self._notifications.post
        )
        self._questions = AttachedQuestions(lambda: self._app.run_service, lambda: self._app.sessions.opened)
        observers = (*(http.observers if http else ()), absences, self._questions)
        self._app = App(environment, observers=observers, quota=hub.quota if hub else NoQuota())
        self._app.departures.on_unattended = absences.left
        self._registry = ConnectionRegistry()
        self._started_at = time.time()
        controls = Controls(self._status, self._stop, self._stays.set)
        self._app.run_service.is_resident = True
        self._clients = LocalClients(self._app, environment, self._registry, controls)

    async def run(self) -> int:
        """Serve until the end; return the exit code."""
        code, home = 0, self._environment.home
        try:
            async with (
                background_tasks(
                    self._app.run, self._manager.keep_alive, *((self._hub.keep,) if self._hub else ())
                ),
                anyio.create_task_group() as tasks,
            ):
                if self._lock:
                    listener = await self._listener()
                    await self._note_left_over(UnfinishedTurns(home / "unfinished-turns.json"))
                    have_begun = anyio.Event()
                    tasks.start_soon(self._continue_all, have_begun)
                    with anyio.move_on_after(CONTINUING_S):  # reconnecting clients find their turn running
                        await have_begun.wait()
                    if listener:
                        tasks.start_soon(self._clients.serve, listener)
                if self._http:
                    tasks.start_soon(self._http.serve, self._app, self._registry, home)
                    self._http.announce(self._announce)
                self._manager.report_ready(self._place())
                code = await self._ending()
                await self._stop_serving()
                if self._app.turn_tasks.has_turns:
                    await self._cut_off(code)
                tasks.cancel_scope.cancel()
            return code
        finally:
            with anyio.CancelScope(shield=True):
                await self._app.aclose()
            self._release_lock()

    async def _listener(self) -> SocketListener | None:
        """Listen on the socket; without remote clients, announce it to the person who started the process.

        If no socket can be created, return None if remote clients are served, else raise StorageError.
        """
        home = str(self._environment.home)
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            address = socket_address(home, folder, NEW_SOCKET)
            listener = await anyio.create_unix_listener(address, mode=0o600)
            os.replace(NEW_SOCKET, SOCKET, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError as error:
            if self._http is None:
                raise storage_error(daemon.CREATING_SOCKET, Path(socket_path(home)), error) from error
            return None
        finally:
            os.close(folder)
        if self._http is None:
            self._announce(self._place())
        return listener

    def _place(self) -> str:
        """Return a sentence that says where clients can reach this process."""
        if self._http:
            return daemon.serving_at(self._http.address)
        return daemon.listening(socket_path(str(self._environment.home)))

    async def _stop_serving(self) -> None:
        async with anyio.create_task_group() as tasks:
            if self._http:
                tasks.start_soon(self._http.stop)
            with anyio.move_on_after(CLOSING_S):
                await self._clients.stop()

    async def _note_left_over(self, unfinished: UnfinishedTurns) -> None:
        """Collect the turns that an earlier process did not finish, and start recording the turns of this one."""
        self._app.sessions.continued = await unfinished.left_over()
        self._app.turn_tasks.unfinished = unfinished

    async def _drive_runs(self) -> None:
        """Work on runs; an unwritable home folder stops this, but not the process."""
        while True:
            with suppress(StorageError):
                await self._app.run_service.work()
            await anyio.sleep(RUNS_RETRY_S)

    async def _ask_for_runs(self) -> None:
        """Show clients the questions of runs; an unreadable home folder stops this, but not the process."""
        while True:
            with suppress(StorageError):
                await self._questions.keep()
            await anyio.sleep(RUNS_RETRY_S)

    async def _prune_runs(self) -> None:
        """Delete old runs, once a day; unusable settings or files stop this, but not the process."""
        while True:
            with suppress(HermesError):
                settings = await anyio.to_thread.run_sync(load_settings, self._environment)
                if settings.runs.keep_days is not None:
                    await self._app.run_service.prune(settings.runs.keep_days * DAY_S)
            await anyio.sleep(DAY_S)

    async def _report_runs(self) -> None:
        """Send notifications about runs; unusable settings or files stop this, but not the process."""
        from hermes_acp.runs.run_notifications import RunNotifications

        reports = RunNotifications(self._app.run_service, self._notifications)
        while True:
            with suppress(HermesError):
                await reports.keep()
            await anyio.sleep(RUNS_RETRY_S)

    async def _continue_all(self, have_begun: anyio.Event) -> None:
        """Continue the turns that an earlier process did not finish."""
        for session_id in self._app.sessions.continued:
            await self._continue(session_id)
        have_begun.set()

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
            await self._app.departures.close_if_unattended(session)
            return
        if self._app.turn_tasks.unfinished and session.record.calls.suspended():
            self._app.turn_tasks.unfinished.reset_starts(session_id)

        async def go_on() -> None:
            await session.go_on(session.clients)

        self._app.turn_tasks.start(session, go_on)

    async def _ending(self) -> int:
        """Work on runs until a signal arrives; after SIGTERM, wait for running turns. Return the exit code."""
        async with background_tasks(
            self._drive_runs,
            self._report_runs,
            self._prune_runs,
            self._ask_for_runs,
            self._end_when_idle,
            self._app.board_coordinator().keep,
            GatewayChild(self._environment, self._announce).keep,
        ):
            number = await self._guard.stopped()
        code = code_after(number)
        if self._is_replaced is None:  # service managers send SIGTERM to restart the process
            self._is_replaced = number == signal.SIGTERM
        is_draining = number == signal.SIGTERM
        self._manager.report_stopping(daemon.DRAINING, self._options.drain_s if is_draining else 0.0)
        if not is_draining:
            return code
        if self._http:
            self._http.refuse_clients()
        async with anyio.create_task_group() as tasks:

            async def hurry() -> None:
                nonlocal code
                code = code_after(await self._guard.stopped())
                tasks.cancel_scope.cancel()

            tasks.start_soon(hurry)
            with anyio.move_on_after(self._options.drain_s):
                await self._app.turn_tasks.drain()
            tasks.cancel_scope.cancel()
        self._guard.end_drain()
        return code

    async def _cut_off(self, code: int) -> None:
        """End the process while turns are running: close idle sessions, and leave the others as a killed process
        would.
        """
        with anyio.move_on_after(CLOSING_S):
            for session in self._app.sessions.opened:
                if session.has_work:
                    await session.ledger.settle()
                else:
                    await self._app.sessions.close(session.id)
        self._release_lock()
        exit_process(code)

    def _release_lock(self) -> None:
        if self._lock:
            self._lock.release(is_replaced=self._is_replaced is True)
            self._lock = None

    async def _end_when_idle(self) -> None:
        """End the process once it is idle, if it was started on demand and nobody has asked it to stay."""
        if self._options.idle_s is None:
            return
        idle_end = IdleEnd(self._app, self._registry, self._notifications, self._options.idle_s)
        async with anyio.create_task_group() as tasks:

            async def end() -> None:
                await idle_end.passed()
                self._announce(daemon.NOT_USED)
                self._stop(at_once=False, is_replaced=False)

            tasks.start_soon(end)
            await self._stays.wait()
            tasks.cancel_scope.cancel()

    async def _status(self) -> bytes:
        address = self._http.address if self._http else ""
        names = tuple(client.name for client in self._registry.clients)
        flags = self._options.flags
        if self._stays.is_set():
            flags = tuple(flag for flag in flags if flag != ON_DEMAND)
        status = await daemon_status(self._app, self._started_at, address, names, flags)
        return msgspec.json.encode(status)

    def _stop(self, at_once: bool, is_replaced: bool) -> None:
        self._is_replaced = is_replaced
        os.kill(os.getpid(), signal.SIGINT if at_once else signal.SIGTERM)
