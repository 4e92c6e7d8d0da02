"""The editor's user as the one who is asked.

Knows: window/showMessageRequest, which answers there are and what they are called; that what becomes a draft need not
be asked about, since its user will see it as one. Does not know: why a question is put. Whatever is not a clear yes is
none.
"""

from collections.abc import Callable
from typing import Final

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.lsp.lsp_client import ClientError, LspClient
from hermes_acp.tools.safe_display import escape_invisible

DRAFTED_KINDS: Final = frozenset({"edit", "delete", "move"})
OPENED: Final = "Open the page"
DECLINED: Final = "No"


class ClientGate:
    """Asks the user of one session; `drafts` tells whether what it writes becomes a draft."""

    def __init__(self, client: LspClient, drafts: Callable[[], bool]) -> None:
        self._client = client
        self._drafts = drafts

    async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
        """Put one call; a dismissed question is not answered."""
        if call.kind in DRAFTED_KINDS and call.diffs and self._drafts():
            return "allow_once"
        answers = _answers(permission_scope)
        reason = f"\nAsked because {escape_invisible(call.why)}." if call.why else ""
        try:
            chosen = await self._client.choose(f"Hermes asks to: {call.title}{reason}", tuple(answers))
        except ClientError:
            return "unavailable"
        return answers[chosen] if chosen else "cancelled"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Put one question to pick from, or a page to open; what wants words typed cannot be put here."""
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
        chosen = await self._client.choose(f"{question.text}\n{question.url}", (OPENED, DECLINED))
        if chosen is None:
            return Reply("dismissed")
        if chosen == DECLINED:
            return Reply("declined")
        is_open = await self._client.show(question.url, is_external=True)
        return Reply("opened") if is_open else None


def _answers(permission_scope: PermissionScope) -> dict[str, PermissionAnswer]:
    """List the answers by their titles; lasting ones only where they can be remembered, and saying for what."""
    answers: dict[str, PermissionAnswer] = {"Allow once": "allow_once"}
    if permission_scope.session:
        answers[f"Allow {permission_scope.session} for this session{permission_scope.manner}"] = (
            "allow_always"
        )
    if permission_scope.workspace:
        answers[f"Always allow {permission_scope.workspace} in this folder{permission_scope.manner}"] = (
            "allow_workspace"
        )
    answers["Reject"] = "reject_once"
    if permission_scope.session:
        answers[f"Reject {permission_scope.session} for this session"] = "reject_always"
    return answers
