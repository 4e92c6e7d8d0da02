"""Carry an update out, in a process that ends only when it is done, killed, or asked to stop with SIGTERM."""

import fcntl
import os
import signal
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec

from hermes_acp.config.environment import read_environment
from hermes_acp.config.home_folders import RESIDENT_LOCK
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.update import messages
from hermes_acp.frontends.cli.update.update_progress import Told
from hermes_acp.updates.update_errors import UpdateFailed
from hermes_acp.updates.update_service import UpdateResult, UpdateService, Wanted


async def carry_out(is_back: bool, wanted: Wanted, as_json: bool) -> int:
    """Update, or go back, and say how it ended; return the exit code."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # programs that it starts inherit this
    told = Told(is_quiet=as_json)
    codes: list[int] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_when_asked, tasks.cancel_scope)
        codes.append(await _carried_out(told, is_back=is_back, wanted=wanted, as_json=as_json))
        tasks.cancel_scope.cancel()
    if not codes:
        told.warn(messages.STOPPED)
        return ExitCode.INTERRUPTED
    return codes[0]


async def _stop_when_asked(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as asked:
        async for _ in asked:
            scope.cancel()


async def _carried_out(told: Told, *, is_back: bool, wanted: Wanted, as_json: bool) -> int:
    environment = read_environment()
    service = UpdateService(environment.variables, told)
    version = ""
    try:
        _, package = await anyio.to_thread.run_sync(service.require_updatable)
        version = package.version
        told.open_log(service.folders.log)
        if is_back:
            result = await service.go_back()
        else:
            result = await service.update(wanted, Path().resolve())
    except HermesError as error:
        told.warn(error.sentence())
        if isinstance(error, (UpdateFailed, StorageError)) and version:
            told.warn(messages.unchanged(version, str(service.folders.log)))
        return error.exit_code
    if as_json:
        told.say(msgspec.json.encode(result).decode())
    else:
        _tell(told, result, environment.home)
    return ExitCode.DONE


def _tell(told: Told, result: UpdateResult, home: Path) -> None:
    if not result.is_switched:
        told.say(messages.newest(result.version, result.source))
        return
    told.say(messages.switched(result.version, result.available))
    if _has_resident(home):
        told.say(messages.resident(result.version))
    if result.previous:
        told.say(messages.way_back(result.previous))


def _has_resident(home: Path) -> bool:
    """Return whether a process in the background holds the lock of a home."""
    try:
        descriptor = os.open(home / RESIDENT_LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    with suppress(BlockingIOError):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        finally:
            os.close(descriptor)
    return True
