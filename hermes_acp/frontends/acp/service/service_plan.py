"""Plan a service: its command, its user and its access. Units and property lists are written from the plan."""

import os
import pwd
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.messages import service

PROGRAM: Final = "hermes-acp"
STOP_RESERVE_S: Final = 15.0
"""The time that the service may take to stop, in addition to the time that running turns get."""
HIDDEN_FOLDERS: Final = ("/home", "/root", "/run/user")
"""Folders that are hidden from a system service, except for what is mounted explicitly (systemd's ProtectHome=)."""
UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f]")


class OsUser(Struct, frozen=True):
    """The operating system user that a service runs as."""

    name: str
    user_id: int
    group_id: int
    folder: str


class ServicePlan(Struct, frozen=True):
    """The plan of a service. A system service has an `account`; a user service runs as its installer."""

    profile: str
    command: Sequence[str]
    folder: str
    variables: Mapping[str, str]
    account: OsUser | None = None
    token_file: str = ""
    writable: Sequence[str] = ()
    readable: Sequence[str] = ()
    stop_s: float = STOP_RESERVE_S
    has_namespaces: bool = True

    @property
    def name(self) -> str:
        """The service's name, which is unique per profile and, for a system service, per user."""
        account = f"-{re.sub(r'[^A-Za-z0-9_-]', '_', self.account.name)}" if self.account else ""
        profile = "" if self.profile == DEFAULT_PROFILE else f".{self.profile}"
        return f"{PROGRAM}{account}{profile}"

    def checked(self) -> "ServicePlan":
        """Return the plan unchanged. Raises BadRequest if a value contains a control character."""
        for text in (*self.command, self.folder, *self.variables.values(), *self.writable, *self.readable):
            if UNPRINTABLE.search(text):
                raise BadRequest(service.unprintable(text))
        return self


def service_command_line(environment: Environment, flags: Sequence[str]) -> tuple[str, ...]:
    """Return the service's command, which starts this installation and stays valid after updates."""
    profile = () if environment.profile == DEFAULT_PROFILE else ("--profile", environment.profile)
    search_path = environment.variables.get("PATH", "")
    return (*program(search_path, sys.argv[0]), *profile, "daemon", "run", *flags)


def program(search_path: str, started_as: str = "") -> tuple[str, ...]:
    """Return the command that starts this installation.

    The command on the search path, or `started_as`, is preferred if it leads to this installation, because it may be a
    link that updates change.
    """
    own = Path(sys.executable).with_name(PROGRAM)
    if not own.is_file():
        return (sys.executable, "-P", "-m", "hermes_acp")
    for found in (shutil.which(PROGRAM, path=search_path), started_as):
        if found and os.path.isabs(found) and os.path.realpath(found) == os.path.realpath(own):
            return (found,)
    return (str(own),)


def service_variables(environment: Environment) -> dict[str, str]:
    """Return the variables that a service takes from the installing shell: `PATH` and the home folder."""
    folders = environment.variables.get("PATH", "").split(os.pathsep)
    kept = {"PATH": os.pathsep.join(dict.fromkeys(filter(os.path.isabs, folders)))}
    if home := environment.variables.get("HERMES_HOME"):
        kept["HERMES_HOME"] = os.path.expanduser(home)
    return {name: value for name, value in kept.items() if value}


def os_user(name: str) -> OsUser:
    """Look up a user for a system service. Raises BadRequest if the user does not exist or is root."""
    try:
        known = pwd.getpwnam(name)
    except KeyError as error:
        raise BadRequest(service.no_such_user(name), hint=service.CREATE_USER_HINT) from error
    if known.pw_uid == 0:
        raise BadRequest(service.ROOT_REFUSED, hint=service.OTHER_USER_HINT)
    return OsUser(known.pw_name, known.pw_uid, known.pw_gid, known.pw_dir)


def hidden_program_folders(home: str) -> tuple[str, ...]:
    """Return the folders of this installation that are hidden from a system service."""
    folders = {os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix)}
    return tuple(
        sorted(each for each in folders if _is_below(each, HIDDEN_FOLDERS) and not _is_below(each, (home,)))
    )


def is_hidden(folder: str) -> bool:
    """Return whether a folder is hidden from a system service unless it is mounted explicitly."""
    return _is_below(os.path.realpath(folder), HIDDEN_FOLDERS)


def _is_below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
