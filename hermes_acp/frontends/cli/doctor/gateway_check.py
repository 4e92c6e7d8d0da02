"""Check whether the gateway is running, if a chat platform is set up, with `hermes-acp gateway status`."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages

CHECK: Final = "gateway"
ANSWER_S: Final = 20.0


class _Platform(Struct):
    name: str
    fault: str


class _Status(Struct, rename="camel"):
    is_running: bool
    reason: str
    platforms: list[_Platform]


def check_gateway(environment: Environment) -> Iterator[Finding]:
    """Yield findings about the gateway and its platforms; none if no platform is set up. Blocks."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.core.errors import ConfigError

    try:
        platforms = load_settings(environment).gateway.platforms
    except ConfigError:
        return  # another check reports unreadable settings
    if not any(getattr(platforms, name) for name in type(platforms).model_fields):
        return
    command = [sys.executable, "-m", "hermes_acp", "gateway", "status", "--json"]
    try:
        done = subprocess.run(
            command, env=dict(environment.variables), capture_output=True, timeout=ANSWER_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding(CHECK, "problem", doctor_messages.no_gateway_status(type(error).__name__))
        return
    try:
        status = msgspec.json.decode(done.stdout, type=_Status)
    except msgspec.DecodeError:
        said = done.stderr.decode(errors="replace").strip().removeprefix("hermes-acp: ")
        yield Finding(CHECK, "problem", doctor_messages.no_gateway_status(said))
        return
    if status.reason:
        yield Finding(CHECK, "problem", doctor_messages.gateway_failed(status.reason))
    for each in status.platforms:
        if each.fault:
            yield Finding(CHECK, "problem", doctor_messages.faulty_platform(each.name, each.fault))
    if status.is_running:
        yield Finding(CHECK, "fine", doctor_messages.GATEWAY_RUNS)
    elif not status.reason and not any(each.fault for each in status.platforms):
        yield Finding(
            CHECK, "note", doctor_messages.GATEWAY_STOPPED, doctor_messages.start_gateway(environment.profile)
        )
