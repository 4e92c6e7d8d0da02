"""Why a command may have failed in its sandbox.

Knows: what programs and bubblewrap say then. Does not know: what the sandbox allowed.
"""

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
    """Return a line about a sandbox that `allowed` so much, where it may be why a command failed."""
    if EXCHANGED in output:
        return "\n[Not run: a folder of the workspace was exchanged for another while the sandbox was made.]"
    if not LIKELY_CAUSES.search(output):
        return ""
    return (
        f"\n[This ran in a sandbox: {allowed}. If that is why it failed, the same call with "
        "`unsandboxed: true` is put to the user.]"
    )
