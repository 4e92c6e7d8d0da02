"""Ask the host program's `approve` function for permission; without one, nobody is available to answer."""

import inspect

from anyio.to_thread import run_sync

from hermes_acp.context.context_monitor import CARD_NAME
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.library.agent_options import Approval, Approve
from hermes_acp.policy.workspace_trust import TRUST_CARD_PARENT


class ApprovalGate:
    """The gate of one turn; it remembers the calls that nobody approved."""

    def __init__(self, approve: Approve | None) -> None:
        self.unapproved: dict[str, str] = {}
        """The titles of calls that needed an approval that nobody gave, by call ID."""
        self._approve = approve

    async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
        """Ask the host program about one call."""
        if self._approve is None:
            # The turn continues without the files and tools that are not trusted.
            if call.name != CARD_NAME and call.within != TRUST_CARD_PARENT:
                self.unapproved[call.call_id] = call.title
            return "unavailable"
        approval = Approval(call.name, call.title, call.raw_input, call.why, call.effects, call.diffs)
        if inspect.iscoroutinefunction(self._approve):
            is_allowed = await self._approve(approval)
        else:
            is_allowed = await run_sync(self._approve, approval, abandon_on_cancel=True)
            if inspect.isawaitable(is_allowed):
                is_allowed = await is_allowed
        if is_allowed is True:
            return "allow_once"
        self.unapproved[call.call_id] = call.title
        return "reject_once"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Report that nobody is available to answer; the model continues without an answer."""
        return None
