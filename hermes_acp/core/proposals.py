"""What a tool call would do, stated before it runs: the effects, the proposal and the result.

A proposal contains exactly the action that was checked and shown, so what is approved is what runs.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import (
    Capability,
    Diff,
    EventContext,
    FileVersion,
    Location,
    PlanEntry,
    ToolKind,
)
from hermes_acp.core.messages import Part

Confinement = Literal["usual", "must", "read_only", "never"]
"""Whether a command runs in a sandbox: as configured, always, always with a read-only workspace, or never."""


class Reads(Struct, frozen=True):
    """Reads a path (absolute, links resolved); `secret` names the kind of secret in it, if any."""

    path: str
    secret: str = ""


class Writes(Struct, frozen=True):
    """Creates or changes a path (absolute, links resolved); `secret` names the kind of secret in it, if any."""

    path: str
    secret: str = ""


class Deletes(Struct, frozen=True):
    """Deletes a path (absolute, links resolved), for example the old path of a moved file."""

    path: str


class Reaches(Struct, frozen=True):
    """Connects to a host (lower case, without a port) for `url`.

    `is_all_sent` means that nothing but a request for exactly that URL is sent.
    """

    host: str
    url: str
    is_all_sent: bool = False


class Runs(Struct, frozen=True):
    """Runs a shell command in a directory (absolute); `roots` are the folders it may read without asking.

    `confined` means that, without approval, it runs in a sandbox, where it cannot do harm outside. `leaves_sandbox`
    means that it must run without one even where a sandbox is usual, which always needs approval. `is_remote` means
    that its files are not on this machine.
    """

    command: str
    cwd: str
    roots: tuple[str, ...] = ()
    confined: bool = False
    leaves_sandbox: bool = False
    is_remote: bool = False


class Calls(Struct, frozen=True):
    """Calls a tool of an MCP server; only the server knows what that affects.

    `has_read_only_hint` is what the server says about the tool: a hint, not a guarantee. `state` identifies the server
    and its description of the tool: an "always" answer is valid for that state only.
    """

    server: str
    tool: str
    has_read_only_hint: bool = False
    state: str = ""


class Presses(Struct, frozen=True):
    """Clicks or types on a page in the browser; only the page's server knows what that changes.

    `sends_text` means that the page receives text that the model wrote. `uploads` is the file that the page receives
    (absolute, links resolved), if any, and `host` is then the page's host.
    """

    sends_text: bool = False
    uploads: str = ""
    host: str = ""


class Recalls(Struct, frozen=True):
    """Reads sessions of other working directories."""


class Remembers(Struct, frozen=True):
    """Changes the agent's own notes, stored at `path`.

    `is_asked` means that the user wants to approve each change first. Notes that are `is_user_wide` are shown in all of
    the user's sessions, so no mode writes them without asking. The same applies to `is_unsaid` notes, whose words are
    not the user's and may come from a file; `found_in` names, for people, the call whose result contains them. `note`
    is the text to be stored, and `replaced` the text to be removed.
    """

    path: str
    is_asked: bool = False
    is_user_wide: bool = False
    is_unsaid: bool = False
    found_in: str = ""
    note: str = ""
    replaced: str = ""


class Invokes(Struct, frozen=True):
    """Calls a function of the program that embeds the agent; that program declares what the function may access.

    There is one effect for each declared `capability`, or a single one if none is declared. `approval` says whether the
    program wants each call approved, leaves that to policy, or has approved all calls itself.
    """

    function: str
    capability: Capability | None = None
    approval: Literal["always", "when_needed", "never"] = "when_needed"


Effect = Reads | Writes | Deletes | Runs | Reaches | Presses | Calls | Recalls | Remembers | Invokes


class Question(Struct, frozen=True):
    """A question that only the user can answer, with its choices and whether free text is accepted.

    With a `url`, the user is asked to do something on that page; with a `form`, which is a flat JSON Schema of an
    object, to fill it in.
    """

    text: str
    choices: tuple[str, ...] = ()
    is_free: bool = True
    url: str = ""
    form: dict[str, Any] | None = None


class Reply(Struct, frozen=True):
    """The answer to a question; `text` is empty if a page was opened, and `content` is a completed form.

    `by` names the client that gave the answer.
    """

    outcome: Literal["answered", "opened", "declined", "dismissed"]
    text: str = ""
    content: dict[str, Any] = {}
    by: str = ""


class Progress(Protocol):
    """Receives reports from a running action."""

    @property
    def session_id(self) -> str:
        """The ID of the session in which the call runs."""
        ...

    @property
    def event_context(self) -> EventContext:
        """The context for an event emitted now, in the turn that a person prompted."""
        ...

    @property
    def prompts(self) -> "tuple[str, ...]":
        """The user's prompts in the session so far."""
        ...

    @property
    def trace_parent(self) -> str:
        """The `traceparent` that requests made for the call pass on; empty if the call belongs to no trace."""
        ...

    @property
    def confinement(self) -> Confinement:
        """How the call's commands are confined: as policy decided or, if a person approved the call, as usual."""
        ...

    def output(self, text: str) -> None:
        """Append live output."""
        ...

    def terminal(self, terminal_id: str) -> None:
        """Report that one of the editor's terminals shows the output."""
        ...

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        """Replace the turn's plan."""
        ...

    def allows(self, *effects: Effect) -> bool:
        """Return whether policy allows the call additional effects, such as following a redirect, without asking."""
        ...

    async def inquire(self, question: Question) -> Reply | None:
        """Ask the user and wait without a time limit; return None if nobody is available to answer."""
        ...


class Result(Struct, frozen=True):
    """The result of an action.

    `text` is what the model reads; `is_error` marks a failure that the model should know about. `advice` is shown to
    the model and nobody else.

    `parts`, such as images, accompany the text. `seen` contains the current versions of files whose whole content the
    model knows.

    For a command, `output_characters` is how much of the text is its own output; the rest of the text says how it
    ended, as do the exit code and `signal`.
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
    """A proposed call: a card for the user, effects for policy, and an action to perform.

    The action is stopped after `deadline_s` seconds, not counting the time spent asking a person; None means the
    default. `replaces` is the current content of the files that it would change or delete; replacing content that the
    model has not read is rejected without asking. `amend` returns the same call with different texts for some of the
    files it writes, by path; it raises WorkspaceError if that is impossible. If nobody is available, `unasked` runs
    instead: it stores the call for a person to decide on later, and has no effects. If the user was asked and agreed,
    `approved`, if set, runs instead: it is the same action, and records the approval. `outlives_stop` means that the
    action cannot be stopped and may continue after the call has ended.
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
    approved: "Proposal | None" = None
    outlives_stop: bool = False
