"""Run a session without an editor: its questions have no answer, and its output goes to a stream."""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from hermes_acp.agent.calls.call_messages import is_refused_by_check
from hermes_acp.context.context_monitor import CARD_NAME
from hermes_acp.core.event_types import ExitReason, PermissionAnswer, ToolKind, ToolsOffered
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    ChildChanged,
    ChildReported,
    CommandAnswered,
    CompactionFailed,
    EditDrafted,
    Event,
    HistoryCompacted,
    Noticed,
    PermissionAnswered,
    PromptFrozen,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
)
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.proposals import Question, Reply
from hermes_acp.core.record.turn_times import TurnTimer
from hermes_acp.frontends.cli.messages import run_messages
from hermes_acp.frontends.cli.run.run_output import RefusedCall, RunReport, report_line
from hermes_acp.policy.workspace_trust import TRUST_CARD_PARENT

EXIT_CODES: Final[Mapping[ExitReason, int]] = MappingProxyType(
    {
        "done": ExitCode.DONE,
        "refused": ExitCode.FAILED,
        "truncated": ExitCode.FAILED,
        "out_of_steps": ExitCode.FAILED,
        "out_of_tokens": ExitCode.FAILED,
        "out_of_money": ExitCode.FAILED,
        "out_of_time": ExitCode.TIMED_OUT,
        "cancelled": ExitCode.INTERRUPTED,
        "denied": ExitCode.REFUSED,
        "input_required": ExitCode.REFUSED,
        "bad_calls": ExitCode.FAILED,
        "looping": ExitCode.FAILED,
        "empty": ExitCode.FAILED,
        "model_trouble": ExitCode.MODEL,
        "storage_trouble": ExitCode.STORAGE,
        "gave_up": ExitCode.FAILED,
    }
)
REASON_CHARACTERS: Final = 300
NOTES_TOOL: Final = "memory"
"""The tool whose calls are stored for later approval if nobody is available."""


class UnattendedGate:
    """The gate of an unattended run: it approves nothing, and remembers which calls needed approval."""

    def __init__(self) -> None:
        self.needed: set[str] = set()

    async def ask(self, call: CallProposed, *, permission_scope: PermissionScope) -> PermissionAnswer:
        """Report that nobody is available to answer."""
        # The run continues without the files and tools that are not trusted, and reports them.
        if call.name != CARD_NAME and call.within != TRUST_CARD_PARENT:
            self.needed.add(call.call_id)
        return "unavailable"

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Return None: nobody is available. This is not a refusal, so the model continues without an answer."""
        return None


class RunReporter:
    """Reports on a run: the answer goes to standard output, progress to standard error."""

    def __init__(
        self, session_id: str, output_format: str, write: Callable[[str], None], note: Callable[[str], None]
    ):
        self._report = RunReport(session_id, "", 1, "")
        self._streams = output_format == "stream-json"
        self._format = output_format
        self._write = write
        self._note = note
        self._words: list[str] = []
        self._calls: dict[str, CallProposed] = {}
        self._refused: dict[ToolKind, str] = {}
        """The last call of each kind that a check of the user refused, unless a later call of that kind completed."""
        self._notes: set[str] = set()
        self._pending: set[str] = set()
        """The calls of the notes tool that are stored for later approval."""
        self._unapproved: set[str] = set()
        """The other calls that needed approval, which nobody was available to give."""
        self._timer = TurnTimer()
        self._warned: set[str] = set()
        self.completed: set[str] = set()
        """The completed calls, including those that are stored for later approval."""

    def show(self, event: Event) -> None:
        """Process one event."""
        if self._streams and not _is_left_out(event):
            self._write(msgspec.json.encode(event).decode() + "\n")
        self._report.times = self._timer.take(event, time.time()) or self._report.times
        match event:
            case TextSaid():
                self._words.append(event.text)
            case StepEnded():
                self._report.text = "".join(self._words)
                self._words.clear()
            case StepFailed():
                self._words.clear()
            case CommandAnswered():
                self._words = [event.text]
            case HistoryCompacted():
                self._note(run_messages.conversation_compacted(event.tokens_before, event.tokens_after))
            case CompactionFailed():
                self._note(run_messages.compaction_failed(event.error))
            case CallProposed():
                self._calls[event.call_id] = event
                if event.name == NOTES_TOOL:
                    self._notes.add(event.call_id)
            case CallEnded():
                self._end_call(event)
            case Noticed():
                self._warned.add(event.text)
                self._note(f"{event.level}: {event.text}")
            case PermissionAnswered(answer="unavailable") if event.call_id in self._notes:
                self._pending.add(event.call_id)
            case PermissionAnswered(answer="unavailable"):
                self._unapproved.add(event.call_id)
                self._note(run_messages.APPROVAL_MISSED)
            case ChildReported(event=CallProposed() | CallEnded() as call):
                self._show_childs_call(call)
            case ChildChanged(reason=str()):
                outcome = run_messages.CALL_STATUS["completed"] if event.reason == "done" else event.sentence
                self._note(run_messages.child_ended(event.title, outcome))
            case CallProgressed():
                pass
            case _:
                pass

    def _show_childs_call(self, event: CallProposed | CallEnded) -> None:
        """Note whether a call of a child agent was refused."""
        if isinstance(event, CallProposed):
            self._calls[event.call_id] = event
        else:
            self._follow_refusal(event)

    def _end_call(self, event: CallEnded) -> None:
        status = run_messages.CALL_STATUS[event.status]
        if event.status == "completed":
            self.completed.add(event.call_id)
            if event.call_id in self._pending:
                status = run_messages.WAITS_FOR_APPROVAL
        self._note(run_messages.call_ended(self._title(event), status, _reason(event)))
        self._follow_refusal(event)

    def _follow_refusal(self, event: CallEnded) -> None:
        """Remember a refused call until a later call of its kind completes."""
        proposed = self._calls.get(event.call_id)
        kind: ToolKind = proposed.kind if proposed else "other"
        if event.status == "completed":
            self._refused.pop(kind, None)
            return
        is_refused = is_refused_by_check(event)
        if is_refused:
            self._refused[kind] = _reason(event)
        if is_refused or event.call_id in self._unapproved:
            refused = RefusedCall(self._title(event), _reason(event))
            self._report.refused_calls = (*self._report.refused_calls, refused)

    def _title(self, event: CallEnded) -> str:
        proposed = self._calls.get(event.call_id)
        return proposed.title if proposed else event.name

    async def drained(self) -> None:
        """Return at once: writing is synchronous."""

    def finish(self, end: TurnEnded, *, was_refused: bool) -> int:
        """Write the end in the requested format and return the exit code."""
        report = self._report
        report.reason, report.error, report.error_code = end.reason, end.sentence, end.error_code
        report.exit_code = EXIT_CODES[end.reason]
        report.steps, report.usage, report.cost_usd = end.steps, end.usage, end.cost_usd
        refusal = run_messages.APPROVAL_IMPOSSIBLE if was_refused else next(iter(self._refused.values()), "")
        if refusal and report.exit_code in (0, 1):
            report.reason, report.exit_code = "denied", EXIT_CODES["denied"]
            report.error = report.error or refusal
            report.error_code = report.error_code or "denied"
        if self._words:
            report.text = "".join(self._words)
        if self._format == "text":
            self._write(report.text if report.text.endswith("\n") or not report.text else report.text + "\n")
        else:
            self._write(report_line(report))
        if report.error and report.error not in self._warned:
            self._note(run_messages.run_failed(report.error))
        if self._format == "text":
            self._note(run_messages.session_named(report.session_id))
        return report.exit_code


def _reason(ended: CallEnded) -> str:
    """Return why a call failed: the first line of its error, which follows any output."""
    if ended.status != "failed":
        return ""
    told = ended.text[ended.output_characters or 0 :].strip()
    return told.partition("\n")[0][:REASON_CHARACTERS]


def _is_left_out(event: Event) -> bool:
    """Return whether stream-json omits an event: the system prompt, tools, and drafts, which are not recorded."""
    told = event.event if isinstance(event, ChildReported) else event
    return isinstance(told, PromptFrozen | ToolsOffered | EditDrafted)
