"""Messages of `hermes-acp update`."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

CHECK_HELP: Final = "only check whether a newer version is available"
BACK_HELP: Final = "go back to the previous version"
FROM_HELP: Final = (
    "where the version comes from, now and in later updates: a wheel, a clone, a folder of wheels, the address of a "
    "wheel or git+URL@TAG (default: where this version came from)"
)
INDEX_HELP: Final = "the package index that the version comes from, now and in later updates"
UPDATE_EPILOG: Final = (
    "The new version is installed beside the old one and tried. Everything that starts afterwards uses it. Open "
    "sessions keep the version that they started with. Ctrl+C stops an update; closing the terminal does not."
)
STEPS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "look": "Looking for a newer version at {}".format,
        "build": "Building it from {}".format,
        "fetch": "Fetching {}".format,
        "install": "Installing {} beside the version in use".format,
        "start": "Starting {}".format,
        "doctor": "Running the doctor of {}".format,
        "trial": "Testing one turn of {} with a scripted model".format,
        "switch": "Switching to {}".format,
    }
)
STOPPING: Final = "Stopping the update."
INSTALLED_SKILLS: Final = (
    "Skills that you installed were not changed. To look for newer versions: hermes-acp skills update"
)
STOPPED: Final = "The update was stopped."


def newest(version: str, source: str) -> str:
    """Say that there is no newer version."""
    return f"{version} is the newest version at {source}."


def available(version: str, found: str) -> str:
    """Say which version an update would install."""
    other = f"Another build of {version}" if found == version else f"Version {found}"
    return f"{other} is available; {version} is in use. To install it: hermes-acp update"


def switched(before: str, now: str) -> str:
    """Name the version now in use, and the one that open sessions keep."""
    return f"hermes-acp is now {now}. Open sessions keep {before}."


def way_back(version: str) -> str:
    """Say how to undo an update."""
    return f"To go back to {version}: hermes-acp update --back"


def resident(version: str) -> str:
    """Say that the background process still runs the previous version."""
    return f"The background process still runs {version}. To restart it: hermes-acp daemon restart"


def unchanged(version: str, log: str) -> str:
    """Say that a failed update changed nothing, and name its log."""
    return f"{version} stays in use. The log of the update is {log}."


def killed(signal: int, log: str) -> str:
    """Say that the process of an update was killed."""
    return (
        f"The update was killed by signal {signal}. A complete version is still in use; run the update again. "
        f"Its log is {log}."
    )


def builtin_skills(new: Sequence[str], changed: Sequence[str], gone: Sequence[str]) -> str:
    """Describe how the built-in skills of two versions differ."""
    parts = (("new", new), ("changed", changed), ("no longer built in", gone))
    facts = [f"{what}: {', '.join(names)}" for what, names in parts if names]
    return f"Built-in skills: {'; '.join(facts)}."


def skills_followed(names: Sequence[str], folder: str) -> str:
    """Say which copies of built-in skills were updated."""
    return f"Unedited copies in {folder} were updated too: {', '.join(names)}."


def skills_hidden(names: Sequence[str], folder: str) -> str:
    """Say which of the user's skills override changed built-in ones."""
    return (
        f"Your own skills in {folder} are used instead of built-in ones that changed: {', '.join(names)}. "
        "To use a built-in one, move yours away."
    )


def skills_not_followed(reason: str) -> str:
    """Say that the update is done, but copies of built-in skills were not updated."""
    return f"The update is done, but copies of built-in skills could not be updated: {reason}"
