"""Run all checks, in a sensible order for reading."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.frontends.cli.doctor.clock_check import check_clock
from hermes_acp.frontends.cli.doctor.command_check import check_command
from hermes_acp.frontends.cli.doctor.disk_check import check_disks
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.doctor.editor_check import check_editors
from hermes_acp.frontends.cli.doctor.gateway_check import check_gateway
from hermes_acp.frontends.cli.doctor.hook_check import check_hooks
from hermes_acp.frontends.cli.doctor.installation_check import check_installation
from hermes_acp.frontends.cli.doctor.lock_check import check_locks
from hermes_acp.frontends.cli.doctor.model_check import check_model, endpoint_of
from hermes_acp.frontends.cli.doctor.notification_check import check_notifications
from hermes_acp.frontends.cli.doctor.settings_files_check import (
    check_keys_file,
    check_mcp_programs,
    check_repeated_settings,
    check_service,
    check_telemetry,
)
from hermes_acp.frontends.cli.doctor.voice_check import check_voice
from hermes_acp.frontends.cli.messages import doctor_messages

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings


async def all_findings(environment: Environment, *, is_online: bool) -> AsyncIterator[Finding]:
    """Yield the findings of all checks as soon as they are known. Other machines are contacted only if `is_online`."""
    if environment.profile != DEFAULT_PROFILE:
        text = doctor_messages.profile_in_use(environment.profile, environment.keys_profile)
        yield Finding("profile", "fine", text)
    for each in await check_model(environment, is_online=is_online):
        yield each
    if is_online and (base_url := await to_thread.run_sync(endpoint_of, environment)):
        for each in await check_clock(base_url):
            yield each
    for each in await check_voice(environment):
        yield each
    for found in (_of_settings, _of_this_machine, _of_storage):
        for each in await to_thread.run_sync(_all_of, found, environment):
            yield each


def _all_of(check: Callable[[Environment], Iterator[Finding]], environment: Environment) -> list[Finding]:
    return [*check(environment)]


def _of_settings(environment: Environment) -> Iterator[Finding]:
    yield from check_repeated_settings(environment)
    yield from check_keys_file(environment)
    yield from check_mcp_programs(environment)
    for sentence in check_hooks(environment, str(Path().resolve())):
        yield Finding("hooks", "problem", sentence)
    for level, sentence in check_notifications(environment):
        yield Finding("notifications", level, sentence)
    yield from check_gateway(environment)
    yield from check_telemetry(environment)


def _of_this_machine(environment: Environment) -> Iterator[Finding]:
    yield from check_installation()
    yield from check_command(environment.variables)
    yield from check_editors(environment.variables)
    yield from check_service(environment)
    yield from check_disks(environment)


def _of_storage(environment: Environment) -> Iterator[Finding]:
    from hermes_acp.config.sections.checkpoint_settings import CheckpointSettings
    from hermes_acp.sessions.checkpoint_service import checkpoint_setup
    from hermes_acp.storage.checkpoints.checkpoint_checks import check_checkpoints
    from hermes_acp.storage.storage_checks import run_checks
    from hermes_acp.workspaces.sandbox_setup import sandbox_here, sandbox_notice

    yield from check_locks(environment.home)
    for each in run_checks(environment.home):
        yield Finding("storage", each.level, each.text, each.hint)
    for each in check_checkpoints(checkpoint_setup(environment, CheckpointSettings())):
        yield Finding("checkpoints", each.level, each.text, each.hint)
    remark = sandbox_notice(sandbox_here(_settings(environment), environment.variables))
    yield Finding("sandbox", "note" if remark else "fine", remark or doctor_messages.SANDBOXED)


def _settings(environment: Environment) -> "Settings | None":
    """Return the settings, or None if they cannot be read, which another check reports."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.core.errors import ConfigError

    try:
        return load_settings(environment)
    except ConfigError:
        return None
