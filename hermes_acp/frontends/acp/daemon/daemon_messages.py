"""The messages on the socket of the resident process, each one line of JSON."""

from typing import Final

from msgspec import Struct

ON_DEMAND: Final = "--on-demand"
"""The flag of a process that an editor started: it ends when it is not used."""


class Hello(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A request to the resident process.

    `serve` hands a client's descriptors over, with the `variables` its commands are to see; `status` asks what runs;
    `stop` asks it to end once running turns have ended, `kill` to end at once, and `stay` not to end for want of use.
    `is_replaced` says that another one follows.
    """

    purpose: str
    version: str = ""
    allows_bypass: bool = False
    variables: dict[str, str] = {}
    is_replaced: bool = False


class Answer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What the resident process answers: whether it does it and, if not, why; it may be ending, to be replaced."""

    is_accepted: bool
    reason: str = ""
    is_ending: bool = False


class SessionStatus(Struct, frozen=True, rename="camel"):
    """One open session: its state (`idle`, `running` or `waiting` for an answer), and the attached clients."""

    id: str
    title: str
    cwd: str
    state: str
    clients: tuple[str, ...]


class DaemonStatus(Struct, frozen=True, rename="camel"):
    """One resident process; `address` is where it serves HTTP, if it does, and `flags` are what it was started with.

    `open_questions` counts those of sessions and of runs.
    """

    pid: int
    version: str
    started_at: float
    address: str
    clients: tuple[str, ...]
    sessions: tuple[SessionStatus, ...]
    flags: tuple[str, ...] = ()
    open_questions: int = 0
