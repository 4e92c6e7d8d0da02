"""The messages between a worker and a run's process over standard streams, each a line of JSON."""

from typing import Any, Final

from msgspec import Struct

from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.child_ports import DelegatedWork, InheritedRights
from hermes_acp.core.ports.gate_ports import PermissionScope
from hermes_acp.core.ports.run_ports import DriveOutcome, RunMessage, RunOrder

MAX_LINE_BYTES: Final = 1 << 24


class Assignment(Struct, frozen=True, tag="assignment", omit_defaults=True):
    """The first line sent to the process: its run, and the answers received so far.

    The process of a child agent also gets its `work`, and the settings that its parent's flags override.
    """

    order: RunOrder
    epoch: int
    messages: tuple[RunMessage, ...] = ()
    work: DelegatedWork | None = None
    overrides: dict[str, Any] = {}


class Confirmed(Struct, frozen=True, tag="confirmed"):
    """The answer to `Confirm`: whether the worker still holds the run."""

    is_held: bool


class Answered(Struct, frozen=True, tag="answered"):
    """The answer to `Ask`."""

    message: RunMessage


class RightsChanged(Struct, frozen=True, tag="rights_changed"):
    """The permissions that a child agent now has from its parent."""

    rights: InheritedRights


class Stop(Struct, frozen=True, tag="stop"):
    """A request to close the session at the next safe point, and to exit."""


class Progress(Struct, frozen=True, tag="progress"):
    """A sign that the work is making progress."""


class Confirm(Struct, frozen=True, tag="confirm"):
    """A request to confirm that the worker still holds the run."""


class Ask(Struct, frozen=True, tag="ask"):
    """A child agent's question about a call; only one is open at a time."""

    call: CallProposed
    permission_scope: PermissionScope


class Settled(Struct, frozen=True, tag="settled"):
    """The outcome of the run: the last line from a process, which then closes its session and exits."""

    outcome: DriveOutcome


ForProcess = Assignment | Confirmed | Answered | RightsChanged | Stop
ForWorker = Progress | Confirm | Ask | Settled
