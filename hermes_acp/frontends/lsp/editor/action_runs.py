"""One action carried out: a turn, what it says meanwhile, what it changed, put to the user.

Knows: the order of it all, what is answered in the end. Does not know: any single action.
"""

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
from hermes_acp.frontends.lsp import messages, model_text
from hermes_acp.frontends.lsp.client.lsp_gate import ClientGate
from hermes_acp.frontends.lsp.client.work_done_progress import WorkDoneProgress
from hermes_acp.frontends.lsp.code_action import Action, parts_of
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_sessions import LspSession
from hermes_acp.frontends.lsp.edits.edit_confirmation import STOPPED_EARLY, EditResult
from hermes_acp.tools.safe_display import escape_invisible

FAILED: Final[frozenset[ExitReason]] = frozenset(
    {"bad_calls", "looping", "empty", "model_trouble", "storage_trouble", "gave_up"}
)
STATUS: Final[Mapping[bool, str]] = MappingProxyType({True: "cancelled", False: "done"})
Result = dict[str, object]


class TurnListener:
    """Follows one turn: its last words, and what is being done."""

    def __init__(self, editor: EditorConnection, progress: WorkDoneProgress) -> None:
        self._editor = editor
        self._progress = progress
        self._words: list[str] = []
        self.answer = ""

    def show(self, event: Event) -> None:
        """Take one event."""
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
        """Keep up: nothing is waited for."""


async def carry_out(
    editor: EditorConnection, name: str, action: Action, place: CodeSelection, token: int | str | None
) -> Result:
    """Do one action and give what came of it. Raises HermesError, or JsonRpcException for a turn that failed."""
    scope = anyio.CancelScope()
    title = messages.action_label(action.title)
    with scope:
        async with editor.progress.shown(title, token, scope.cancel) as progress:
            lsp_session = await editor.lsp_sessions.take(
                await editor.app(), place.document.path, editor.settings
            )
            if lsp_session.turn.locked():
                progress.report(messages.WAITING_FOR_ACTION)
            async with lsp_session.turn:
                return await _work(editor, lsp_session, action, place, progress)
    return {"status": "cancelled", "action": name}


async def _work(
    editor: EditorConnection,
    lsp_session: LspSession,
    action: Action,
    place: CodeSelection,
    progress: WorkDoneProgress,
) -> Result:
    listener = TurnListener(editor, progress)
    lsp_session.session.ledger.admit(listener)
    settled = EditResult()
    try:
        gate = ClientGate(editor.client, lsp_session.makes_drafts)
        end = await lsp_session.session.prompt(parts_of(action, place), gate)
        if end.reason in FAILED:
            code = end.error_code or end.reason
            raise JsonRpcException(end.sentence, LSPErrorCodes.RequestFailed.value, {"code": code})
        if end.reason != "cancelled":
            await _put(editor, lsp_session, action, progress, settled)
    finally:
        lsp_session.session.ledger.dismiss(listener)
        settled.left |= {draft.path: STOPPED_EARLY for draft in lsp_session.drafts.take()}
        with anyio.CancelScope(shield=True):
            await _tell_left(editor, lsp_session, settled)
    return await _result(editor, lsp_session, end, settled, listener.answer, reads=not action.changes_files)


async def _put(
    editor: EditorConnection,
    lsp_session: LspSession,
    action: Action,
    progress: WorkDoneProgress,
    settled: EditResult,
) -> None:
    """Put what was drafted to the user; until they have said something nothing of it is applied."""
    drafts = lsp_session.drafts.take()
    if not drafts:
        return
    settled.left |= {draft.path: STOPPED_EARLY for draft in drafts}
    progress.report(messages.WAITING_FOR_REVIEW)
    said = await editor.review.settle(
        messages.action_label(action.title), drafts, lsp_session.session.workspace.read
    )
    settled.applied, settled.left = said.applied, said.left


async def _tell_left(editor: EditorConnection, lsp_session: LspSession, settled: EditResult) -> None:
    """Let the model know what was not applied, and the user what they did not decide themselves."""
    if not settled.left:
        return
    await lsp_session.note(
        model_text.not_applied({path: why.for_model for path, why in settled.left.items()})
    )
    files = [
        messages.unapplied_file(escape_invisible(path), why.for_user) for path, why in settled.left.items()
    ]
    editor.client.warn(messages.not_applied(files))


async def _result(
    editor: EditorConnection,
    lsp_session: LspSession,
    end: TurnEnded,
    settled: EditResult,
    answer: str,
    *,
    reads: bool,
) -> Result:
    """Show the answer where it is what was wanted, or all there is, and give what a client may want to know."""
    result: Result = {
        "status": STATUS[end.reason == "cancelled"],
        "reason": end.reason,
        "sessionId": lsp_session.session.id,
        "text": answer,
        "applied": settled.applied,
        "notApplied": {path: why.for_user for path, why in settled.left.items()},
    }
    if end.sentence:
        editor.client.warn(end.sentence)
    if answer.strip() and (reads or not (settled.applied or settled.left)):
        result["document"] = await editor.show_answer(answer)
    return result
