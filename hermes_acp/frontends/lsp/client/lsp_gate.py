"""Ask the editor's user for permissions, over window/showMessageRequest.

Anything but a clear yes counts as no. Changes that become drafts are not asked about here, because the user confirms
them as edits.
"""

from collections.abc import Callable
from typing import Final

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.client.lsp_client import ClientError, LspClient
from hermes_acp.tools.safe_display import escape_invisible

DRAFTED_KINDS: Final = frozenset({"edit", "delete", "move"})


class ClientGate:
    """Asks the user of one session; `drafts` returns whether its writes become drafts."""

    def __init__(self, client: LspClient, drafts: Callable[[], bool]) -> None:
        self._client = client
        self._drafts = drafts

    async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
        """Ask about one call; a dismissed question counts as cancelled."""
        if call.kind in DRAFTED_KINDS and call.diffs and self._drafts():
            return "allow_once"
        answers = _answers(permission_scope)
        question = messages.approve(call.title, escape_invisible(call.why))
        try:
            chosen = await self._client.choose(question, tuple(answers))
        except ClientError:
            return "unavailable"
        return answers[chosen] if chosen else "cancelled"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask to choose or to open a page; return None for questions that need typed text."""
        try:
            if question.url:
                return await self._open(question)
            if question.form is not None or not question.choices:
                return None
            chosen = await self._client.choose(question.text, question.choices)
        except ClientError:
            return None
        return Reply("answered", chosen) if chosen else Reply("dismissed")

    async def _open(self, question: Question) -> Reply | None:
        if not self._client.can.show_documents:
            return None
        offer = messages.visit(question.text, question.url)
        chosen = await self._client.choose(offer, (messages.OPEN_PAGE, messages.DECLINE))
        if chosen is None:
            return Reply("dismissed")
        if chosen == messages.DECLINE:
            return Reply("declined")
        is_open = await self._client.show(question.url, is_external=True)
        return Reply("opened") if is_open else None


def _answers(permission_scope: PermissionScope) -> dict[str, PermissionAnswer]:
    """List the answers by title; lasting ones only if they can be stored."""
    session, folder, manner = permission_scope.session, permission_scope.workspace, permission_scope.manner
    answers: dict[str, PermissionAnswer] = {messages.ALLOW_ONCE: "allow_once"}
    if session:
        answers[messages.allow_in_session(session, manner)] = "allow_always"
    if folder:
        answers[messages.allow_in_folder(folder, manner)] = "allow_workspace"
    answers[messages.REJECT] = "reject_once"
    if session:
        answers[messages.reject_in_session(session)] = "reject_always"
    return answers
