"""Notes for the model about a workspace that has moved."""

from typing import Final

MOVED: Final = (
    "[This work continues on another machine. {top} has the state of {time}. Changes made after that are missing, as "
    "are files that git ignores (installed packages, build results) or that hold keys, and processes that were "
    "running. Check what you rely on before you continue.]"
)

REBUILT: Final = (
    "[The folder {top} was missing on this machine and was rebuilt with the state of {time}. Changes made after that "
    "are missing, as are files that git ignores (installed packages, build results) or that hold keys, and processes "
    "that were running. Check what you rely on before you continue.]"
)


def moved(time: str, top: str) -> str:
    """Return the note about a folder that was brought to this machine."""
    return MOVED.format(time=time, top=top)


def rebuilt(time: str, top: str) -> str:
    """Return the note about a folder that was missing on its own machine."""
    return REBUILT.format(time=time, top=top)
