"""One action carried out: a turn, what it says meanwhile, what it changed, put to the user.

Knows: the order of it all, what is answered in the end. Does not know: any single action.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import anyio
from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException

from hermes_acp.core.events import (
    CallProposed,
    Event,
    Noticed,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
)
from hermes_acp.core.terms import ExitReason
from hermes_acp.faces.lsp.action import Action, parts_of
from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.gate import ClientGate
from hermes_acp.faces.lsp.places import Place
from hermes_acp.faces.lsp.progress import WorkDoneProgress
from hermes_acp.faces.lsp.review import Settled
from hermes_acp.faces.lsp.seats import Seat
from hermes_acp.tools.titles import visible

FAILED: Final[frozenset[ExitReason]] = frozenset(
    {"bad_calls", "looping", "empty", "model_trouble", "storage_trouble", "gave_up"}
)
LEFT: Final = (
    "[What you proposed was not applied everywhere:\n{lines}\n"
    "These files are as they were before. Read before you change them.]"
)
STOPPED: Final = "the action was stopped before"
STATUS: Final[Mapping[bool, str]] = MappingProxyType({True: "cancelled", False: "done"})
Result = dict[str, object]


class Listener:
    """Follows one turn: its last words, and what is being done."""

    def __init__(self, desk: Desk, progress: WorkDoneProgress) -> None:
        self._desk = desk
        self._progress = progress
        self._words: list[str] = []
        self.answer = ""

    def show(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TextSaid():
                if not self._words:
                    self._progress.report("Answering")
                self._words.append(event.text)
            case StepEnded():
                self.answer = "".join(self._words) or self.answer
                self._words.clear()
            case StepFailed():
                self._words.clear()
            case CallProposed():
                self._progress.report(event.title)
            case Noticed(level="warning" | "error"):
                self._desk.client.warn(event.text)
            case _:
                pass

    async def drained(self) -> None:
        """Keep up: nothing is waited for."""


async def carry_out(desk: Desk, name: str, action: Action, place: Place, token: int | str | None) -> Result:
    """Do one action and give what came of it. Raises HermesError, or JsonRpcException for a turn that failed."""
    scope = anyio.CancelScope()
    title = f"Hermes: {action.title}"
    with scope:
        async with desk.progress.shown(title, token, scope.cancel) as progress:
            seat = await desk.seats.take(await desk.house(), place.document.path, desk.settings)
            if seat.turn.locked():
                progress.report("Waiting for another action")
            async with seat.turn:
                return await _work(desk, seat, action, place, progress)
    return {"status": "cancelled", "action": name}


async def _work(desk: Desk, seat: Seat, action: Action, place: Place, progress: WorkDoneProgress) -> Result:
    listener = Listener(desk, progress)
    seat.session.ledger.admit(listener)
    settled = Settled()
    try:
        gate = ClientGate(desk.client, seat.makes_drafts)
        end = await seat.session.prompt(parts_of(action, place), gate)
        if end.reason in FAILED:
            code = end.error_code or end.reason
            raise JsonRpcException(end.sentence, LSPErrorCodes.RequestFailed.value, {"code": code})
        if end.reason != "cancelled":
            await _put(desk, seat, action, progress, settled)
    finally:
        seat.session.ledger.dismiss(listener)
        settled.left |= {draft.path: STOPPED for draft in seat.drafts.take()}
        with anyio.CancelScope(shield=True):
            await _tell_left(desk, seat, settled)
    return await _result(desk, seat, end, settled, listener.answer, reads=not action.changes_files)


async def _put(desk: Desk, seat: Seat, action: Action, progress: WorkDoneProgress, settled: Settled) -> None:
    """Put what was drafted to the user; until they have said something nothing of it is applied."""
    drafts = seat.drafts.take()
    if not drafts:
        return
    settled.left |= {draft.path: STOPPED for draft in drafts}
    progress.report("Waiting for your word on the changes")
    said = await desk.review.settle(f"Hermes: {action.title}", drafts, seat.session.workspace.read)
    settled.applied, settled.left = said.applied, said.left


async def _tell_left(desk: Desk, seat: Seat, settled: Settled) -> None:
    """Let the model know what was not applied, and the user what they did not decide themselves."""
    if not settled.left:
        return
    lines = "\n".join(f"- {path}: {why}" for path, why in settled.left.items())
    await seat.note(LEFT.format(lines=lines))
    told = "; ".join(f"{visible(path)}: {why}" for path, why in settled.left.items())
    desk.client.warn(f"Hermes did not change everything. {told}.")


async def _result(
    desk: Desk, seat: Seat, end: TurnEnded, settled: Settled, answer: str, *, reads: bool
) -> Result:
    """Show the answer where it is what was wanted, or all there is, and give what a client may want to know."""
    result: Result = {
        "status": STATUS[end.reason == "cancelled"],
        "reason": end.reason,
        "sessionId": seat.session.id,
        "text": answer,
        "applied": settled.applied,
        "notApplied": settled.left,
    }
    if end.sentence:
        desk.client.warn(end.sentence)
    if answer.strip() and (reads or not (settled.applied or settled.left)):
        result["document"] = await desk.show_answer(answer)
    return result
