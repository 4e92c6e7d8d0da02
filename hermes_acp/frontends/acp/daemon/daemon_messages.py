"""The messages on the socket of the resident process, each one line of JSON."""

from msgspec import Struct


class Hello(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A request to the resident process.

    `serve` hands a client's descriptors over, with the `variables` for its commands; `status` asks what is running;
    `stop` asks it to end once running turns have ended, `kill` to end at once.
    """

    purpose: str
    version: str = ""
    allows_bypass: bool = False
    variables: dict[str, str] = {}


class Answer(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The resident process's answer: whether it accepts the request and, if not, why."""

    is_accepted: bool
    reason: str = ""


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
