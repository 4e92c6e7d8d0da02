"""Reject changes to files whose current content the model has not read.

The check runs before the user is asked, so that nobody approves a change that was based on outdated content.
"""

from hermes_acp.agent.calls.call_messages import CHANGED_SINCE_READ, UNREAD, CallNote
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.record.session_record import Record
from hermes_acp.core.visible_text import escape_invisible


def stale_read_reason(proposal: Proposal, record: Record) -> CallNote | None:
    """Return the reason if the model has not read the current content of a file that a proposal replaces, else None."""
    for version in proposal.replaces:
        known = record.seen.get(version.path)
        if known is None:
            return UNREAD.format(path=escape_invisible(version.path))
        if known != version.digest:
            return CHANGED_SINCE_READ.format(path=escape_invisible(version.path))
    return None
