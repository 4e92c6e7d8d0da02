"""Run a code action: a turn, its progress, and the confirmation of its changes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import anyio
from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException

from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import (
    CallProposed,
    Event,
    Noticed,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
)
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.frontends.lsp import messages, model_text
from hermes_acp.frontends.lsp.client.lsp_gate import ClientGate
from hermes_acp.frontends.lsp.client.work_done_progress import WorkDoneProgress
from hermes_acp.frontends.lsp.code_action import Action, parts_of
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_sessions import LspSession
from hermes_acp.frontends.lsp.edits.edit_confirmation import STOPPED_EARLY, EditResult

FAILED: Final[frozenset[ExitReason]] = frozenset(
    {"bad_calls", "looping", "empty", "model_trouble", "storage_trouble", "gave_up"}
)
STATUS: Final[Mapping[bool, str]] = MappingProxyType({True: "cancelled", False: "done"})
Result = dict[str, object]


class TurnListener:
    """Follows one turn: collects its last answer and reports its progress."""

    def __init__(self, editor: EditorConnection, progress: WorkDoneProgress) -> None:
        self._editor = editor
        self._progress = progress
        self._words: list[str] = []
        self.answer = ""

    def show(self, event: Event) -> None:
        """Apply one event."""
        match event:
            case TextSaid():
                if not self._words:
                    self._progress.report(messages.ANSWERING)
                self._words.append(event.text)
            case StepEnded():
                self.answer = "".join(self._words) or self.answer
                self._words.clear()
            case StepFailed():
                self._words.clear()
            case CallProposed():
                self._progress.report(event.title)
            case Noticed(level="warning" | "error"):
                self._editor.client.warn(event.text)
            case _:
                pass

    async def drained(self) -> None:
        """Return at once: nothing is buffered."""


async def run_action(
    editor: EditorConnection, name: str, action: Action, selection: CodeSelection, token: int | str | None
) -> Result:
    """Run an action and return its result. Raises HermesError, or JsonRpcException if the turn failed."""
    scope = anyio.CancelScope()
    title = messages.action_label(action.title)
    with scope:
        async with editor.progress.shown(title, token, scope.cancel) as progress:
            lsp_session = await editor.lsp_sessions.take(
                await editor.app(), selection.document.path, editor.settings
            )
            if lsp_session.turn.locked():
                progress.report(messages.WAITING_FOR_ACTION)
            async with lsp_session.turn:
                return await _run_turn(editor, lsp_session, action, selection, progress)
    return {"status": "cancelled", "action": name}


async def _run_turn(
    editor: EditorConnection,
    lsp_session: LspSession,
    action: Action,
    selection: CodeSelection,
    progress: WorkDoneProgress,
) -> Result:
    listener = TurnListener(editor, progress)
    lsp_session.session.ledger.admit(listener)
    outcome = EditResult()
    try:
        gate = ClientGate(editor.client, lsp_session.makes_drafts, editor.scratch)
        end = await lsp_session.session.prompt(parts_of(action, selection), gate)
        if end.reason in FAILED:
            code = end.error_code or end.reason
            raise JsonRpcException(end.sentence, LSPErrorCodes.RequestFailed.value, {"code": code})
        if end.reason != "cancelled":
            await _propose_changes(editor, lsp_session, action, progress, outcome)
    finally:
        lsp_session.session.ledger.dismiss(listener)
        outcome.unapplied |= {draft.path: STOPPED_EARLY for draft in lsp_session.drafts.take()}
        with anyio.CancelScope(shield=True):
            await _report_unapplied(editor, lsp_session, outcome)
    return await _result(editor, lsp_session, end, outcome, listener.answer, reads=not action.changes_files)


async def _propose_changes(
    editor: EditorConnection,
    lsp_session: LspSession,
    action: Action,
    progress: WorkDoneProgress,
    outcome: EditResult,
) -> None:
    """Let the user confirm the drafts, and apply only those that were confirmed."""
    drafts = lsp_session.drafts.take()
    if not drafts:
        return
    outcome.unapplied |= {draft.path: STOPPED_EARLY for draft in drafts}
    progress.report(messages.WAITING_FOR_REVIEW)
    confirmed = await editor.review.confirm(
        messages.action_label(action.title), drafts, lsp_session.session.workspace.read
    )
    outcome.applied, outcome.unapplied = confirmed.applied, confirmed.unapplied


async def _report_unapplied(editor: EditorConnection, lsp_session: LspSession, outcome: EditResult) -> None:
    """Tell the model and the user which changes were not applied, and why."""
    if not outcome.unapplied:
        return
    await lsp_session.note(
        model_text.not_applied({path: why.for_model for path, why in outcome.unapplied.items()})
    )
    files = [
        messages.unapplied_file(escape_invisible(path), why.for_user)
        for path, why in outcome.unapplied.items()
    ]
    editor.client.warn(messages.not_applied(files))


async def _result(
    editor: EditorConnection,
    lsp_session: LspSession,
    end: TurnEnded,
    outcome: EditResult,
    answer: str,
    *,
    reads: bool,
) -> Result:
    """Show the answer if the action is for reading or nothing was changed; return the command's result."""
    result: Result = {
        "status": STATUS[end.reason == "cancelled"],
        "reason": end.reason,
        "sessionId": lsp_session.session.id,
        "text": answer,
        "applied": outcome.applied,
        "notApplied": {path: why.for_user for path, why in outcome.unapplied.items()},
    }
    if end.sentence:
        editor.client.warn(end.sentence)
    if answer.strip() and (reads or not (outcome.applied or outcome.unapplied)):
        result["document"] = await editor.show_answer(answer)
    return result
