"""Describe what a sandbox allows, and detect from a command's output that it may have failed because of it."""

import re
from collections.abc import Sequence
from typing import Final

from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.workspaces.sandbox.mechanisms.sandbox_detection import SandboxMechanism
from hermes_acp.workspaces.sandbox.sandbox_policy import CommandMode, SandboxPolicy

LIKELY_CAUSES: Final = LazyPattern(
    r"Read-only file system|Permission denied|Operation not permitted|Network is unreachable|resolve host|"
    r"Name or service not known|name resolution|Address family not supported|EROFS|EACCES|EPERM|ENETUNREACH|EAI_AGAIN|"
    r"ENOTFOUND|Connection refused|Not an allowed host|No space left|Resource temporarily unavailable",
    re.IGNORECASE,
)
EXCHANGED: Final = "bwrap: Race condition binding"


def explain_failure(output: str, allowed: str) -> str:
    """Return a note about a sandbox with the limits `allowed`, if they may be why a command failed."""
    if EXCHANGED in output:
        return "\n[Not run: a folder of the workspace was replaced while the sandbox was being set up.]"
    if not LIKELY_CAUSES.compiled.search(output):
        return ""
    return (
        f"\n[This ran in a sandbox: {allowed}. If that is why it failed, repeat the call with "
        "`unsandboxed: true` to ask the user.]"
    )


def describe_limits(
    bounds: SandboxPolicy, roots: Sequence[str], mode: CommandMode, mechanism: SandboxMechanism
) -> str:
    """Describe what a confined command can do."""
    if mode.is_read_only:
        return "no network; the workspace is read-only, because this was classified as a read-only command"
    hosts = f"only {', '.join(bounds.hosts)}" if bounds.hosts and mechanism == "bubblewrap" else "no network"
    network = "the network" if bounds.has_network else hosts
    written = ", ".join((*roots, *bounds.writable))
    kept = {
        "landlock": "nothing new at their top, .git is only read",
        "seatbelt": ".git is only read",
    }.get(mechanism, mode.describe_git_access())
    return f"{network}; changes only in {written}, {kept}; files that start programs later are only read"
