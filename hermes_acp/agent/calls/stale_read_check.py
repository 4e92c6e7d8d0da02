"""Reject a change of files that the model has not read as they are now.

The check runs before anybody is asked: nobody should approve a change that was made up against another text.
"""

from typing import Final

from hermes_acp.core.proposals import Proposal
from hermes_acp.core.record.session_record import Record
from hermes_acp.tools.safe_display import escape_invisible

UNREAD: Final = (
    "{path} was not read in this session. Nothing was changed: read it, then decide on the change."
)
CHANGED: Final = (
    "{path} is not what it was when you read it. Nothing was changed: read it again, then decide anew."
)


def stale_read_reason(proposal: Proposal, record: Record) -> str:
    """Name the file that the model does not know as it is now; empty where it knows all it would replace."""
    for version in proposal.replaces:
        known = record.seen.get(version.path)
        if known is None:
            return UNREAD.format(path=escape_invisible(version.path))
        if known != version.digest:
            return CHANGED.format(path=escape_invisible(version.path))
    return ""
