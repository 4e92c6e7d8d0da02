"""Tell the model about context files that have changed since its prompt was built.

A file that appeared or changed during the session is used only after the user has approved its full text.
"""

from typing import Final

import anyio
from msgspec import structs

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.context.context_monitor import CARD_NAME, ContextQuestion
from hermes_acp.core.errors import StorageError
from hermes_acp.core.event_types import Diff, PermissionAnswer
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    NoteAdded,
    Noticed,
    PermissionAnswered,
    PermissionAsked,
)
from hermes_acp.core.ports.gate_ports import PermissionResponse, PermissionScope

MAX_ROUNDS: Final = 8
"""The maximum number of rounds of approval: an approved file may import others, which then need approval too."""
WHY_NEW: Final = "the file is new, and the agent would follow it"
WHY_CHANGED: Final = "the file has changed since this session began, and the agent would follow it"
USED: Final = "The agent follows it."
NOT_USED: Final = "{path} appeared or changed during this session and is not used: {why}"
REFUSED: Final = "you did not approve it."
UNASKED: Final = "nobody could be asked. Approve it in a session with an editor, or start a new session."


async def note_context_changes(turn: Turn) -> Ending | None:
    """Add a note about changes, and ask about files that need approval.

    Before a session's first answer, nothing counts as changed.
    """
    watch = turn.deps.context_files
    for _ in range(MAX_ROUNDS):
        report = await watch.look(turn.record, turn.workspace, turn.outermost.record)
        for news in report.news:
            if news.text:
                turn.emit(NoteAdded(news.text))
            turn.emit(Noticed("info", news.told))
        if not report.questions:
            break
        for question in report.questions:
            await _settle(turn, question)
    return None


async def _settle(turn: Turn, question: ContextQuestion) -> None:
    """Ask about one file; record the answer in this session and in its parents."""
    async with turn.calls.asking:
        answer = await _ask(turn, question)
    watch = turn.deps.context_files
    is_used = answer.startswith("allow")
    if is_used or answer.startswith("reject"):
        try:
            await watch.remember(turn.outermost.record, question, is_used=is_used)
        except StorageError as error:
            turn.emit(Noticed("warning", f"Your answer applies to this session only. {error.sentence()}"))
        if not is_used:
            turn.emit(Noticed("info", NOT_USED.format(path=question.path, why=REFUSED)))
    else:
        watch.set_aside(turn.record, question)
        turn.emit(Noticed("warning", NOT_USED.format(path=question.path, why=UNASKED)))


async def _ask(turn: Turn, question: ContextQuestion) -> PermissionAnswer:
    """Show the whole file to a person, on a separate card that the model does not see."""
    what, why = ("new", WHY_NEW) if question.old_text is None else ("changed", WHY_CHANGED)
    card = CallProposed(
        call_id=turn.deps.ids.fresh("call"),
        name=CARD_NAME,
        title=f"Use the {what} instructions in {question.path}?",
        kind="read",
        raw_input={"path": question.path},
        diffs=(Diff(question.file, question.old_text, question.text),),
        within=turn.id,
    )
    turn.emit(card)
    turn.emit(PermissionAsked(card.call_id))
    await turn.ledger.drained()
    answer: PermissionAnswer = "cancelled"
    by = ""
    try:
        said: PermissionAnswer | PermissionResponse = "unavailable"
        with anyio.move_on_after(turn.limits.question_timeout_s):
            said = await turn.gate.ask(structs.replace(card, why=why), permission_scope=PermissionScope())
        answer, by = (said.answer, said.by) if isinstance(said, PermissionResponse) else (said, "")
    finally:
        turn.emit(PermissionAnswered(card.call_id, answer, contents=(question.digest,), by=by))
        is_used = answer.startswith("allow")
        if is_used:
            turn.emit(CallStarted(card.call_id, is_repeatable=True))
        text = USED if is_used else NOT_USED.format(path=question.path, why=REFUSED)
        turn.emit(
            CallEnded(card.call_id, CARD_NAME, "completed" if is_used else "failed", text, within=card.within)
        )
    return answer
