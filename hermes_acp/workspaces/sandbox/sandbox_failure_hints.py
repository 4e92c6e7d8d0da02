"""Detect from a command's output that it may have failed because of its sandbox."""

import re
from typing import Final

LIKELY_CAUSES: Final = re.compile(
    r"Read-only file system|Permission denied|Operation not permitted|Network is unreachable|resolve host|"
    r"Name or service not known|name resolution|Address family not supported|EROFS|EACCES|EPERM|ENETUNREACH|EAI_AGAIN|"
    r"ENOTFOUND|Connection refused|Not an allowed host|No space left|Resource temporarily unavailable",
    re.IGNORECASE,
)
EXCHANGED: Final = "bwrap: Race condition binding"


def explain_failure(output: str, allowed: str) -> str:
    """Return a note about a sandbox that `allowed` this much, if it may be why a command failed."""
    if EXCHANGED in output:
        return "\n[Not run: a folder of the workspace was replaced while the sandbox was being set up.]"
    if not LIKELY_CAUSES.search(output):
        return ""
    return (
        f"\n[This ran in a sandbox: {allowed}. If that is why it failed, repeat the call with "
        "`unsandboxed: true` to ask the user.]"
    )
