"""What a tool call would do, stated before it does it.

Knows: effects, proposals, results. Does not know: who judges them, where they are carried out.
A proposal holds the very action that was judged and shown: what is approved is what runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Diff, EventContext, FileVersion, Location, PlanEntry, ToolKind
from hermes_acp.core.messages import Part

Confinement = Literal["usual", "must", "read_only", "never"]
"""Whether a command runs in a sandbox: as configured, always, always with the workspace read-only, or never."""


class Reads(Struct, frozen=True):
    """Looks at one path (absolute, links resolved); `secret` is what was seen in it that is one, in a few words."""

    path: str
    secret: str = ""


class Writes(Struct, frozen=True):
    """Creates or changes one path (absolute, links resolved); `secret` is what is in it that is one, in a few words."""

    path: str
    secret: str = ""


class Deletes(Struct, frozen=True):
    """Takes away one path (absolute, links resolved), such as a file that is moved elsewhere."""

    path: str


class Reaches(Struct, frozen=True):
    """Speaks to one host of the network, given in lower case and without a port, about `url`.

    `is_all_sent`: nothing is sent but a request for that very URL.
    """

    host: str
    url: str
    is_all_sent: bool = False


class Runs(Struct, frozen=True):
    """Runs a shell command in a directory (absolute); `roots` are the folders it may look into unasked.

    `confined`: where nobody is asked it runs in a sandbox, so that it can do no harm outside. `leaves_sandbox`: it
    wants none even where one is usual, which is always asked. `is_remote`: the files there are not on this machine's
    disk.
    """

    command: str
    cwd: str
    roots: tuple[str, ...] = ()
    confined: bool = False
    leaves_sandbox: bool = False
    is_remote: bool = False


class Calls(Struct, frozen=True):
    """Calls a tool of a server outside; what that touches is the server's alone to know.

    `has_read_only_hint` is what the server says of the tool: a hint, no promise. `state` tells which server that is,
    and what it says of the tool altogether: an answer for good holds for that alone.
    """

    server: str
    tool: str
    has_read_only_hint: bool = False
    state: str = ""


class Presses(Struct, frozen=True):
    """Clicks or types on the page that a browser shows: what that changes is for the page's server alone to know.

    `sends_text`: the page gets text that the model wrote.
    """

    sends_text: bool = False


class Recalls(Struct, frozen=True):
    """Looks at what was said in sessions of other working directories."""


class Remembers(Struct, frozen=True):
    """Changes the agent's own notes for later sessions, kept at `path`.

    `is_asked` where the user wants to see each change before it is made. What `is_user_wide` is shown in all of
    them: no mode writes it unasked.
    """

    path: str
    is_asked: bool = False
    is_user_wide: bool = False


Effect = Reads | Writes | Deletes | Runs | Reaches | Presses | Calls | Recalls | Remembers


class Question(Struct, frozen=True):
    """Something only the user can tell: choices to pick from, and whether words of their own will do.

    With a `url` they are asked to do something on that page; with a `form`, a flat JSON Schema of an object, to fill
    that in.
    """

    text: str
    choices: tuple[str, ...] = ()
    is_free: bool = True
    url: str = ""
    form: dict[str, Any] | None = None


class Reply(Struct, frozen=True):
    """What came of a question; `text` is the answer, empty where a page was opened, `content` a form filled in."""

    outcome: Literal["answered", "opened", "declined", "dismissed"]
    text: str = ""
    content: dict[str, Any] = {}


class Progress(Protocol):
    """Where a running action reports to."""

    @property
    def session_id(self) -> str:
        """The session it runs in."""
        ...

    @property
    def event_context(self) -> EventContext:
        """Which turn of which session it is part of, whoever works for that, and what time it is."""
        ...

    @property
    def confinement(self) -> Confinement:
        """How the commands of this call are confined: as policy decided, as usual where a person approved the call."""
        ...

    def output(self, text: str) -> None:
        """Take a further piece of live output."""
        ...

    def terminal(self, terminal_id: str) -> None:
        """Say that the output is shown by a terminal of the editor's."""
        ...

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        """Replace the turn's plan."""
        ...

    def allows(self, *effects: Effect) -> bool:
        """Return whether the call may have further effects, such as following a redirect, without anybody being
        asked.
        """
        ...

    async def inquire(self, question: Question) -> Reply | None:
        """Ask the user and wait as long as it takes; None where nobody can be asked."""
        ...


class Result(Struct, frozen=True):
    """What an action gave. `text` is what the model reads; `is_error` marks a failure it should know of.

    `parts` come with the text, such as pictures. `seen` is what files now hold, as far as the model knows all of it.

    Of a command, `output_characters` is how much of the text it put out itself, where the rest only says how it
    ended, as the exit code or `signal` do.
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


Action = Callable[[Progress], Awaitable[Result]]


class Proposal(Struct, frozen=True):
    """One understood call: its face for the user, its effects for policy, its action for later.

    The action is ended after `deadline_s` seconds, not counting the time a person is asked; None is the usual time.
    `replaces` is what the files that it would change or take away hold now: nobody is asked to let the model change
    what it does not know. `amend` gives the same call with other texts for some of the files it writes, by their paths;
    it raises WorkspaceError where that cannot be. Where nobody can be asked, `unasked` is done instead: it keeps the
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
