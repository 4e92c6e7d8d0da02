"""The terms in which events tell what happened.

Knows: places, diffs, plans, choices, and the closed lists of names. Does not know: events.
"""

from typing import Literal

from msgspec import Struct

from hermes_acp.core.messages import Effort

Mode = Literal["ask", "accept_edits", "plan", "auto"]


ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other"]


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
    """A place a call concerns: an absolute path and, if known, a line counted from 1."""

    path: str
    line: int | None = None


class Diff(Struct, frozen=True):
    """A whole file before and after; `old_text` is None for a new file."""

    path: str
    old_text: str | None
    new_text: str


class PlanEntry(Struct, frozen=True):
    """One line of the agent's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"
    priority: Literal["high", "medium", "low"] = "medium"


class Grant(Struct, frozen=True):
    """A standing answer to one kind of effect: `kind` of effect, and the exact `subject` it was given for."""

    kind: Literal["write", "delete", "run", "reach", "call"]
    subject: str
    allowed: bool


class Options(Struct, frozen=True):
    """What a session's user chose for it. An empty `model` is the configured one of `provider`, an empty one of which
    is the configured one too; `effort` None leaves it to the vendor.
    """

    model: str = ""
    during_turn: Literal["queue", "steer"] = "queue"
    shows_thoughts: bool = True
    provider: str = ""
    effort: Effort | None = None
