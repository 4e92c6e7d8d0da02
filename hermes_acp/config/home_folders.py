"""The home folder, and the home folders of the user's profiles below it.

Every process that an editor starts reads this first, so it imports little.
"""

import os
from collections.abc import Mapping
from typing import Final

from hermes_acp.core.errors import ConfigError

PROFILE_VARIABLE: Final = "HERMES_PROFILE"
MAX_PROFILE_CHARACTERS: Final = 32
PROFILE_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
DEFAULT_PROFILE: Final = "default"
PROFILES_FOLDER: Final = "profiles"
RESIDENT_LOCK: Final = "daemon.lock"
"""The lock file of a home folder's resident process."""
GATEWAY_LOCK: Final = "gateway.lock"
"""The lock file of a home folder's gateway."""


def process_variables() -> Mapping[str, str]:
    """Return the variables of this process."""
    return os.environ


def use_profile(name: str) -> None:
    """Select the profile for this process and its child processes; `read_environment` validates the name."""
    os.environ[PROFILE_VARIABLE] = name


def current_profile() -> str:
    """Return the name of the selected profile, whether or not it exists."""
    return os.environ.get(PROFILE_VARIABLE) or DEFAULT_PROFILE


def home_of(variables: Mapping[str, str]) -> tuple[str, str, str]:
    """Return the home folder, the selected profile and, if that is not the default profile, the default profile's home.

    The home is HERMES_HOME or, if unset, `.hermes` in the user's home; a profile's home is below that. Raises
    ConfigError for a profile that does not exist and for a relative HERMES_HOME.
    """
    named = variables.get("HERMES_HOME")
    home = os.path.expanduser(named or os.path.join(variables.get("HOME") or "~", ".hermes"))
    if named and not os.path.isabs(home):
        raise ConfigError(
            f"HERMES_HOME is {named!r}, which is not an absolute path.", hint="Use an absolute path."
        )
    home = home if os.path.isabs(home) else os.path.abspath(home)
    profile = variables.get(PROFILE_VARIABLE) or DEFAULT_PROFILE
    if profile == DEFAULT_PROFILE:
        return home, profile, ""
    return profile_home(home, profile), profile, home


def is_profile_name(name: str) -> bool:
    """Return whether a text is a valid profile name: it must be a valid folder name on every system."""
    return (
        0 < len(name) <= MAX_PROFILE_CHARACTERS and name[0] not in "-_" and not set(name) - PROFILE_CHARACTERS
    )


def profile_names(base: str) -> list[str]:
    """Return the names of all profiles except the default one."""
    try:
        with os.scandir(os.path.join(base, PROFILES_FOLDER)) as entries:
            return sorted(
                entry.name
                for entry in entries
                if is_profile_name(entry.name) and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []


def profile_home(base: str, name: str) -> str:
    """Return the home folder of an existing profile. Raises ConfigError."""
    from hermes_acp.config.profile_errors import bad_profile_name, linked_profile, missing_profile

    if not is_profile_name(name):
        raise bad_profile_name(name)
    if name == DEFAULT_PROFILE:
        return base
    home = profile_folder(base, name)
    if os.path.realpath(home) != profile_folder(os.path.realpath(base), name):
        raise linked_profile(home)
    if not os.path.isdir(home):
        raise missing_profile(name, (DEFAULT_PROFILE, *profile_names(base)))
    return home


def profile_folder(base: str, name: str) -> str:
    """Return the path of a profile's home folder, whether or not it exists."""
    return base if name == DEFAULT_PROFILE else os.path.join(base, PROFILES_FOLDER, name)
