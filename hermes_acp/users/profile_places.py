"""Locate an account's profile, and determine the operating system user for its process."""

import os
import pwd
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.config.home_folders import (
    DEFAULT_PROFILE,
    PROFILE_VARIABLE,
    process_variables,
    profile_home,
)
from hermes_acp.core.errors import BadRequest, ConfigError
from hermes_acp.users.accounts import Account

PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""The environment variables that every process needs; none of them are secret."""


class ProfilePlace(Struct, frozen=True):
    """The start parameters of a profile's process: its folder, its variables, and the user and group IDs, if any."""

    folder: str
    variables: Mapping[str, str]
    user_id: int | None = None
    group_id: int | None = None
    groups: Sequence[int] | None = None


def place_of(account: Account, base: Path, names: Sequence[str]) -> ProfilePlace:
    """Return the start parameters of an account's process; `names` lists more variables to pass on.

    Raises ConfigError for a profile that does not exist, and BadRequest for a user that this process cannot switch to.
    """
    ours = process_variables()
    variables = {name: ours[name] for name in (*PASSED_ON, *names) if name in ours}
    if account.profile != DEFAULT_PROFILE:
        variables[PROFILE_VARIABLE] = account.profile
    if not account.os_user:
        if account.profile == DEFAULT_PROFILE:
            raise ConfigError("The default profile belongs to the user who runs the hub.")
        variables |= {"HOME": ours.get("HOME") or str(base), "HERMES_HOME": str(base)}
        return ProfilePlace(profile_home(str(base), account.profile), variables)
    known = os_entry(account.os_user)
    variables |= {"HOME": known.pw_dir, "USER": known.pw_name, "LOGNAME": known.pw_name}
    if known.pw_uid == os.geteuid():
        return ProfilePlace(known.pw_dir, variables)
    if os.geteuid() != 0:
        raise BadRequest(
            f"The profile of {account.name!r} runs as {account.os_user!r}, which only root can start.",
            hint="Run the hub as root, or add the user without --os-user.",
        )
    if known.pw_uid == 0:
        raise BadRequest("The agent of a hub's user never runs as root.", hint="Name another --os-user.")
    groups = os.getgrouplist(known.pw_name, known.pw_gid)
    return ProfilePlace(known.pw_dir, variables, known.pw_uid, known.pw_gid, groups)


def os_entry(name: str) -> pwd.struct_passwd:
    """Return the operating system's account entry for a user. Raises BadRequest."""
    try:
        return pwd.getpwnam(name)
    except KeyError as error:
        raise BadRequest(
            f"The operating system has no user {name!r}.", hint=f"Create it first, such as: useradd -m {name}"
        ) from error


def current_os_user() -> str:
    """Return the user who runs this process or who called sudo for it."""
    if os.geteuid() == 0 and (caller := process_variables().get("SUDO_USER")):
        return caller
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def program() -> list[str]:
    """Return the command that starts this program."""
    return [sys.executable, "-m", "hermes_acp"]
