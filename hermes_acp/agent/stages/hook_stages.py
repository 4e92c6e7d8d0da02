"""Run a session's hooks at the corresponding points of its turns.

A hook may refuse a call that policy would allow or ask about. It cannot allow one: policy is checked first, and again
once a person has answered.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from msgspec import structs

from hermes_acp.agent.calls.flow_tracking import note_sources
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.events import CallProposed, NoteAdded
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import AssistantMessage, UserMessage, words_in
from hermes_acp.core.ports.gate_ports import Gate, PermissionResponse, PermissionScope
from hermes_acp.core.proposals import Deletes, Proposal, Question, Reads, Reply, Result, Writes
from hermes_acp.hooks.changed_files import files_on_disk, with_changed_files
from hermes_acp.hooks.hook_definitions import CallSubject
from hermes_acp.hooks.session_hooks import HookTrigger, SessionHooks, Verdict, Whose

if TYPE_CHECKING:
    from hermes_acp.config.sections.hook_settings import HookEvent

CHANGED_AFTERWARDS: Final = "[A hook changed {path} after this call. Read it again before you change it.]"


def add_hooks(turn: Turn, hooks: SessionHooks) -> None:
    """Add the stages for a session's hooks to a turn, and make its gate run the hooks for questions."""
    if isinstance(turn.gate, HookGate):
        return
    stages, own = turn.deps.stages, HookStages(hooks)
    with_hooks = structs.replace(
        stages,
        preflight=(*stages.preflight, own.begin),
        before_call=(*stages.before_call, own.before_call),
        after_call=(*stages.after_call, own.after_call),
        postflight=(*stages.postflight, own.end),
    )
    turn.deps = structs.replace(turn.deps, stages=with_hooks)
    turn.gate = HookGate(turn.gate, hooks, turn)


class HookStages:
    """The stages that run one session's hooks."""

    def __init__(self, hooks: SessionHooks) -> None:
        self._hooks = hooks

    async def begin(self, turn: Turn) -> Ending | None:
        """Run the session's start hooks and the workspace's prompt hooks, and add their notes."""
        hooks = self._hooks
        if turn.origin.parent or turn.depth:
            return None
        if not hooks.has_started:
            hooks.has_started = True
            is_new = not any(isinstance(each, AssistantMessage) for each in turn.record.messages)
            await self._note(turn, "session_start", {"source": "new" if is_new else "resumed"})
        if prompt := _prompt_of(turn):
            await self._note(turn, "prompt", {"prompt": prompt}, "workspace")
        return None

    async def before_call(self, turn: Turn, card: CallProposed, proposal: Proposal) -> str:
        """Return why a hook refuses a call, or an empty string."""
        if not self._hooks.listens("before_tool"):
            return ""
        facts, subject = _facts_of(turn, card, proposal)
        verdict = await self._hooks.run(HookTrigger("before_tool", facts, subject), turn.deps.redactor.clean)
        return verdict.refusal

    async def after_call(self, turn: Turn, card: CallProposed, proposal: Proposal, result: Result) -> Result:
        """Return a call's result together with any notes that hooks add for the model."""
        if not self._hooks.listens("after_tool"):
            return result
        facts, subject = _facts_of(turn, card, proposal)
        clean = turn.deps.redactor.clean
        facts |= {
            "status": "failed" if result.is_error else "completed",
            "output": result.text,
            "exit_code": result.exit_code,
        }
        known = await files_on_disk(result)
        verdict = await self._hooks.run(HookTrigger("after_tool", facts, subject), clean)
        _note_speakers(turn, verdict)
        if not verdict.has_run:
            return result
        result, changed = await with_changed_files(result, known)
        notes = (*verdict.texts, *(CHANGED_AFTERWARDS.format(path=path) for path in changed))
        return structs.replace(result, text="\n\n".join((result.text, *notes))) if notes else result

    async def end(self, turn: Turn, ending: Ending) -> None:
        """Run the hooks for the end of a turn."""
        if turn.origin.parent or turn.depth or not self._hooks.listens("turn_end"):
            return
        facts = {**_common_facts(turn), "reason": ending.reason, "message": ending.sentence}
        occasion = HookTrigger("turn_end", {**facts, "answer": _answer_of(turn)})
        await self._hooks.notify(occasion, turn.deps.redactor.clean)

    async def _note(
        self, turn: Turn, event: "HookEvent", facts: dict[str, object], whose: Whose = "all"
    ) -> None:
        if not self._hooks.listens(event, whose):
            return
        occasion = HookTrigger(event, {**_common_facts(turn), **facts})
        verdict = await self._hooks.run(occasion, turn.deps.redactor.clean, whose)
        _note_speakers(turn, verdict)
        for text in verdict.texts:
            turn.emit(NoteAdded(text))


class HookGate:
    """A turn's gate that runs `question` hooks without delaying the question."""

    def __init__(self, gate: Gate, hooks: SessionHooks, turn: Turn) -> None:
        self._gate = gate
        self._hooks = hooks
        self._turn = turn

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Ask a person for permission to run a call."""
        self._tell(call.title, call.name)
        return await self._gate.ask(call, permission_scope=permission_scope)

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Ask a person a question on behalf of a call."""
        self._tell(question.text, "")
        return await self._gate.inquire(call_id, question)

    def _tell(self, title: str, tool: str) -> None:
        if self._hooks.listens("question"):
            facts = {**_common_facts(self._turn), "title": title, "tool_name": tool}
            self._hooks.notify_soon(HookTrigger("question", facts), self._turn.deps.redactor.clean)


def _common_facts(turn: Turn) -> dict[str, object]:
    return {"turn_id": turn.event_context.turn_id, "mode": turn.mode}


def _facts_of(turn: Turn, card: CallProposed, proposal: Proposal) -> tuple[dict[str, object], CallSubject]:
    """Return the facts about a call that are passed to hooks."""
    paths = [each.path for each in proposal.effects if isinstance(each, Reads | Writes | Deletes)]
    subject = CallSubject(card.name, card.kind, tuple(dict.fromkeys(paths)))
    facts: dict[str, object] = {
        **_common_facts(turn),
        "call_id": card.call_id,
        "tool_name": card.name,
        "tool_kind": card.kind,
        "tool_input": card.raw_input,
        "paths": subject.paths,
        "is_child_agent": turn.depth > 0,
    }
    return facts, subject


def _note_speakers(turn: Turn, verdict: Verdict) -> None:
    """Record the output of the user's hooks as an untrusted source, because it may come from anywhere."""
    sources = (Source("untrusted", f"the output of the {hook.label}") for hook in verdict.speakers)
    note_sources(turn, sources)


def _prompt_of(turn: Turn) -> str:
    """Return the text of the prompt that started this turn, or an empty string if the turn resumes an earlier one."""
    for message in reversed(turn.record.messages):
        if not isinstance(message, UserMessage):
            return ""
        if message.origin == "user":
            return words_in(message.parts)
    return ""


def _answer_of(turn: Turn) -> str:
    answers: Iterable[str] = (
        each.text for each in reversed(turn.record.messages) if isinstance(each, AssistantMessage)
    )
    return next(answers, "")
