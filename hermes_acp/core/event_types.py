"""The types used in events: locations, diffs, plans, options and closed sets of names."""

from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.messages import Effort

Mode = Literal["ask", "accept_edits", "plan", "auto", "bypass"]


ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]


Speaker = Literal["user", "agent", "tool", "title"]


Capability = Literal["files", "network", "processes", "memory", "delegation"]
"""What a tool may access; a call whose effects exceed its tool's capabilities never runs."""


CallStatus = Literal["completed", "failed", "cancelled"]


ExitReason = Literal[
    "done",
    "refused",
    "truncated",
    "out_of_steps",
    "out_of_tokens",
    "out_of_money",
    "out_of_time",
    "cancelled",
    "denied",
    "bad_calls",
    "looping",
    "empty",
    "model_trouble",
    "storage_trouble",
    "gave_up",
    "input_required",
]


class Location(Struct, frozen=True):
    """A location that a call refers to: an absolute path and, if known, a line (counted from 1)."""

    path: str
    line: int | None = None


class Diff(Struct, frozen=True, omit_defaults=True):
    """A file before and after. `old_text` is null for a new file; `new_text` is empty for a deleted one.

    For a large file, the texts contain only the changed part, which starts at `first_line` (counted from 1). If
    `is_masked` is set, secrets were removed from the texts, so they differ from the file.
    """

    path: str
    old_text: str | None
    new_text: str
    is_deleted: bool = False
    first_line: int = 1
    is_masked: bool = False


class HunkSpan(Struct, frozen=True, gc=False):
    """The position of a hunk: its start and number of lines in the text before and after. Lines are counted from 0."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int


class EditsJudged(Struct, frozen=True, gc=False, tag="edits_judged"):
    """The user accepted or rejected hunks of edits that were made to a file without approval.

    `spans` lists the hunks. If `has_followed` is set, the review first adopted later changes that others made to the
    file; `followed` is then the resulting text (null if the file does not exist). `parts` describes the rejected hunks
    to the model.
    """

    path: str
    verdict: Literal["accepted", "rejected"]
    spans: tuple[HunkSpan, ...] = ()
    parts: tuple[str, ...] = ()
    has_followed: bool = False
    followed: str | None = None


class FileVersion(Struct, frozen=True):
    """The content of a file (absolute path) at one point in time, as a digest of its bytes."""

    path: str
    digest: str


class PlanEntry(Struct, frozen=True):
    """One entry of the agent's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"
    priority: Literal["high", "medium", "low"] = "medium"


class PlanChanged(Struct, frozen=True, gc=False, tag="plan_changed"):
    """The plan changed. `entries` is the whole current plan."""

    entries: tuple[PlanEntry, ...]


class ToolsOffered(Struct, frozen=True, gc=False, tag="tools_offered"):
    """The tools in requests to the model changed. `digest` is the SHA-256 of their schemas.

    The schemas are in `tool-schemas/DIGEST.json` in the home folder, one copy for all sessions. `version` is the
    version of the program.
    """

    digest: str
    version: str = ""


EffectKind = Literal[
    "reads", "writes", "deletes", "runs", "publishes", "reaches", "calls", "remembers", "recalls"
]
WarningKind = Literal["deletes", "publishes", "reaches"]
WARNING_EFFECTS: Final[tuple[WarningKind, ...]] = ("deletes", "publishes", "reaches")
"""The effects about which the user is warned, and which an "always" answer does not cover."""


class CallEffect(Struct, frozen=True):
    """One kind of effect that a call would have, as shown to the user, with the targets it would affect.

    Paths in the session's working directory are relative to it. `targets` is empty if they are not known.
    """

    kind: EffectKind
    targets: tuple[str, ...] = ()


class Grant(Struct, frozen=True):
    """An "always" answer for one `kind` of effect on one exact `subject`.

    If it has a `state`, it is valid only while everything that the subject depends on is unchanged.
    """

    kind: Literal["write", "delete", "run", "reach", "call"]
    subject: str
    allowed: bool
    state: str = ""


class GrantsRevoked(Struct, frozen=True, gc=False, tag="grants_revoked"):
    """The user revoked "always" answers in this session."""

    grants: tuple[Grant, ...]


class Options(Struct, frozen=True):
    """What the user chose for a session. Empty values mean the configured defaults.

    If `effort` is null, the provider decides. The cards of a `board` are shown as the session's plan.
    """

    model: str = ""
    during_turn: Literal["queue", "steer"] = "queue"
    shows_thoughts: bool = True
    provider: str = ""
    effort: Effort | None = None
    backend: str = ""
    board: str = ""


Surface = Literal["", "editor", "terminal", "headless", "chat", "voice"]
"""Where a session started: in an editor, in the terminal chat, without a person waiting for it (`run`, runs, programs),
in a chat app, or in a client that reads answers aloud. Empty if unknown.
"""

PermissionAnswer = Literal[
    "allow_once",
    "allow_always",
    "allow_workspace",
    "reject_once",
    "reject_always",
    "cancelled",
    "unavailable",
]
"""`allow_always` and `reject_always` are valid for the session; `allow_workspace` is also valid for later sessions in
its folder. `cancelled` and `unavailable` mean that there was no answer; they are not refusals.
"""


class EventContext(Struct, frozen=True):
    """The session, turn and time (seconds since the epoch) of an action."""

    session_id: str
    turn_id: str
    at: float


class SessionImported(Struct, frozen=True, gc=False, tag="session_imported"):
    """Everything before this event was imported; `digest` is the SHA-256 of the imported document.

    The conversation is kept, in the folder `cwd`. Modes, options, answers, folders, the system prompt, open calls and
    reviews from before this event have no effect.
    """

    digest: str
    cwd: str
