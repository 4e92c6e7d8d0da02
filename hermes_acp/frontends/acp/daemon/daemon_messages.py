"""The messages on the socket of the resident process, each one line of JSON."""

from typing import Final

from msgspec import Struct

ON_DEMAND: Final = "--on-demand"
"""The flag of a process that an editor started: it ends after being idle for a while."""


class Hello(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A request to the resident process.

    `serve` hands over a client's descriptors, with the `variables` for its commands; `status` asks what is running;
    `stop` asks it to end once running turns have ended, `kill` to end at once, and `stay` not to end when idle.
    `is_replaced` announces that another process will take over.
    """

    purpose: str
    version: str = ""
    allows_bypass: bool = False
    variables: dict[str, str] = {}
    is_replaced: bool = False


class Answer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The response of the resident process: whether it accepts the request and, if not, why.

    `is_ending` means that the process is about to end and that another one will take over.
    """

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
    """A resident process. `address` is its HTTP address, if it has one; `flags` are its command-line flags.

    `open_questions` counts the questions of sessions and of runs.
    """

    pid: int
    version: str
    started_at: float
    address: str
    clients: tuple[str, ...]
    sessions: tuple[SessionStatus, ...]
    flags: tuple[str, ...] = ()
    open_questions: int = 0
