"""The folders of profiles: create and remove them, and link keys. Only the user can enter them."""

import fcntl
import os
from pathlib import Path

from hermes_acp.config.environment import KEYS_FROM
from hermes_acp.config.home_folders import (
    DEFAULT_PROFILE,
    RESIDENT_LOCK,
    is_profile_name,
    profile_folder,
    profile_home,
)
from hermes_acp.config.profile_errors import bad_profile_name, linked_profile
from hermes_acp.core.errors import BadRequest, Busy
from hermes_acp.storage.private_files import private_folder, remove_folder, storage_error, write_whole


def create_profile(base: Path, name: str, keys_from: str = "") -> Path:
    """Create an empty home folder, which may use the keys of another profile; return its path.

    Raises ConfigError for an invalid name, BadRequest if the profile exists, or StorageError.
    """
    if not is_profile_name(name):
        raise bad_profile_name(name)
    if keys_from:
        profile_home(str(base), keys_from)
    home = Path(profile_folder(str(base), name))
    if name == DEFAULT_PROFILE or os.path.lexists(home):
        raise BadRequest(
            f"The profile {name!r} already exists.", hint=f"Use it: `hermes-acp --profile {name}`."
        )
    for folder in (base, home.parent):
        private_folder(folder)
    if home.parent.is_symlink():
        raise linked_profile(str(home.parent))
    private_folder(home)
    if keys_from:
        link_keys(base, name, keys_from)
    return home


def link_keys(base: Path, name: str, source: str) -> None:
    """Let a profile use the keys of another profile, or only its own if `source` is empty.

    Raises ConfigError, BadRequest or StorageError.
    """
    home = Path(profile_home(str(base), name))
    if name == DEFAULT_PROFILE:
        raise BadRequest("The default profile uses its own keys only.", hint="Name another profile.")
    file = home / KEYS_FROM
    try:
        if not source:
            file.unlink(missing_ok=True)
            return
        profile_home(str(base), source)
        if source == name:
            raise BadRequest(f"{name!r} is the profile itself.", hint="Name another profile with --from.")
        write_whole(file, f"{source}\n".encode(), mode=0o600)
    except OSError as error:
        raise storage_error("write", file, error) from error


def remove_profile(base: Path, name: str) -> None:
    """Remove a profile's home folder with everything in it, and nothing else.

    Raises ConfigError, BadRequest for the default profile, Busy while one of its sessions is open, or StorageError.
    """
    home = Path(profile_home(str(base), name))
    if name == DEFAULT_PROFILE:
        raise BadRequest("The default profile cannot be removed.", hint="Delete its sessions instead.")
    if _is_open(home / RESIDENT_LOCK):
        raise Busy(
            f"The profile {name!r} has a background process.",
            hint=f"Stop it first: `hermes-acp --profile {name} daemon stop`.",
        )
    for record in sorted((home / "sessions").glob("*.jsonl")):
        if _is_open(record):
            raise Busy(
                f"Session {record.stem!r} of the profile {name!r} is open in another process.",
                hint="Close it first.",
            )
    remove_folder(home)


def _is_open(path: Path) -> bool:
    """Return whether another process holds the lock of a file."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
