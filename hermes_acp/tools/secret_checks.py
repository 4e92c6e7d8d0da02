"""Detect secrets in a file by its name and content before a tool reads it."""

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.workspace_ports import Files
from hermes_acp.core.proposals import Progress, Reads
from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.telemetry.secret_files import MAX_BYTES, secret_in

MAX_LOOKED_INTO: Final = 200


class FileInspection(Struct, frozen=True):
    """A short description of the secret in a file (or empty), and the file's size (0 if it cannot be read)."""

    secret: str
    size_bytes: int


async def secret_in_file(workspace: Files, path: str, named: str = "") -> str:
    """Describe the secret in a file in a few words, or return an empty string if none is found.

    `path` is the file with links resolved; `named` is the path as requested.
    """
    return (await inspect_file(workspace, path, named)).secret


async def inspect_file(workspace: Files, path: str, named: str = "") -> FileInspection:
    """Return the secret in a file, as `secret_in_file` does, and the file's size."""
    is_secret_by_name = bool(named) and is_sensitive(named)
    try:
        piece = await workspace.read_range(path, 0, 1 if is_secret_by_name else MAX_BYTES + 1)
    except HermesError:
        piece = None  # the read that follows reports why it fails
    size_bytes = piece.size_bytes if piece else 0
    if is_secret_by_name:
        return FileInspection("secrets, as its name says", size_bytes)
    return FileInspection(secret_in(piece.content) if piece and size_bytes <= MAX_BYTES else "", size_bytes)


async def without_secret_files(
    workspace: Files, paths: Collection[str], named: str, progress: Progress
) -> frozenset[str]:
    """Return the files whose lines may be shown, including the file that the call `named`, which was already checked.

    Files on another machine, and those beyond the first `MAX_LOOKED_INTO`, are not inspected; keys in known formats are
    masked in them too.
    """
    if workspace.is_remote:
        return frozenset(paths)
    ordered = sorted(paths)
    kept = set(ordered[MAX_LOOKED_INTO:])
    for path in ordered[:MAX_LOOKED_INTO]:
        secret = "" if path == named else await secret_in_file(workspace, path)
        if not secret or progress.allows(Reads(path, secret)):
            kept.add(path)
    return frozenset(kept)
