"""What `hermes-acp update` says."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

CHECK_HELP: Final = "only say whether there is a newer version"
BACK_HELP: Final = "go back to the version before this one"
FROM_HELP: Final = (
    "where the version comes from, now and in later updates: a wheel, a clone, a folder of wheels, the address of a "
    "wheel or git+URL@TAG (default: where this version came from)"
)
INDEX_HELP: Final = "the package index that the version comes from, now and in later updates"
UPDATE_EPILOG: Final = (
    "The new version is installed beside the old one, tried, and then used by everything that starts from then on. "
    "Sessions that are open go on with the version that they began with. Ctrl+C stops an update; a closed terminal "
    "does not."
)
STEPS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "look": "Looking for a newer version at {}".format,
        "build": "Building it from {}".format,
        "fetch": "Fetching {}".format,
        "install": "Installing {} beside the version in use".format,
        "start": "Starting {}".format,
        "doctor": "Running the doctor of {}".format,
        "trial": "Trying one turn of {} with a scripted model".format,
        "switch": "Switching to {}".format,
    }
)
STOPPING: Final = "Stopping the update."
STOPPED: Final = "The update was stopped."


def newest(version: str, source: str) -> str:
    """Return that there is nothing newer."""
    return f"{version} is the newest version at {source}."


def available(version: str, found: str) -> str:
    """Return which version an update would install."""
    other = f"Another build of {version}" if found == version else f"Version {found}"
    return f"{other} is available; {version} is in use. To install it: hermes-acp update"


def switched(before: str, now: str) -> str:
    """Return which version is used from now on."""
    return f"hermes-acp is now {now}. Sessions that are open go on with {before}."


def way_back(version: str) -> str:
    """Return how to undo an update."""
    return f"To go back to {version}: hermes-acp update --back"


def resident(version: str) -> str:
    """Return that the background process still runs the version before."""
    return f"The process in the background still runs {version}. To restart it: hermes-acp daemon restart"


def unchanged(version: str, log: str) -> str:
    """Return that a failed update changed nothing, and where to read more."""
    return f"{version} stays in use. The log of the update is {log}."


def killed(signal: int, log: str) -> str:
    """Return that the process of an update was killed."""
    return f"The update was killed by signal {signal}. One whole version is in use; run it again. Its log is {log}."
