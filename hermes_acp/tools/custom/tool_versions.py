"""Extract the versions of one tool from the version history of its folder.

Functions block.
"""

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.storage.version_history import (
    MANUAL_CHANGE_REASON,
    ChangeCause,
    Version,
    VersionFile,
    VersionHistory,
)


class ToolVersion(Struct, frozen=True):
    """A version: its number, author, time, reason and file, or None for an archived tool."""

    number: int
    cause: ChangeCause
    file: VersionFile | None


def versions_of(history: VersionHistory, name: str, now: float) -> tuple[ToolVersion, ...]:
    """Return a tool's versions, oldest first; manual changes are also stored as a version. Raises StorageError."""
    if history.folder.is_dir():
        history.keep(ChangeCause("user", now, MANUAL_CHANGE_REASON))
    return _folded(history.versions(), f"{name}.py")


def _folded(versions: tuple[Version, ...], path: str) -> tuple[ToolVersion, ...]:
    found: list[ToolVersion] = []
    for version in versions:
        file = next((each for each in version.files if each.path == path), None)
        before = found[-1].file if found else None
        if (file and file.digest) != (before and before.digest):
            found.append(ToolVersion(len(found) + 1, version.cause, file))
    return tuple(found)


def version_to_return_to(versions: tuple[ToolVersion, ...], name: str, number: int) -> ToolVersion:
    """Return the version with the given number; 0 means the one before the current. Raises BadRequest."""
    if not versions:
        raise BadRequest(f"There are no stored versions of a tool {name[:60]!r}.")
    if number == 0:
        earlier = [each for each in versions[:-1] if each.file is not None]
        if not earlier:
            raise BadRequest(f"{name} has no earlier version.")
        return earlier[-1]
    found = next((each for each in versions if each.number == number), None)
    if found is None or found.file is None:
        kept = ", ".join(str(each.number) for each in versions if each.file is not None)
        raise BadRequest(f"{name} has no version {number} to restore.", hint=f"Stored versions: {kept}.")
    return found
