"""The messages between a worker and a run's process over its standard streams, each one line of JSON."""

from typing import Final

from msgspec import Struct

from hermes_acp.core.ports.run_ports import DriveOutcome, RunMessage, RunOrder

MAX_LINE_BYTES: Final = 1 << 24


class Assignment(Struct, frozen=True, tag="assignment", omit_defaults=True):
    """The first line for the process: its run, and the answers received so far."""

    order: RunOrder
    epoch: int
    messages: tuple[RunMessage, ...] = ()


class Confirmed(Struct, frozen=True, tag="confirmed"):
    """The answer to `Confirm`: whether the run is still the worker's."""

    is_held: bool


class Stop(Struct, frozen=True, tag="stop"):
    """A request to close the session at the next safe point, and to exit."""


class Progress(Struct, frozen=True, tag="progress"):
    """The work has advanced."""


class Confirm(Struct, frozen=True, tag="confirm"):
    """The question whether the run is still the worker's."""


class Settled(Struct, frozen=True, tag="settled"):
    """How the drive ended; the last line of a process, which then closes its session and exits."""

    outcome: DriveOutcome


ForProcess = Assignment | Confirmed | Stop
ForWorker = Progress | Confirm | Settled
