"""Value types of events: places, diffs, plans, options, and the closed lists of names."""

from typing import Literal

from msgspec import Struct

from hermes_acp.core.messages import Effort

Mode = Literal["ask", "accept_edits", "plan", "auto", "bypass"]


ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]


Speaker = Literal["user", "agent", "tool", "title"]


Capability = Literal["files", "network", "processes", "memory", "delegation"]
"""What a tool may touch at all; a call whose effects lie beyond it never runs."""


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
]


class Location(Struct, frozen=True):
    """A place that a call concerns: an absolute path and, if known, a line counted from 1."""

    path: str
    line: int | None = None


class Diff(Struct, frozen=True, omit_defaults=True):
    """A whole file before and after; `old_text` is None for a new file, `new_text` empty for one that is deleted.

    Of a big file it is only the part that changes, which begins at `first_line`, counted from 1. Where it `is_masked`,
    keys were taken out of the texts: they are for reading alone, and are not what is in the file.
    """

    path: str
    old_text: str | None
    new_text: str
    is_deleted: bool = False
    first_line: int = 1
    is_masked: bool = False


class HunkSpan(Struct, frozen=True, gc=False):
    """The lines of a hunk, from 0: start and count in the text before, and in the text after."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int


class FileVersion(Struct, frozen=True):
    """The content of a file (an absolute path) at one moment, as a digest of its bytes."""

    path: str
    digest: str


class PlanEntry(Struct, frozen=True):
    """One line of the agent's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"
    priority: Literal["high", "medium", "low"] = "medium"


class Grant(Struct, frozen=True):
    """A standing answer to one kind of effect: `kind` of effect, and the exact `subject` it was given for.

    It may be bound to a `state` of what the subject stands on; in any other state it does not count.
    """

    kind: Literal["write", "delete", "run", "reach", "call"]
    subject: str
    allowed: bool
    state: str = ""


class Options(Struct, frozen=True):
    """The options that a session's user chose.

    An empty `provider`, `model` or `backend` is the configured one; `effort` None leaves it to the vendor.
    """

    model: str = ""
    during_turn: Literal["queue", "steer"] = "queue"
    shows_thoughts: bool = True
    provider: str = ""
    effort: Effort | None = None
    backend: str = ""


PermissionAnswer = Literal[
    "allow_once",
    "allow_always",
    "allow_workspace",
    "reject_once",
    "reject_always",
    "cancelled",
    "unavailable",
]
"""`allow_always` and `reject_always` are for the session, `allow_workspace` for all later ones in its folder too. One
that is `cancelled` or `unavailable` is no answer at all, and no refusal.
"""


class EventContext(Struct, frozen=True):
    """When something is done: the session, the turn, and the time in seconds since the epoch."""

    session_id: str
    turn_id: str
    at: float
