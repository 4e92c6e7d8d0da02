"""Explain why a profile cannot be used."""

from collections.abc import Iterable
from typing import Final

from hermes_acp.core.errors import ConfigError

NAME_RULE: Final = "Use up to 32 lower-case letters, digits, - and _, and begin with a letter or digit."


def bad_profile_name(name: str) -> ConfigError:
    """Return the error for an invalid profile name."""
    return ConfigError(f"{name[:80]!r} is not a valid profile name.", hint=NAME_RULE)


def linked_profile(folder: str) -> ConfigError:
    """Return the error for a profile whose folder is a symbolic link."""
    return ConfigError(
        f"{folder} is a symbolic link.", hint="Replace it with a folder: profiles do not share files."
    )


def missing_profile(name: str, names: Iterable[str]) -> ConfigError:
    """Return the error for a profile that does not exist, suggesting the name that was probably meant."""
    from difflib import get_close_matches

    close = get_close_matches(name, tuple(names), n=1)
    meant = f"Did you mean {close[0]}? " if close else ""
    return ConfigError(
        f"There is no profile {name!r}.", hint=f"{meant}To create it: `hermes-acp profiles create {name}`."
    )
