"""Messages of `hermes-acp profiles`."""

from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

LIST_HELP: Final = "list the profiles; * marks the one in use"
SHOW_HELP: Final = "show where a profile is and whose keys it may use"
SHOWN_HELP: Final = "the profile (default: the one in use)"
CREATE_HELP: Final = "create a profile"
NAME_HELP: Final = "the profile"
KEYS_FROM_HELP: Final = "let the new profile use the keys of PROFILE, without copying them"
LINK_HELP: Final = "let a profile use the keys of another one"
FROM_HELP: Final = "the profile with the keys (default: default)"
UNLINK_HELP: Final = "let it use its own keys only"
REMOVE_HELP: Final = "delete a profile with its sessions, notes, skills, keys and answers"
YES_HELP: Final = "do not ask"
REMOVE_NEEDS_YES: Final = "Removing a profile needs your approval, but there is no terminal to ask in."
REMOVE_HINT: Final = "Add --yes."
NOTHING_REMOVED: Final = "Nothing was removed."
NONE: Final = "none"
OWN: Final = "its own"
LABELS: Final = ("Profile", "Home", "Settings", "Keys", "Sessions")


def created(name: str, home: str) -> str:
    """Confirm a new profile."""
    return f"Created the profile {name}: {home}"


def next_step(name: str, *, has_keys: bool) -> str:
    """Say how to continue with a new profile."""
    if has_keys:
        return f"Use it with: hermes-acp --profile {name} chat"
    return f"Set up a model for it with: hermes-acp --profile {name} setup"


def linked(name: str, source: str) -> str:
    """Confirm a link to the keys of another profile."""
    return f"The profile {name} may use the keys of {source}. They stay there; its own keys come first."


def unlinked(name: str) -> str:
    """Confirm that a link is removed."""
    return f"The profile {name} uses its own keys only."


def sessions(count: int) -> str:
    """Count the sessions of a profile."""
    return f"{counted(count, 'session'):>12}"


def may_remove(name: str, count: int, home: str) -> str:
    """Ask whether to remove a profile."""
    return f"Delete the profile {name} with {counted(count, 'session')} and everything else in {home}? [y/N] "


def removed(name: str) -> str:
    """Confirm that a profile was removed."""
    return f"Removed the profile {name}."


def keys(source: str, link: str, *, has_own: bool) -> str:
    """Return whose keys a profile may use."""
    own = OWN if has_own else NONE
    return f"{own}, and those of {source} ({link})" if source else own
