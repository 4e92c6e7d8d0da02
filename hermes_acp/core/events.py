"""The events of a session, as a closed union. Each is recorded first and shown afterwards.

Replaying them rebuilds a session. They contain no cycles (`gc=False`). Their docstrings become the reference.
"""

from typing import Literal, TypeVar

from msgspec import Struct

from hermes_acp.core.event_types import (
    CallEffect,
    CallStatus,
    Diff,
    EditsJudged,
    ExitReason,
    FileVersion,
    Grant,
    GrantsRevoked,
    Location,
    Mode,
    Options,
    PermissionAnswer,
    PlanChanged,
    SessionImported,
    Surface,
    ToolKind,
    ToolsOffered,
)
from hermes_acp.core.flow_labels import SourcesRead
from hermes_acp.core.messages import Part, RequestTiming, Thought, ToolCall, Usage


class SessionOpened(Struct, frozen=True, gc=False, tag="session_opened"):
    """The first event of a session, which started on `surface`; `parent_id` names a child agent's parent session."""

    session_id: str
    cwd: str
    roots: tuple[str, ...]
    created_at: float
    parent_id: str = ""
    surface: Surface = ""


class RootsChanged(Struct, frozen=True, gc=False, tag="roots_changed"):
    """The session's additional folders changed. `more_roots` lists all current folders."""

    more_roots: tuple[str, ...]


class PromptFrozen(Struct, frozen=True, gc=False, tag="prompt_frozen"):
    """The session's system prompt was fixed; its most stable layers come first. Its assembly started at `began_at`."""

    layers: tuple[str, ...]
    began_at: float = 0.0


class InstructionsGiven(Struct, frozen=True, gc=False, tag="instructions_given"):
    """System instructions from an editor. They follow the agent's own, or replace them if `overrides` is set."""

    text: str
    overrides: bool = False


class ModeChanged(Struct, frozen=True, gc=False, tag="mode_changed"):
    """The permission mode, which determines what needs approval, changed."""

    mode: Mode


class OptionsChanged(Struct, frozen=True, gc=False, tag="options_changed"):
    """The session's options changed. `options` contains all current options."""

    options: Options


class TitleChanged(Struct, frozen=True, gc=False, tag="title_changed"):
    """The session's title, as shown in lists, changed."""

    title: str


class ArchiveChanged(Struct, frozen=True, gc=False, tag="archive_changed"):
    """The session was archived or restored."""

    is_archived: bool


class TurnStarted(Struct, frozen=True, gc=False, tag="turn_started"):
    """A prompt was accepted; if `run_id` is set, it belongs to a run. If `goes_on` is set, the last turn is resumed.

    `trace_parent` names the external span that the turn is part of, as a W3C `traceparent`.
    """

    turn_id: str
    goes_on: bool = False
    run_id: str = ""
    trace_parent: str = ""


class UserSaid(Struct, frozen=True, gc=False, tag="user_said"):
    """The user's prompt."""

    message_id: str
    parts: tuple[Part, ...]


class NoteAdded(Struct, frozen=True, gc=False, tag="note_added"):
    """A note for the model. `tells_edits`: it reports edits under review. `is_outcome`: it is the result of the turn.

    `undone` lists the turns whose changes the user has just undone.
    """

    text: str
    mode: Mode | None = None
    tells_edits: bool = False
    is_outcome: bool = False
    undone: tuple[str, ...] = ()


class TextSaid(Struct, frozen=True, gc=False, tag="text_said"):
    """A part of the answer `message_id`, sent as it arrives."""

    message_id: str
    text: str


class ThoughtSaid(Struct, frozen=True, gc=False, tag="thought_said"):
    """A part of the reasoning before the answer `message_id`, sent as it arrives."""

    message_id: str
    text: str


class CommandAnswered(Struct, frozen=True, gc=False, tag="command_answered"):
    """The program's own answer to a slash command. The model does not see it."""

    message_id: str
    prompt: str
    text: str


class CommandsChanged(Struct, frozen=True, gc=False, tag="commands_changed"):
    """The list of slash commands changed. This event is not in the transcript."""


class StepEnded(Struct, frozen=True, gc=False, tag="step_ended"):
    """A model call completed. Its text is in the preceding events. `provider` and `model` identify the model used."""

    message_id: str
    tool_calls: tuple[ToolCall, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    usage: Usage = Usage()
    provider: str = ""
    model: str = ""
    timing: RequestTiming | None = None


class StepFailed(Struct, frozen=True, gc=False, tag="step_failed"):
    """A model call failed. If `retried` is set, it is repeated, and the model no longer sees what it said.

    `error` is for people, `error_code` for programs.
    """

    message_id: str
    error: str
    retried: bool
    provider: str = ""
    model: str = ""
    error_code: str = ""
    timing: RequestTiming | None = None


class CompactionStarted(Struct, frozen=True, gc=False, tag="compaction_started"):
    """Compaction of the older part of the conversation started. If `again` is set, this is a second attempt.

    `why`: the context `window` is filling up, the endpoint reported that it is `full`, or the user `asked`.
    """

    compaction_id: str
    why: Literal["window", "full", "asked"]
    again: bool = False


class SummarySaid(Struct, frozen=True, gc=False, tag="summary_said"):
    """A part of the summary, sent as it arrives."""

    compaction_id: str
    text: str


class HistoryCompacted(Struct, frozen=True, gc=False, tag="history_compacted"):
    """The history that the model sees changed. The transcript itself keeps everything.

    `summary` replaces the first `replaced` messages, except those at the indexes in `carried`. The outcomes of the
    calls in `shortened` are cut to `shortened_characters`. Without a summary, nothing else changed. `tokens_before` and
    `tokens_after` are estimates. `usage`, `provider`, `model` and `timing` are those of the request for the summary.
    """

    compaction_id: str
    summary: str
    replaced: int
    carried: tuple[int, ...] = ()
    shortened: tuple[str, ...] = ()
    shortened_characters: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    usage: Usage = Usage()
    provider: str = ""
    model: str = ""
    timing: RequestTiming | None = None


class CompactionFailed(Struct, frozen=True, gc=False, tag="compaction_failed"):
    """The compaction failed or was cancelled. The history is unchanged."""

    compaction_id: str
    status: Literal["failed", "cancelled"]
    error: str


class CallProposed(Struct, frozen=True, gc=False, tag="call_proposed"):
    """A tool call was parsed: what it does, what it would access and what it would change.

    `within` is the call that made this one or, for a post-turn review, the reviewed turn. `why` (the reason for asking)
    and `effects` (what the call would do) are set only in questions.
    """

    call_id: str
    name: str
    title: str
    kind: ToolKind
    raw_input: object = None
    locations: tuple[Location, ...] = ()
    diffs: tuple[Diff, ...] = ()
    within: str = ""
    why: str = ""
    effects: tuple[CallEffect, ...] = ()


class PermissionAsked(Struct, frozen=True, gc=False, tag="permission_asked"):
    """A call needs the user's approval: `why` is the reason, and `effects` is what the call would do."""

    call_id: str
    why: str = ""
    effects: tuple[CallEffect, ...] = ()


class PermissionAnswered(Struct, frozen=True, gc=False, tag="permission_answered"):
    """The answer of client `by`; `contents` lists SHA-256 digests of the context files it was shown in full."""

    call_id: str
    answer: PermissionAnswer
    grants: tuple[Grant, ...] = ()
    comment: str = ""
    contents: tuple[str, ...] = ()
    by: str = ""


class CallStarted(Struct, frozen=True, gc=False, tag="call_started"):
    """A call is about to have effects. Recorded before the first of them.

    `is_repeatable` means that running the call twice has the same effect as running it once.
    """

    call_id: str
    is_repeatable: bool = False


class CallProgressed(Struct, frozen=True, gc=False, tag="call_progressed"):
    """The last few kilobytes of a running call's output, or the ID of the editor terminal that shows the output."""

    call_id: str
    text: str = ""
    terminal_id: str | None = None


class CallEnded(Struct, frozen=True, gc=False, tag="call_ended"):
    """The outcome of a call; every call has exactly one. The model reads `text` and `parts`; only it reads `advice`.

    `exit_code` is the exit code of a command, and `signal` is the signal that killed it. The first `output_characters`
    of `text` are the command's own output; the rest says how it ended. `seen` contains digests of the files as the
    model now knows them. `terminal_id` is the editor terminal that showed the call.
    """

    call_id: str
    name: str
    status: CallStatus
    text: str
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    exit_code: int | None = None
    terminal_id: str | None = None
    signal: str = ""
    output_characters: int | None = None
    parts: tuple[Part, ...] = ()
    seen: tuple[FileVersion, ...] = ()
    within: str = ""
    advice: str = ""


class EditDrafted(Struct, frozen=True, gc=False, tag="edit_drafted"):
    """The part of an edit that the model has written so far. Only for editors that show drafts; not in the transcript.

    `path` is as the model wrote it. Without `old_text`, the edit replaces the whole file.
    """

    call_id: str
    path: str
    new_text: str
    old_text: str | None = None
    is_whole: bool = False


class UsageChanged(Struct, frozen=True, gc=False, tag="usage_changed"):
    """How full the context window is, and the session's cost so far."""

    used_tokens: int
    window_tokens: int
    cost_usd: float | None = None


class ChildChanged(Struct, frozen=True, gc=False, tag="child_changed"):
    """A child agent started work for a call or, if there is a `reason`, ended. `child_id` is its session."""

    call_id: str
    child_id: str
    title: str
    reason: ExitReason | None = None
    sentence: str = ""
    cost_usd: float | None = None


class ChildReported(Struct, frozen=True, gc=False, tag="child_reported"):
    """An event from a child agent's session. It is only streamed; the child's own transcript records it."""

    child_id: str
    event: "Event"


class Noticed(Struct, frozen=True, gc=False, tag="noticed"):
    """A notice for the user, in one sentence."""

    level: Literal["info", "warning", "error"]
    text: str


class TurnEnded(Struct, frozen=True, gc=False, tag="turn_ended"):
    """A turn ended: why it stopped, and what it used. `sentence` is for the user. A null `cost_usd` means unknown."""

    turn_id: str
    reason: ExitReason
    sentence: str = ""
    error_code: str = ""
    steps: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None


Event = (
    SessionOpened
    | RootsChanged
    | InstructionsGiven
    | PromptFrozen
    | ToolsOffered
    | ModeChanged
    | OptionsChanged
    | TitleChanged
    | ArchiveChanged
    | TurnStarted
    | UserSaid
    | NoteAdded
    | TextSaid
    | ThoughtSaid
    | CommandAnswered
    | CommandsChanged
    | StepEnded
    | StepFailed
    | CompactionStarted
    | SummarySaid
    | HistoryCompacted
    | CompactionFailed
    | CallProposed
    | PermissionAsked
    | PermissionAnswered
    | GrantsRevoked
    | CallStarted
    | CallProgressed
    | SourcesRead
    | CallEnded
    | EditDrafted
    | EditsJudged
    | PlanChanged
    | UsageChanged
    | ChildChanged
    | ChildReported
    | Noticed
    | TurnEnded
    | SessionImported
)
AnyEvent = TypeVar("AnyEvent", bound=Event)
