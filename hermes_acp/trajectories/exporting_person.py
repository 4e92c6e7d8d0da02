"""Find texts to remove from an export: the user's secrets and names."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings import load_variables
from hermes_acp.telemetry.redaction import Redactor, secrets_among
from hermes_acp.trajectories.text_cleaning import HOME, STATE_HOME, PersonalNames

MAX_GIT_CONFIG_BYTES = 1 << 20


def mask_of_environment(environment: Environment) -> Callable[..., str]:
    """Return a function that masks secrets, including those in the environment and `.env`. Blocks."""
    return Redactor(secrets_among(load_variables(environment))).clean


def names_of_person(environment: Environment) -> PersonalNames:
    """Return the person's names from the environment, the home folder and the git settings. Blocks."""
    variables = environment.variables
    home = variables.get("HOME") or os.path.expanduser("~")
    places = {os.path.realpath(home): HOME, home: HOME}
    private = str(environment.private_folder)
    places |= {os.path.realpath(private): STATE_HOME, private: STATE_HOME}
    logins = {variables.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")} | {os.path.basename(home)}
    names, mails = _git_identity(Path(home))
    usable = tuple((place, put) for place, put in places.items() if place.count("/") and len(place) > 1)
    return PersonalNames(usable, (*sorted(filter(None, logins)), *names), mails, (socket.gethostname(),))


def _git_identity(home: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names and email addresses in a person's git settings."""
    found: dict[str, list[str]] = {"name": [], "email": []}
    for path in (home / ".gitconfig", home / ".config" / "git" / "config"):
        with suppress(OSError):
            for key, value in _user_settings(path.read_bytes()[:MAX_GIT_CONFIG_BYTES]):
                found.get(key, []).append(value)
    return tuple(found["name"]), tuple(found["email"])


def _user_settings(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the settings in the section `user`."""
    is_inside = False
    for line in content.decode("utf-8", "replace").splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section, _, stripped = stripped[1:].partition("]")
            is_inside = section.strip().lower() == "user"
        key, sign, value = stripped.partition("=")
        if is_inside and sign:
            yield key.strip().lower(), value.strip().strip('"')
