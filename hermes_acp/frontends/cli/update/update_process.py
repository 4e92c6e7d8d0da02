"""Perform an update, in a process that ends only when it is done, killed, or asked to stop with SIGTERM."""

import fcntl
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
import msgspec

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.config.home_folders import RESIDENT_LOCK
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.update import messages
from hermes_acp.frontends.cli.update.update_progress import Told
from hermes_acp.skills.builtin_skills import BuiltinChanges, builtin_folder, follow_builtin_skills
from hermes_acp.skills.skill_hub import SkillHub
from hermes_acp.skills.skill_usage import SkillUsageTracker
from hermes_acp.updates.update_errors import UpdateFailed
from hermes_acp.updates.update_service import UpdateResult, UpdateService, Wanted
from hermes_acp.updates.version_folders import VersionFolders

SKILLS: Final = "skills"


async def carry_out(is_back: bool, wanted: Wanted, as_json: bool) -> int:
    """Update or go back to the previous version, report the outcome, and return the exit code."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # child processes ignore it, too
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
        before = service.folders.environment(service.folders.current())
        if is_back:
            result = await service.go_back()
        else:
            result = await service.update(wanted, Path().resolve())
    except HermesError as error:
        told.warn(error.sentence())
        if isinstance(error, (UpdateFailed, StorageError)) and version:
            told.warn(messages.unchanged(version, str(service.folders.log)))
        return error.exit_code
    skills = BuiltinChanges()
    if result.is_switched:
        with _warnings(told):
            skills = await anyio.to_thread.run_sync(_follow_skills, environment, service.folders, before)
    if as_json:
        told.say(msgspec.json.encode(msgspec.to_builtins(result) | {"skills": skills}).decode())
    else:
        _tell(told, result, environment)
        _tell_skills(told, skills, str(environment.home / SKILLS))
    return ExitCode.DONE


@contextmanager
def _warnings(told: Told) -> Generator[None]:
    """Report an error about skills only as a warning, because the update itself is done."""
    try:
        yield
    except (HermesError, OSError) as error:
        told.warn(
            messages.skills_not_followed(error.sentence() if isinstance(error, HermesError) else str(error))
        )


def _follow_skills(environment: Environment, folders: VersionFolders, before: Path) -> BuiltinChanges:
    """Update unedited copies of built-in skills to the new version. Raises HermesError or OSError."""
    clock = SystemClock()
    tracker = SkillUsageTracker(environment.home, clock.now)
    hub = SkillHub(environment.home, tracker, clock.now, environment.variables.get("PATH", ""))
    now = builtin_folder(folders.environment(folders.current()))
    if now is None:
        return BuiltinChanges()
    others = filter(None, map(builtin_folder, [folders.root, *sorted(folders.folder.iterdir())]))
    own = environment.home / SKILLS
    return follow_builtin_skills(
        builtin_folder(before), now, others, own, hub.installed(), tracker, clock.now()
    )


def _tell(told: Told, result: UpdateResult, environment: Environment) -> None:
    if not result.is_switched:
        told.say(messages.newest(result.version, result.source))
        return
    told.say(messages.switched(result.version, result.available))
    if _has_resident(environment.home):
        told.say(messages.resident(result.version))
    if result.previous:
        told.say(messages.way_back(result.previous))


def _tell_skills(told: Told, skills: BuiltinChanges, folder: str) -> None:
    if skills.new or skills.changed or skills.gone:
        told.say(messages.builtin_skills(skills.new, skills.changed, skills.gone))
    if skills.followed:
        told.say(messages.skills_followed(skills.followed, folder))
    if skills.hidden:
        told.say(messages.skills_hidden(skills.hidden, folder))
    if skills.installed:
        told.say(messages.INSTALLED_SKILLS)


def _has_resident(home: Path) -> bool:
    """Return whether a resident process holds the lock of a home folder."""
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
