"""Interpret how a hook ended: nothing, text for the model, a refusal, or a failure.

Exit code 0 is success: standard output is a JSON object, or plain text for the model. Exit code 2 is a refusal, and
standard error is its reason. Any other ending is a failure.
"""

from typing import TYPE_CHECKING, Final, cast

import msgspec
from msgspec import Struct

from hermes_acp.config.sections.hook_settings import REFUSING_EVENTS
from hermes_acp.core.untrusted_text import plain
from hermes_acp.hooks.claude_format import claude_context, claude_refusal
from hermes_acp.workspaces.local_commands import PipedResult

if TYPE_CHECKING:
    from hermes_acp.config.sections.hook_settings import HookEvent, HookFormat

REFUSAL_CODE: Final = 2
PLAIN_EVENTS: Final = ("session_start", "prompt")
"""The events for which Claude Code shows plain output to the model."""
CONTEXT_EVENTS: Final = ("session_start", "prompt", "after_tool")
FIELDS: Final = frozenset({"context", "refuse"})
NO_REASON: Final = "no reason given"
MAX_FAILURE_CHARACTERS: Final = 300
TIMED_OUT: Final = "it exceeded its time limit of {seconds:g} s and was stopped"
FAILED: Final = "exit code {code}"
KILLED: Final = "it was killed"
NOT_JSON: Final = "its output starts like JSON, but is not a JSON object"
WRONG_FIELD: Final = "its output has the field {name!r}; it may have {known}, as text"
CANNOT_REFUSE: Final = "it refused, which a hook for {event} may not do"


class HookAnswer(Struct, frozen=True):
    """A hook's answer: text for the model, the reason for a refusal, or a failure. The text has not been scanned."""

    context: str = ""
    refusal: str = ""
    failure: str = ""


def answer_of(
    event: "HookEvent", ended: PipedResult, timeout_s: float, written_for: "HookFormat" = "hermes"
) -> HookAnswer:
    """Interpret how a hook's command ended, according to its event and format."""
    errors = ended.errors.strip()
    if ended.timed_out:
        return HookAnswer(failure=TIMED_OUT.format(seconds=timeout_s))
    if ended.exit_code == 0:
        output = ended.output.strip()
        return _with_claude_output(event, output) if written_for == "claude" else _with_output(event, output)
    if ended.exit_code == REFUSAL_CODE and event == "after_tool":
        return HookAnswer(context=errors or ended.output.strip())
    if ended.exit_code == REFUSAL_CODE:
        return _refusal(event, errors)
    how = KILLED if ended.exit_code is None else FAILED.format(code=ended.exit_code)
    words = plain(f"{errors} {ended.remarks}".strip() or ended.output.strip(), MAX_FAILURE_CHARACTERS)
    return HookAnswer(failure=f"{how}: {words}" if words else how)


def _refusal(event: "HookEvent", reason: str) -> HookAnswer:
    if event not in REFUSING_EVENTS:
        return HookAnswer(failure=CANNOT_REFUSE.format(event=event))
    return HookAnswer(refusal=reason or NO_REASON)


def _with_claude_output(event: "HookEvent", output: str) -> HookAnswer:
    """Interpret output in Claude Code's format: an objection after a tool call is text for the model."""
    if not output.startswith("{"):
        return HookAnswer(context=output if event in PLAIN_EVENTS else "")
    try:
        said = msgspec.json.decode(output, type=dict[str, object])
    except (msgspec.MsgspecError, RecursionError):
        return HookAnswer(failure=NOT_JSON)
    context, refusal = claude_context(said).strip(), claude_refusal(said)
    if refusal is not None and event in REFUSING_EVENTS:
        return _refusal(event, refusal.strip())
    if refusal and event == "after_tool":
        context = f"{refusal.strip()}\n{context}".strip()
    return HookAnswer(context=context if event in CONTEXT_EVENTS else "")


def _with_output(event: "HookEvent", output: str) -> HookAnswer:
    if not output.startswith("{"):
        return HookAnswer(context=output if event in CONTEXT_EVENTS else "")
    try:
        said = msgspec.json.decode(output, type=dict[str, object])
    except (msgspec.MsgspecError, RecursionError):
        return HookAnswer(failure=NOT_JSON)
    wrong = next(
        (name for name, value in said.items() if name not in FIELDS or not isinstance(value, str)), None
    )
    if wrong is not None:
        return HookAnswer(failure=WRONG_FIELD.format(name=wrong[:40], known=" and ".join(sorted(FIELDS))))
    fields = cast("dict[str, str]", said)
    if "refuse" in fields:
        return _refusal(event, fields["refuse"].strip())
    return HookAnswer(context=fields.get("context", "").strip() if event in CONTEXT_EVENTS else "")
