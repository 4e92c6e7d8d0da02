"""Determine the service that the options describe: its files, and what it should run."""

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.config.environment import Environment, environment_of
from hermes_acp.config.home_folders import DEFAULT_PROFILE, current_profile, process_variables
from hermes_acp.config.settings import load_settings
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.http.serve_settings import check_extra, check_origin, read_address
from hermes_acp.frontends.acp.messages import service
from hermes_acp.frontends.acp.service.service_plan import (
    STOP_RESERVE_S,
    OsUser,
    ServicePlan,
    hidden_program_folders,
    os_user,
    service_command_line,
    service_variables,
)
from hermes_acp.frontends.acp.service.service_system import (
    PROBE_S,
    Launchd,
    ServiceSystem,
    Systemd,
    can_create_namespaces,
)

SYSTEM_TOKENS: Final = Path("/etc/hermes-acp")
TOKEN_FILE: Final = "service.env"


class ServiceTarget(Struct, frozen=True):
    """The service to install, remove or show; a system service has an `account`."""

    environment: Environment
    system: ServiceSystem
    name: str
    account: OsUser | None
    is_mac: bool

    @property
    def file(self) -> Path:
        """The service's file."""
        return self.system.file(self.name)

    @property
    def token_file(self) -> Path:
        """The file with the token for network clients."""
        if self.account and not self.is_mac:
            return SYSTEM_TOKENS / f"{self.name}.env"
        return self.environment.home / TOKEN_FILE


def target_of(options: argparse.Namespace, *, platform: str = sys.platform) -> ServiceTarget:
    """Return the service that the options describe. Raises BadRequest or ConfigError."""
    variables = process_variables()
    account = _account(options.run_as, variables) if options.is_system else None
    if account:
        variables = {**variables, "HOME": account.folder}
    elif options.run_as:
        raise BadRequest(service.ONLY_SYSTEM)
    environment = environment_of(variables)
    if account and environment.home.exists() and environment.home.stat().st_uid != account.user_id:
        raise BadRequest(
            service.foreign_home(environment.home_path, account.name), hint=service.OTHER_USER_HINT
        )
    is_mac = platform == "darwin"
    system: ServiceSystem = (
        Launchd(variables, environment.home / "logs" / "daemon.log", is_system=options.is_system)
        if is_mac
        else Systemd(variables, is_system=options.is_system)
    )
    name = ServicePlan(environment.profile, (), "", {}, account).name
    return ServiceTarget(environment, system, name, account, is_mac)


def plan_service(target: ServiceTarget, options: argparse.Namespace) -> ServicePlan:
    """Return the plan of the service. Raises BadRequest, or ConfigError if the service could not run."""
    environment, account = target.environment, target.account
    variables = service_variables(environment)
    home = account.folder if account else environment.variables.get("HOME") or os.path.expanduser("~")
    plan = ServicePlan(
        environment.profile,
        service_command_line(environment, _flags(options)),
        _folder(home),
        variables,
        account,
        str(target.token_file) if options.listen else "",
        _writable(options.writable, environment, account),
        hidden_program_folders(home) if account else (),
        load_settings(environment).serve.drain_seconds + STOP_RESERVE_S,
        target.is_mac or account is not None or can_create_namespaces(environment.variables),
    ).checked()
    if account:
        _check_program(plan, account)
    return plan


def _account(name: str, variables: Mapping[str, str]) -> OsUser:
    """Return the user of a system service: the one that the options name, or the one who called sudo."""
    if os.geteuid() != 0:
        profile = () if (named := current_profile()) == DEFAULT_PROFILE else ("--profile", named)
        raise BadRequest(
            service.needs_root(shlex.join((os.path.abspath(sys.argv[0]), *profile, *sys.argv[1:])))
        )
    if not (name := name or variables.get("SUDO_USER", "")):
        raise BadRequest(service.NO_USER, hint=service.WHO_HINT)
    return os_user(name)


def _flags(options: argparse.Namespace) -> list[str]:
    """Return the flags for `daemon run`, validated now rather than at each start."""
    flags: list[str] = ["--allow-bypass"] if options.allow_bypass else []
    if not options.listen:
        if options.allow_remote or options.allow_origin or options.allow_host:
            raise BadRequest(service.NO_ADDRESS, hint=service.ADDRESS_HINT)
        return flags
    read_address(options.listen, allow_remote=options.allow_remote)
    check_extra()
    flags += ["--listen", options.listen]
    if options.allow_remote:
        flags.append("--allow-remote")
    for origin in options.allow_origin:
        flags += ["--allow-origin", check_origin(origin)]
    for host in options.allow_host:
        flags += ["--allow-host", host]
    return flags


def _folder(path: str) -> str:
    """Return the absolute path of an existing folder. Raises BadRequest."""
    if not (os.path.isabs(path) and os.path.isdir(path)):
        raise BadRequest(service.not_a_folder(path), hint=service.OTHER_FOLDER_HINT)
    return path


def _writable(named: list[str], environment: Environment, account: OsUser | None) -> tuple[str, ...]:
    """Return the folders outside the user's home folder that a system service may change."""
    if account is None:
        if named:
            raise BadRequest(service.ONLY_SYSTEM)
        return ()
    home = environment.base_path or environment.home_path
    is_elsewhere = not Path(home).is_relative_to(account.folder)
    return tuple(map(_folder, [*([home] if is_elsewhere else []), *named]))


def _check_program(plan: ServicePlan, account: OsUser) -> None:
    """Raise BadRequest if the service's user cannot start the program."""
    program = plan.command[0]
    words = [program, *(("-P", "-m", "hermes_acp") if plan.command[1:2] == ("-P",) else ()), "--version"]
    groups = os.getgrouplist(account.name, account.group_id)
    variables = {**plan.variables, "HOME": account.folder}
    try:
        done = subprocess.run(
            words,
            env=variables,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROBE_S,
            user=account.user_id,
            group=account.group_id,
            extra_groups=groups,
        )
        reason = done.stderr.strip().splitlines()[-1] if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired, IndexError) as error:
        reason = getattr(error, "strerror", "") or type(error).__name__
    if reason:
        raise BadRequest(
            service.cannot_start_program(program, account.name, reason), hint=service.PROGRAM_HINT
        )
