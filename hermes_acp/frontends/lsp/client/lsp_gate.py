"""Ask the editor's user for permission with window/showMessageRequest.

Only a clear yes counts as a yes. Changes that become drafts are not asked about here, because the user confirms them as
edits.
"""

import difflib
import uuid
from collections.abc import Callable, Sequence
from typing import Final

from lsprotocol import types

from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import WARNING_EFFECTS, Diff, PermissionAnswer
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.visible_text import escape_invisible, visible_lines
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.client.lsp_client import ClientError, LspClient
from hermes_acp.frontends.lsp.client.scratch_files import ScratchFolder
from hermes_acp.tools.approval_text import approval_text

DRAFTED_KINDS: Final = frozenset({"edit", "delete", "move"})
MAX_TEXT_LENGTH: Final = 1_000
MAX_LINES: Final = 15


class ClientGate:
    """Asks the user about one session; `drafts` returns whether its writes become drafts.

    A text that is too long for a message is opened as a file in `scratch`, if the editor can open files.
    """

    def __init__(self, client: LspClient, drafts: Callable[[], bool], scratch: ScratchFolder) -> None:
        self._client = client
        self._drafts = drafts
        self._scratch = scratch

    async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
        """Ask about one call; a dismissed question counts as cancelled."""
        if call.kind in DRAFTED_KINDS and call.diffs and self._drafts():
            return "allow_once"
        answers = _answers(permission_scope)
        is_warning = any(effect.kind in WARNING_EFFECTS for effect in call.effects)
        kind = types.MessageType.Warning if is_warning else types.MessageType.Info
        try:
            question = messages.approve(call.title, await self._shown_text(call), _reasons(call))
            chosen = await self._client.choose(question, tuple(answers), kind)
        except ClientError:
            return "unavailable"
        return answers[chosen] if chosen else "cancelled"

    async def _shown_text(self, call: CallProposed) -> str:
        """Return the full text of what a call would run or write; open a long text as a file, and say where it is."""
        text = _diff_text(call.diffs) if call.diffs else approval_text(call)
        if len(text) <= MAX_TEXT_LENGTH and text.count("\n") < MAX_LINES:
            return text
        name = f"approval-{uuid.uuid4().hex[:8]}.{'diff' if call.diffs else 'txt'}"
        try:
            path = await self._scratch.put(name, f"{text}\n")
        except StorageError:
            return text
        is_open = await self._client.show(path.as_uri(), takes_focus=False)
        return messages.text_opened(name) if is_open else text

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask a question with choices, or offer to open a page; return None for questions that need typed text."""
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


def _reasons(call: CallProposed) -> list[str]:
    reasons = [
        messages.effect_reason(effect.kind, effect.targets)
        for effect in call.effects
        if effect.kind in WARNING_EFFECTS
    ]
    return [escape_invisible(reason) for reason in (*reasons, call.why) if reason]


def _diff_text(diffs: Sequence[Diff]) -> str:
    """Format changes as unified diffs."""
    lines: list[str] = []
    for diff in diffs:
        old, new = (diff.old_text or "").splitlines(), diff.new_text.splitlines()
        path = escape_invisible(diff.path)
        to_path = messages.DELETED if diff.is_deleted else path
        lines += difflib.unified_diff(old, new, path, to_path, lineterm="")
    return visible_lines("\n".join(lines))


def _answers(permission_scope: PermissionScope) -> dict[str, PermissionAnswer]:
    """List the possible answers by title; lasting ones are offered only if they can be stored."""
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
