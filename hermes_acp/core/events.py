"""The events of a session: one closed union, recorded first and shown afterwards.

Replaying a session's events in order rebuilds its history (`core.record`) and everything an editor was shown. A long
session has many events; they hold no cycles, so the garbage collector need not track them (`gc=False`).
"""

from typing import Literal, TypeVar

from msgspec import Struct

from hermes_acp.core.event_types import (
    CallStatus,
    Diff,
    ExitReason,
    FileVersion,
    Grant,
    HunkSpan,
    Location,
    Mode,
    Options,
    PermissionAnswer,
    PlanEntry,
    ToolKind,
)
from hermes_acp.core.flow_labels import SourcesRead
from hermes_acp.core.messages import Part, Thought, ToolCall, Usage


class SessionOpened(Struct, frozen=True, gc=False, tag="session_opened"):
    """The first event; `created_at` is in seconds since the epoch, `parent_id` the session it works for."""

    session_id: str
    cwd: str
    roots: tuple[str, ...]
    created_at: float
    parent_id: str = ""


class RootsChanged(Struct, frozen=True, gc=False, tag="roots_changed"):
    """The session's folders beside its working directory, all of them."""

    more_roots: tuple[str, ...]


class PromptFrozen(Struct, frozen=True, gc=False, tag="prompt_frozen"):
    """The system prompt, stable layers first, frozen for the session's life; its making began at `began_at`."""

    layers: tuple[str, ...]
    began_at: float = 0.0


class InstructionsGiven(Struct, frozen=True, gc=False, tag="instructions_given"):
    """The client's own system instructions: behind ours, or in the place of ours."""

    text: str
    overrides: bool = False


class ModeChanged(Struct, frozen=True, gc=False, tag="mode_changed"):
    """The permission mode changed."""

    mode: Mode


class OptionsChanged(Struct, frozen=True, gc=False, tag="options_changed"):
    """The session's options changed; these are all of them."""

    options: Options


class TitleChanged(Struct, frozen=True, gc=False, tag="title_changed"):
    """The session's title for lists."""

    title: str


class ArchiveChanged(Struct, frozen=True, gc=False, tag="archive_changed"):
    """The session was archived or restored."""

    is_archived: bool


class TurnStarted(Struct, frozen=True, gc=False, tag="turn_started"):
    """A prompt was accepted; a turn that `goes_on` resumes the last one, with a prompt or without."""

    turn_id: str
    goes_on: bool = False


class UserSaid(Struct, frozen=True, gc=False, tag="user_said"):
    """The prompt itself."""

    message_id: str
    parts: tuple[Part, ...]


class NoteAdded(Struct, frozen=True, gc=False, tag="note_added"):
    """The program told the model something, such as a new mode; never shown as the user's words.

    A note that `tells_edits` says what became of all edits reviewed so far.
    """

    text: str
    mode: Mode | None = None
    tells_edits: bool = False


class TextSaid(Struct, frozen=True, gc=False, tag="text_said"):
    """Some words of the answer to `message_id`."""

    message_id: str
    text: str


class ThoughtSaid(Struct, frozen=True, gc=False, tag="thought_said"):
    """Some words of the reasoning behind `message_id`."""

    message_id: str
    text: str


class CommandAnswered(Struct, frozen=True, gc=False, tag="command_answered"):
    """The program's own answer to a slash command; shown, but not part of what the model sees."""

    message_id: str
    prompt: str
    text: str


class CommandsChanged(Struct, frozen=True, gc=False, tag="commands_changed"):
    """The slash commands changed; shown live, not recorded."""


class StepEnded(Struct, frozen=True, gc=False, tag="step_ended"):
    """A model call ended; its words are in the events before it. `provider` and `model` name who answered."""

    message_id: str
    tool_calls: tuple[ToolCall, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    usage: Usage = Usage()
    provider: str = ""
    model: str = ""


class StepFailed(Struct, frozen=True, gc=False, tag="step_failed"):
    """A model call broke off; what it said stays in the record and leaves the history when it is retried."""

    message_id: str
    error: str
    retried: bool


class CompactionStarted(Struct, frozen=True, gc=False, tag="compaction_started"):
    """A compaction of the history started; `again` for a further attempt.

    `why`: so much of the model's `window` is in use, the endpoint said it is `full`, or the user `asked` for it.
    """

    compaction_id: str
    why: Literal["window", "full", "asked"]
    again: bool = False


class SummarySaid(Struct, frozen=True, gc=False, tag="summary_said"):
    """Some words of the summary, as they arrive."""

    compaction_id: str
    text: str


class HistoryCompacted(Struct, frozen=True, gc=False, tag="history_compacted"):
    """What the model sees from now on (`core.record.compacted_history`); the record keeps everything.

    The first `replaced` messages were replaced by `summary`, except those at the indexes `carried`. Outcomes of the
    calls `shortened` are cut to `shortened_characters`. Without a summary nothing else was done. `tokens_before` and
    `tokens_after` are the estimated use of the window; the rest is the usage of the summary, and its model.
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


class CompactionFailed(Struct, frozen=True, gc=False, tag="compaction_failed"):
    """The history stays as it was, and why."""

    compaction_id: str
    status: Literal["failed", "cancelled"]
    error: str


class CallProposed(Struct, frozen=True, gc=False, tag="call_proposed"):
    """A call was understood: what it is, what it touches, what it would change.

    A call that another call makes is `within` that one; the model sees nothing of it but what that call returns.
    `why` is the reason of a question, only on the card shown to a person.
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


class PermissionAsked(Struct, frozen=True, gc=False, tag="permission_asked"):
    """A person was asked about a call."""

    call_id: str


class PermissionAnswered(Struct, frozen=True, gc=False, tag="permission_answered"):
    """The answer, the grants that follow, the user's comment, and the SHA-256 of context files shown with it."""

    call_id: str
    answer: PermissionAnswer
    grants: tuple[Grant, ...] = ()
    comment: str = ""
    contents: tuple[str, ...] = ()


class CallStarted(Struct, frozen=True, gc=False, tag="call_started"):
    """A call is about to have effects; recorded before the first of them.

    `is_repeatable`: its tool says that doing it twice is as good as doing it once.
    """

    call_id: str
    is_repeatable: bool = False


class CallProgressed(Struct, frozen=True, gc=False, tag="call_progressed"):
    """The end of a running call's output, at most a few kilobytes; or the editor's terminal that it runs in."""

    call_id: str
    text: str = ""
    terminal_id: str | None = None


class CallEnded(Struct, frozen=True, gc=False, tag="call_ended"):
    """A call's one outcome. `text` and `parts` are what the model reads; `seen` are the files it now knows.

    `terminal_id` is the editor's terminal that showed it live. Of a command, `output_characters` is how much of the
    text is its own output; the rest only says how it ended, as the exit code or `signal` do.
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


class EditDrafted(Struct, frozen=True, gc=False, tag="edit_drafted"):
    """A draft of an edit that the model is still writing; shown live, not recorded.

    `path` is as the model wrote it; without `old_text` the file is written whole.
    """

    call_id: str
    path: str
    new_text: str
    old_text: str | None = None
    is_whole: bool = False


class EditsJudged(Struct, frozen=True, gc=False, tag="edits_judged"):
    """The user accepted or rejected hunks of unasked edits in one file (`core.record.edit_reviews`).

    The hunks lie at `spans` once the review `has_followed` what somebody else made of the file (`followed`, None for
    no file). `parts` are the rejected ones in words for the model.
    """

    path: str
    verdict: Literal["accepted", "rejected"]
    spans: tuple[HunkSpan, ...] = ()
    parts: tuple[str, ...] = ()
    has_followed: bool = False
    followed: str | None = None


class PlanChanged(Struct, frozen=True, gc=False, tag="plan_changed"):
    """The plan changed; these are all its entries."""

    entries: tuple[PlanEntry, ...]


class UsageChanged(Struct, frozen=True, gc=False, tag="usage_changed"):
    """The use of the model's window, in tokens, and the cost of the session so far."""

    used_tokens: int
    window_tokens: int
    cost_usd: float | None = None


class ChildChanged(Struct, frozen=True, gc=False, tag="child_changed"):
    """A child agent started its work for a call, or ended it: then with the `reason` and its cost.

    Its own record is that of the session `child_id`.
    """

    call_id: str
    child_id: str
    title: str
    reason: ExitReason | None = None
    sentence: str = ""
    cost_usd: float | None = None


class ChildReported(Struct, frozen=True, gc=False, tag="child_reported"):
    """An event of a child agent's session; shown live, recorded only there."""

    child_id: str
    event: "Event"


class Noticed(Struct, frozen=True, gc=False, tag="noticed"):
    """Something the user should know, in one sentence."""

    level: Literal["info", "warning", "error"]
    text: str


class TurnEnded(Struct, frozen=True, gc=False, tag="turn_ended"):
    """A turn ended: the reason, a sentence for the user unless it was simply done, and its usage.

    `cost_usd` is None where no price is known.
    """

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
)
AnyEvent = TypeVar("AnyEvent", bound=Event)
