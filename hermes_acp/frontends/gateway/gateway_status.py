"""Determine the status of a home folder's gateway: whether it is running, its platforms, people and messages."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import GATEWAY_LOCK, RESIDENT_LOCK
from hermes_acp.config.settings import load_settings, load_variables
from hermes_acp.frontends.gateway.gateway_process import (
    ENDED,
    configured_names,
    missing_part,
)
from hermes_acp.frontends.gateway.messages import command_messages
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.outbox import Outbox
from hermes_acp.storage.gateway.people import People, Person
from hermes_acp.storage.private_files import is_lock_held


class PlatformStatus(Struct, frozen=True):
    """A configured platform: what prevents it from working, if anything, and its messages counted by state."""

    name: str
    fault: str
    counts: Mapping[str, int]


class GatewayStatus(Struct, frozen=True):
    """The status of a gateway. If it is not running because it failed, `reason` says why."""

    profile: str
    is_running: bool
    is_kept: bool
    """Whether the resident process is running, which restarts the gateway."""
    reason: str
    platforms: Sequence[PlatformStatus]
    people: Sequence[tuple[Person, Sequence[str]]]
    pending_codes: int


def gateway_status(environment: Environment) -> GatewayStatus:
    """Read the status. Raises ConfigError or StorageError."""
    settings, variables = load_settings(environment).gateway, load_variables(environment)
    database, runs = GatewayDatabase(environment.home), is_lock_held(environment.home / GATEWAY_LOCK)
    is_used = database.exists
    counts = Outbox(database).counts() if is_used else {}
    platforms: list[PlatformStatus] = []
    for name in configured_names(settings):
        if runs:
            fault = database.fact(f"state:{name}")
        else:
            missing = missing_part(name, getattr(settings.platforms, name), variables)
            fault = missing.sentence() if missing else ""
        platforms.append(PlatformStatus(name, fault, counts.get(name, {})))
    reason = database.fact(ENDED) if is_used and not runs else ""
    faults = {each.fault for each in platforms}
    return GatewayStatus(
        environment.profile,
        runs,
        is_lock_held(environment.home / RESIDENT_LOCK),
        "" if reason in faults else reason,
        platforms,
        People(database).all() if is_used else [],
        People(database).pending(time.time()) if is_used else 0,
    )


def status_lines(status: GatewayStatus) -> list[str]:
    """Describe the status for people."""
    if not status.platforms:
        first = command_messages.no_platforms(status.profile)
    elif status.is_running:
        first = command_messages.RUNNING
    else:
        first = command_messages.not_running(status.profile, is_kept=status.is_kept)
    lines = [first, *([command_messages.last_error(status.reason)] if status.reason else [])]
    working = command_messages.CONNECTED if status.is_running else command_messages.SET_UP
    for each in status.platforms:
        counts = ", ".join(f"{number} {state}" for state, number in sorted(each.counts.items()))
        lines.append(command_messages.platform_line(each.name, each.fault or working, counts))
    lines += [
        command_messages.person_line(each.name, each.role, each.profile, on) for each, on in status.people
    ]
    if status.platforms and not status.people:
        lines.append(command_messages.no_people(status.profile))
    if status.pending_codes:
        lines.append(command_messages.waiting_codes(status.pending_codes))
    return lines


def status_report(status: GatewayStatus) -> Mapping[str, Any]:
    """Return the status for scripts."""
    return {
        "isRunning": status.is_running,
        "reason": status.reason,
        "platforms": [
            {"name": each.name, "fault": each.fault, "messages": each.counts} for each in status.platforms
        ],
        "people": [
            {"name": each.name, "role": each.role, "profile": each.profile, "platforms": platforms}
            for each, platforms in status.people
        ],
        "pendingCodes": status.pending_codes,
    }
