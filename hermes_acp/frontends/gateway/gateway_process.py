"""Run a home folder's gateway in one process, which ends at a signal or together with its parent process."""

import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast

import anyio
from anyio import to_thread

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import GATEWAY_LOCK
from hermes_acp.config.installation import extra_hint
from hermes_acp.config.sections.gateway_settings import GatewaySettings, secret_variable
from hermes_acp.config.settings import load_settings, load_variables
from hermes_acp.core.errors import Busy, ConfigError, HermesError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.gateway.gateway import ConfiguredPlatform, Gateway
from hermes_acp.frontends.gateway.messages import command_messages
from hermes_acp.frontends.gateway.platform_runner import RunnerReports
from hermes_acp.frontends.gateway.port.platform_port import OptionalSecrets, PlatformPlugin
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.private_files import private_folder, take_lock, unlock_and_close
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.telemetry.redaction import Redactor, secrets_among

ENDED: Final = "ended"
"""The name of the stored fact that says why the gateway last failed."""


def platform_plugins() -> PluginFolder[PlatformPlugin]:
    """Return the plugins of all available platforms."""
    return PluginFolder("hermes_acp.frontends.gateway.platforms", "PLATFORM")


def run_gateway(environment: Environment, *, ends_with_input: bool) -> int:
    """Run until a signal, or until standard input ends. Raises Busy, ConfigError or StorageError."""
    settings = load_settings(environment).gateway
    if not configured_names(settings):
        raise ConfigError(command_messages.no_platforms(environment.profile))
    try:
        _run_configured(environment, settings, ends_with_input=ends_with_input)
    except Busy:
        raise  # another gateway is running
    except (HermesError, ExceptionGroup) as error:
        _note_end(environment.home, _reason(error))
        raise
    return 0


def _run_configured(environment: Environment, settings: GatewaySettings, *, ends_with_input: bool) -> None:
    variables = load_variables(environment)
    platforms = configured_platforms(settings, variables)
    lock = lock_gateway(environment.home)
    try:
        _note_end(environment.home, "")
        bugs = BugLog(environment.home)
        reports = RunnerReports(_say, lambda error, where: bugs.report(error, where))
        redactor = Redactor(secrets_among(variables))
        gateway = Gateway(environment, settings, platforms, redactor, SystemClock(), reports)
        anyio.run(_run, gateway, ends_with_input)
    finally:
        unlock_and_close(lock)


def _note_end(home: Path, reason: str) -> None:
    """Store why the gateway ended, for `hermes-acp gateway status`; ignore write errors."""
    database = GatewayDatabase(home)
    with suppress(HermesError):
        database.set_fact(ENDED, reason)
    database.close()


def _reason(error: BaseException) -> str:
    """Return why the gateway ended; of several errors, the first one."""
    first = error
    while isinstance(first, BaseExceptionGroup):
        first = cast("BaseExceptionGroup[BaseException]", first).exceptions[0]
    return (
        first.sentence() if isinstance(first, HermesError) else command_messages.crashed(type(first).__name__)
    )


def lock_gateway(home: Path) -> int:
    """Lock a home folder for its gateway; return the lock's descriptor. Raises Busy or StorageError."""
    try:
        return take_lock(private_folder(home) / GATEWAY_LOCK)
    except Busy:
        raise Busy(command_messages.ALREADY_RUNNING, hint=command_messages.ALREADY_HINT) from None


def configured_names(settings: GatewaySettings) -> list[str]:
    """Return the names of the configured platforms."""
    return [name for name in type(settings.platforms).model_fields if getattr(settings.platforms, name)]


def configured_platforms(settings: GatewaySettings, variables: Mapping[str, str]) -> list[ConfiguredPlatform]:
    """Return the configured platforms. Raises ConfigError if a platform's configuration is incomplete."""
    found: list[ConfiguredPlatform] = []
    for name in configured_names(settings):
        section = getattr(settings.platforms, name)
        if fault := missing_part(name, section, variables):
            raise fault
        plugin = platform_plugins().open(name)
        secrets = {each: variables.get(secret_variable(name, each), "") for each in plugin.secrets}
        found.append(ConfiguredPlatform(name, plugin, section, secrets))
    return found


def missing_part(name: str, section: Any, variables: Mapping[str, str]) -> ConfigError | None:
    """Return the error for a platform whose library or secret is missing, or None."""
    plugin = platform_plugins().open(name)
    if plugin.package and find_spec(plugin.package) is None:
        return ConfigError(command_messages.missing_package(name, plugin.package), hint=extra_hint(name))
    variable = next((each for each in needed_variables(name, section) if not variables.get(each)), "")
    return ConfigError(command_messages.missing_secret(variable)) if variable else None


def needed_variables(name: str, section: Any) -> list[str]:
    """Return the names of the variables with the secrets that a configured platform needs."""
    plugin = platform_plugins().open(name)
    optional = plugin.optional_secrets(section) if isinstance(plugin, OptionalSecrets) else ()
    return [secret_variable(name, each) for each in plugin.secrets if each not in optional]


async def _run(gateway: Gateway, ends_with_input: bool) -> None:
    async with anyio.create_task_group() as tasks:

        async def stop_on_signal() -> None:
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                async for _ in signals:
                    break
            tasks.cancel_scope.cancel()

        async def stop_with_input() -> None:
            await to_thread.run_sync(_read_to_end, abandon_on_cancel=True)
            tasks.cancel_scope.cancel()

        tasks.start_soon(stop_on_signal)
        if ends_with_input:
            tasks.start_soon(stop_with_input)
        await gateway.run()


def _read_to_end() -> None:
    while sys.stdin.buffer.read(1 << 16):
        pass


def _say(line: str) -> None:
    sys.stderr.write(f"{command_messages.log_line(line)}\n")
    sys.stderr.flush()
