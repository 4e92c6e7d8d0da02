"""Manage the processes of profiles: each is started by its user's first request, and again after it has ended.

A process inherits a listening socket that the hub keeps open, so connections wait while it starts. It receives its
limits on standard input, which ends with the hub, and reports its user's usage on standard output.
"""

import secrets
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.abc
import anyio.to_thread
from anyio.streams.buffered import BufferedByteReceiveStream
from msgspec import Struct

from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.frontends.acp.http.serve_settings import TOKEN_VARIABLE
from hermes_acp.frontends.hub import messages
from hermes_acp.frontends.hub.authentication import UNAVAILABLE, AccountsCache, Refusal
from hermes_acp.storage.private_files import private_folder
from hermes_acp.users.accounts import Account
from hermes_acp.users.hub_messages import MAX_LINE_BYTES, Terms, decode_spent, encode_terms
from hermes_acp.users.profile_places import ProfilePlace, place_of, program
from hermes_acp.users.usage_ledger import UsageLedger, Used

BACKLOG: Final = 256
STARTING_S: Final = 5.0
"""A process that ends within this time counts as not started."""
RETRY_S: Final = 2.0
ENDING_S: Final = 30.0
TELLING_S: Final = 5.0
RECHECK_S: Final = 2.0
"""The interval at which processes are told about changed limits."""
OnEnd = Callable[[Account, str], None]


class ProcessSettings(Struct, frozen=True):
    """Settings for starting processes: the hub's folder, the base of profiles, variables to pass on, idle time."""

    folder: Path
    base: Path
    pass_variables: Sequence[str] = ()
    idle_s: float = 900.0


class Target(Struct, frozen=True):
    """The port of a process, and the token that it accepts."""

    port: int
    token: str


class ProfileProcess:
    """The process of one user's profile."""

    def __init__(self, settings: ProcessSettings, ledger: UsageLedger, account: Account) -> None:
        """Bind the address of the process without starting it."""
        self.account = account
        self._settings = settings
        self._ledger = ledger
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        self._lock = anyio.Lock()
        self._process: anyio.abc.Process | None = None
        self._token = ""
        self._started_at = self._failed_at = -STARTING_S
        self._failure = ""
        self._scopes: set[anyio.CancelScope] = set()

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.returncode is None

    @asynccontextmanager
    async def use(
        self, account: Account, tasks: anyio.abc.TaskGroup, on_end: OnEnd
    ) -> AsyncGenerator[Target]:
        """Start the process unless it is running; yield its address. Raises Refusal if it ends in the meantime."""
        async with self._lock:
            if not self.is_running:
                self.account = account
                await self._start(tasks, on_end)
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        try:
            with scope:
                yield Target(self._listener.getsockname()[1], self._token)
        finally:
            self._scopes.discard(scope)
        if scope.cancelled_caught:
            raise Refusal(
                UNAVAILABLE, self._failure or messages.PROCESS_ENDED, self._failure or messages.PROCESS_GONE
            )

    async def tell(self, account: Account) -> None:
        """Send a running process its user's current limits; if that fails, end the process."""
        self.account, process = account, self._process
        if process is None or not self.is_running:
            return
        try:
            with anyio.fail_after(TELLING_S):
                await self._send_terms(0)
        except (StorageError, TimeoutError) as error:
            self._stop_uncounted(process, error)

    def _stop_uncounted(self, process: anyio.abc.Process, error: Exception) -> None:
        """End a process whose usage can no longer be counted or limited."""
        reason = error.sentence() if isinstance(error, HermesError) else type(error).__name__
        sys.stderr.write(messages.failure(f"{self.account.name}: {reason}") + "\n")
        with suppress(ProcessLookupError):  # the process has ended
            process.terminate()

    async def end(self) -> None:
        """Let the process finish its turns and end; kill it if that takes too long."""
        process = self._process
        if process and process.returncode is None:
            assert process.stdin
            await process.stdin.aclose()
            with anyio.move_on_after(ENDING_S):
                await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
        self._listener.close()

    async def _start(self, tasks: anyio.abc.TaskGroup, on_end: OnEnd) -> None:
        if self._failure and anyio.current_time() - self._failed_at < RETRY_S:
            raise Refusal(UNAVAILABLE, self._failure, self._failure)
        try:
            place = await anyio.to_thread.run_sync(
                place_of, self.account, self._settings.base, tuple(self._settings.pass_variables)
            )
            process = self._process = await self._open(place)
        except (HermesError, OSError) as error:
            raise self._unavailable(error) from error
        self._started_at, self._failure = anyio.current_time(), ""
        tasks.start_soon(self._watch, process, on_end)
        tasks.start_soon(self._count_usage, process)
        try:
            await self._send_terms(0)
        except StorageError as error:
            with suppress(ProcessLookupError):
                process.terminate()
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> Refusal:
        said = error.sentence() if isinstance(error, HermesError) else str(error)
        return Refusal(UNAVAILABLE, messages.unavailable(self.account.profile, said), said)

    async def _open(self, place: ProfilePlace) -> anyio.abc.Process:
        self._token = secrets.token_urlsafe(32)
        descriptor = self._listener.fileno()
        with self._log_file().open("ab") as log:
            return await anyio.open_process(
                [*program(), "serve", "--listen", f"fd://{descriptor}", "--for-hub"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=place.folder,
                env={**place.variables, TOKEN_VARIABLE: self._token},
                start_new_session=True,
                pass_fds=(descriptor,),
                user=place.user_id,
                group=place.group_id,
                extra_groups=place.groups,
            )

    def _log_file(self) -> Path:
        return private_folder(self._settings.folder / "logs") / f"{self.account.name}.log"

    async def _watch(self, process: anyio.abc.Process, on_end: OnEnd) -> None:
        code = await process.wait()
        if code > 0 and anyio.current_time() - self._started_at < STARTING_S:
            self._failed_at = anyio.current_time()
            self._failure = messages.not_started(self.account.profile, code, str(self._log_file()))
        for scope in tuple(self._scopes):
            scope.cancel()
        on_end(self.account, messages.ended_with(code))

    async def _count_usage(self, process: anyio.abc.Process) -> None:
        """Add the usage that the process reports to the ledger, and send it the remaining quota."""
        assert process.stdout
        lines = BufferedByteReceiveStream(process.stdout)
        try:
            while True:
                spent = decode_spent(await lines.receive_until(b"\n", MAX_LINE_BYTES))
                used = Used(spent.tokens, spent.usd, spent.runs)
                await anyio.to_thread.run_sync(self._ledger.spend, self.account.name, used, time.time())
                await self._send_terms(spent.number)
        except (
            anyio.EndOfStream,
            anyio.IncompleteRead,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
        ):
            return
        except (ValueError, anyio.DelimiterNotFound, StorageError) as error:
            self._stop_uncounted(process, error)

    async def _send_terms(self, number: int) -> None:
        process, quota = self._process, self.account.quota
        allowances = await anyio.to_thread.run_sync(
            self._ledger.allowances, self.account.name, quota, time.time()
        )
        terms = Terms(self._settings.idle_s, allowances, quota.sessions, quota.turns, number)
        if process and process.stdin:
            try:
                await process.stdin.send(encode_terms(terms))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the process has ended


class ProfileProcesses:
    """The processes of all users."""

    def __init__(
        self, settings: ProcessSettings, ledger: UsageLedger, tasks: anyio.abc.TaskGroup, on_end: OnEnd
    ) -> None:
        """Prepare without starting any process. Processes are watched in `tasks`."""
        self._settings = settings
        self._ledger = ledger
        self._tasks = tasks
        self._on_end = on_end
        self._processes: dict[str, ProfileProcess] = {}
        self._is_stopping = False
        self._has_started = anyio.Event()

    @property
    def running(self) -> tuple[ProfileProcess, ...]:
        """The running processes."""
        return tuple(process for process in self._processes.values() if process.is_running)

    @asynccontextmanager
    async def use(self, account: Account) -> AsyncGenerator[Target]:
        """Start a user's process if necessary; yield its address. Raises Refusal."""
        if self._is_stopping:
            raise Refusal(UNAVAILABLE, messages.STOPPING)
        while (process := self._processes.get(account.name)) and _home(process.account) != _home(account):
            del self._processes[account.name]
            await process.end()
        if process is None:
            process = self._processes[account.name] = ProfileProcess(self._settings, self._ledger, account)
        async with process.use(account, self._tasks, self._on_end) as target:
            self._has_started.set()
            yield target

    async def keep(self, accounts: AccountsCache) -> None:
        """Until cancelled, tell running processes about changed limits, and end those of removed users."""
        while True:
            if not self.running:
                self._has_started = anyio.Event()
                await self._has_started.wait()
            await anyio.sleep(RECHECK_S)
            try:
                known = await accounts.read()
            except Refusal:
                continue  # nobody is admitted until the accounts can be read again
            for process in self.running:
                account = known.get(process.account.name)
                if account is None:
                    self._processes.pop(process.account.name, None)
                    self._tasks.start_soon(process.end)
                elif account.quota != process.account.quota:
                    self._tasks.start_soon(process.tell, account)

    async def end(self) -> None:
        """End all processes after their running turns."""
        self._is_stopping = True
        async with anyio.create_task_group() as tasks:
            for process in self._processes.values():
                tasks.start_soon(process.end)


def _home(account: Account) -> tuple[str, str]:
    return account.os_user, account.profile
