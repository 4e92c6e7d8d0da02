"""What the agent keeps for its user, and cannot keep just now.

Knows: that a store which fails costs the call alone; only the session's own record can end a turn. Does not know: any
store.
"""

from collections.abc import Generator
from contextlib import contextmanager

from hermes_acp.core.errors import BadRequest, StorageTrouble


@contextmanager
def refusing() -> Generator[None]:
    """Make what a store cannot do a refusal of the call. Raises BadRequest."""
    try:
        yield
    except StorageTrouble as trouble:
        raise BadRequest(trouble.message, hint=trouble.hint) from trouble
