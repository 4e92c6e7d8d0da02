"""What a tool call would do, stated before it does it: effects, the proposal, the result.

A proposal holds the very action that was checked and shown: what is approved is what runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff, EventContext, FileVersion, Location, PlanEntry, ToolKind
from hermes_acp.core.messages import Part

Confinement = Literal["usual", "must", "read_only", "never"]
"""Whether a command runs in a sandbox: as configured, always, always with the workspace read-only, or never."""


class Reads(Struct, frozen=True):
    """Reads one path (absolute, links resolved); `secret` names the kind of secret found in it, if any."""

    path: str
    secret: str = ""


class Writes(Struct, frozen=True):
    """Creates or changes one path (absolute, links resolved); `secret` names the kind of secret in it, if any."""

    path: str
    secret: str = ""


class Deletes(Struct, frozen=True):
    """Deletes one path (absolute, links resolved), such as a file that is moved elsewhere."""

    path: str


class Reaches(Struct, frozen=True):
    """Connects to one host (lower case, without a port) about `url`.

    `is_all_sent`: nothing is sent but a request for that very URL.
    """

    host: str
    url: str
    is_all_sent: bool = False


class Runs(Struct, frozen=True):
    """Runs a shell command in a directory (absolute); `roots` are the folders it may read without a question.

    `confined`: unasked it runs in a sandbox, where it can do no harm outside. `leaves_sandbox`: it must run without
    one even where that is usual, which is always asked. `is_remote`: its files are not on this machine.
    """

    command: str
    cwd: str
    roots: tuple[str, ...] = ()
    confined: bool = False
    leaves_sandbox: bool = False
    is_remote: bool = False


class Calls(Struct, frozen=True):
    """Calls a tool of an MCP server; only the server knows what that touches.

    `has_read_only_hint` is what the server says of the tool: a hint, no promise. `state` identifies the server and
    all it says of the tool: a lasting answer holds for that alone.
    """

    server: str
    tool: str
    has_read_only_hint: bool = False
    state: str = ""


class Presses(Struct, frozen=True):
    """Clicks or types on a page in the browser; only the page's server knows what that changes.

    `sends_text`: the page gets text that the model wrote.
    """

    sends_text: bool = False


class Recalls(Struct, frozen=True):
    """Reads what was said in sessions of other working directories."""


class Remembers(Struct, frozen=True):
    """Changes the agent's own notes, kept at `path`.

    `is_asked` where the user wants to see each change before it is made. Notes that are `is_user_wide` are shown in
    all of the user's sessions: no mode writes them unasked.
    """

    path: str
    is_asked: bool = False
    is_user_wide: bool = False


Effect = Reads | Writes | Deletes | Runs | Reaches | Presses | Calls | Recalls | Remembers


class Question(Struct, frozen=True):
    """A question that only the user can answer: choices, and whether free text is accepted.

    With a `url` they are asked to do something on that page; with a `form`, a flat JSON Schema of an object, to fill
    it in.
    """

    text: str
    choices: tuple[str, ...] = ()
    is_free: bool = True
    url: str = ""
    form: dict[str, Any] | None = None


class Reply(Struct, frozen=True):
    """The answer to a question; `text` is empty where a page was opened, `content` is a form filled in."""

    outcome: Literal["answered", "opened", "declined", "dismissed"]
    text: str = ""
    content: dict[str, Any] = {}


class Progress(Protocol):
    """What a running action reports to."""

    @property
    def session_id(self) -> str:
        """The session that the call runs in."""
        ...

    @property
    def event_context(self) -> EventContext:
        """The present moment, in the turn that a person prompted."""
        ...

    @property
    def confinement(self) -> Confinement:
        """How the call's commands are confined: as policy decided, or as usual once a person approved."""
        ...

    def output(self, text: str) -> None:
        """Append live output."""
        ...

    def terminal(self, terminal_id: str) -> None:
        """Report that a terminal of the editor's shows the output."""
        ...

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        """Replace the turn's plan."""
        ...

    def allows(self, *effects: Effect) -> bool:
        """Return whether policy lets the call have further effects unasked, such as following a redirect."""
        ...

    async def inquire(self, question: Question) -> Reply | None:
        """Ask the user and wait as long as it takes; None where nobody can be asked."""
        ...


class Result(Struct, frozen=True):
    """The result of an action. `text` is what the model reads; `is_error` marks a failure it should know of.

    `advice` is for the model too, and shown to nobody else.

    `parts` come with the text, such as pictures. `seen` is what files now hold, as far as the model knows all of it.

    Of a command, `output_characters` is how much of the text is its own output; the rest only says how it ended, as
    the exit code or `signal` do.
    """

    text: str
    is_error: bool = False
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    exit_code: int | None = None
    signal: str = ""
    output_characters: int | None = None
    parts: tuple[Part, ...] = ()
    seen: tuple[FileVersion, ...] = ()
    advice: str = ""


Action = Callable[[Progress], Awaitable[Result]]


class Proposal(Struct, frozen=True):
    """One understood call: a card for the user, effects for policy, an action to perform.

    The action is stopped after `deadline_s` seconds, not counting the time a person is asked; None is the default.
    `replaces` is the present content of files that it would change or delete: nobody is asked to let the model change
    what it has not read. `amend` returns the same call with other texts for some of the files it writes, by path; it
    raises WorkspaceError where that cannot be. Where nobody can be asked, `unasked` is done instead: it keeps the
    call for a person to decide later, and has no effects of its own.
    """

    title: str
    kind: ToolKind
    perform: Action
    effects: tuple[Effect, ...] = ()
    locations: tuple[Location, ...] = ()
    diffs: tuple[Diff, ...] = ()
    deadline_s: float | None = None
    replaces: tuple[FileVersion, ...] = ()
    amend: "Callable[[Mapping[str, str]], Proposal] | None" = None
    unasked: "Proposal | None" = None
