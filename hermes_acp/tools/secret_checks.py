"""Find out whether a file holds keys, by its name and its content, before a tool reads it."""

from collections.abc import Collection
from typing import Final

from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.workspace_ports import Files
from hermes_acp.core.proposals import Progress, Reads
from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.telemetry.secret_files import MAX_BYTES, secret_in

MAX_LOOKED_INTO: Final = 200


async def secret_in_file(workspace: Files, path: str, named: str = "") -> str:
    """Say what a file holds that is a secret, in a few words; empty where nothing tells that it holds one.

    `path` is where it lies, with links followed, `named` how it was asked for.
    """
    if named and is_sensitive(named):
        return "secrets, as its name says"
    try:
        piece = await workspace.read_range(path, 0, MAX_BYTES + 1)
    except HermesError:
        return ""  # whoever reads it says why it cannot be read
    return "" if piece is None or piece.size_bytes > MAX_BYTES else secret_in(piece.content)


async def without_secret_files(
    workspace: Files, paths: Collection[str], named: str, progress: Progress
) -> frozenset[str]:
    """Return those files of which lines may be shown, and the one that a call `named` itself: it was judged by that.

    Files on another machine, and those beyond the first `MAX_LOOKED_INTO`, are not looked into; keys of a known shape
    are masked in them too.
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
