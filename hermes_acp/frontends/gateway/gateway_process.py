"""Run the gateway of a home: one process, which ends with a signal or with the process that started it."""

import signal
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import Environment
from hermes_acp.config.installation import extra_hint
from hermes_acp.config.sections.gateway_settings import GatewaySettings, secret_variable
from hermes_acp.config.settings import load_settings, load_variables
from hermes_acp.core.errors import Busy, ConfigError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.gateway import ConfiguredPlatform, Gateway
from hermes_acp.frontends.gateway.platform_runner import RunnerReports
from hermes_acp.frontends.gateway.port.platform_port import PlatformPlugin
from hermes_acp.storage.private_files import private_folder, take_lock, unlock_and_close
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.telemetry.redaction import Redactor, secrets_among

LOCK: Final = "gateway.lock"


def platform_plugins() -> PluginFolder[PlatformPlugin]:
    """Return the platforms there are."""
    return PluginFolder("hermes_acp.frontends.gateway.platforms", "PLATFORM")


def run_gateway(environment: Environment, *, ends_with_input: bool) -> int:
    """Run until a signal, or until standard input ends. Raises Busy, ConfigError, StorageError."""
    settings = load_settings(environment).gateway
    variables = load_variables(environment)
    platforms = configured_platforms(settings, variables)
    if not platforms:
        raise ConfigError(messages.NO_PLATFORMS)
    lock = lock_gateway(environment.home)
    bugs = BugLog(environment.home)
    reports = RunnerReports(_say, lambda error, where: bugs.report(error, where))
    redactor = Redactor(secrets_among(variables))
    gateway = Gateway(environment, settings, platforms, redactor, SystemClock(), reports)
    try:
        anyio.run(_run, gateway, ends_with_input)
    finally:
        unlock_and_close(lock)
    return 0


def lock_gateway(home: Path) -> int:
    """Take the right to be the gateway of a home; return the lock's descriptor. Raises Busy, StorageError."""
    try:
        return take_lock(private_folder(home) / LOCK)
    except Busy:
        raise Busy(messages.ALREADY_RUNNING, hint=messages.ALREADY_HINT) from None


def is_running(home: Path) -> bool:
    """Return whether a gateway of a home is running."""
    if not (home / LOCK).exists():
        return False
    try:
        unlock_and_close(lock_gateway(home))
    except Busy:
        return True
    return False


def configured_platforms(settings: GatewaySettings, variables: Mapping[str, str]) -> list[ConfiguredPlatform]:
    """Return the platforms of the settings. Raises ConfigError if something is missing for one."""
    found: list[ConfiguredPlatform] = []
    plugins = platform_plugins()
    for name in type(settings.platforms).model_fields:
        section = getattr(settings.platforms, name)
        if section is None:
            continue
        plugin = plugins.open(name)
        if plugin.package and find_spec(plugin.package) is None:
            raise ConfigError(messages.missing_package(name, plugin.package), hint=extra_hint(name))
        secrets = {each: variables.get(secret_variable(name, each), "") for each in plugin.secrets}
        for each, value in secrets.items():
            if not value:
                raise ConfigError(messages.missing_secret(secret_variable(name, each)))
        found.append(ConfiguredPlatform(name, plugin, section, secrets))
    return found


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
    sys.stderr.write(f"{messages.log_line(line)}\n")
    sys.stderr.flush()
