"""Check the keys file, repeated settings, programs of MCP servers, telemetry exporters and services."""

import os
import shutil
from collections.abc import Iterator
from io import StringIO
from operator import itemgetter
from pathlib import Path

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages


def check_keys_file(environment: Environment) -> Iterator[Finding]:
    """Yield a finding for each line of the keys file that sets no variable. Blocks."""
    from dotenv.parser import parse_stream

    from hermes_acp.config.settings_text import read_text

    file = environment.secrets_file
    try:
        content = read_text(file)
    except ConfigError as error:
        yield Finding("keys", "problem", error.message, error.hint)
        return
    for binding in parse_stream(StringIO(content)):
        if binding.error:
            blank = len(binding.original.string) - len(binding.original.string.lstrip())
            line = binding.original.line + binding.original.string[:blank].count("\n")
            text = doctor_messages.ignored_line(str(file), line)
            yield Finding("keys", "problem", text, doctor_messages.KEYS_LINE)


def check_repeated_settings(environment: Environment) -> Iterator[Finding]:
    """Yield a finding for each setting that occurs twice in the file, so that the first one is ignored. Blocks."""
    from yaml import YAMLError

    from hermes_acp.config.settings_text import read_text
    from hermes_acp.config.yaml_text import repeated_keys

    file = environment.config_file
    try:
        for key, lost, used in sorted(repeated_keys(read_text(file)), key=itemgetter(2)):
            text = doctor_messages.repeated_setting(str(file), key, lost, used)
            yield Finding("settings", "note", text, doctor_messages.MERGE_SETTINGS)
    except (ConfigError, YAMLError):
        return  # another check reports unreadable settings


def check_mcp_programs(environment: Environment) -> Iterator[Finding]:
    """Yield a finding for each of the user's MCP servers whose program does not exist. Blocks."""
    from hermes_acp.config.settings import load_settings

    try:
        servers = load_settings(environment).mcp_servers
    except ConfigError:
        return  # another check reports unreadable settings
    for name, server in servers.items():
        path = server.env.get("PATH") or environment.variables.get("PATH", os.defpath)
        if (
            server.enabled
            and server.command
            and shutil.which(os.path.expanduser(server.command), path=path) is None
        ):
            text = doctor_messages.no_mcp_program(name, server.command)
            yield Finding("mcp", "problem", text, doctor_messages.mend_mcp_program(name))


def check_telemetry(environment: Environment) -> Iterator[Finding]:
    """Yield findings about the export of traces and metrics; none if it is off."""
    from importlib.util import find_spec

    from hermes_acp.config.installation import extra_hint
    from hermes_acp.telemetry.traces.otel_settings import read_export_settings

    settings = read_export_settings(environment.variables)
    if settings is None:
        return
    for problem in settings.problems:
        yield Finding("telemetry", "problem", problem, doctor_messages.TELEMETRY_HINT)
    if not (settings.traces or settings.metrics):
        return
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter") is None:
        yield Finding("telemetry", "problem", doctor_messages.NO_TELEMETRY, extra_hint("otel"))
    elif not settings.problems:
        yield Finding("telemetry", "fine", doctor_messages.TELEMETRY_ON)


def check_service(environment: Environment) -> Iterator[Finding]:
    """Yield a finding for each of the user's own services whose program no longer exists. Blocks."""
    home = environment.variables.get("HOME", "")
    base = environment.variables.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    for unit in sorted(Path(base, "systemd", "user").glob("hermes-acp*.service")) if base else ():
        program = _program_of(unit)
        if program.startswith("/") and not os.access(program, os.X_OK):
            text = doctor_messages.service_starts_nothing(str(unit), program)
            yield Finding("service", "problem", text, doctor_messages.INSTALL_SERVICE)


def _program_of(unit: Path) -> str:
    """Return the program that a unit starts, or an empty string."""
    try:
        lines = unit.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    command = next((line.partition("=")[2] for line in lines if line.startswith("ExecStart=")), "")
    if command.startswith('"'):
        word = command[1:].split('" ', 1)[0].removesuffix('"').replace('\\"', '"').replace("\\\\", "\\")
    else:
        word = command.split(" ", 1)[0]
    return word.replace("%%", "%").replace("$$", "$")
