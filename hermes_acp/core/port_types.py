"""Value types used by the ports.

Knows: questions and answers as plain values. Does not know: the seams (`core.ports`), or who is behind them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from hermes_acp.core.event_types import Diff, Speaker


class ModelInfo(Struct, frozen=True):
    """What is known of a model: its window in tokens and prices in dollars a million tokens, where known.

    One that `sees` is known to take pictures.
    """

    window_tokens: int
    max_output_tokens: int | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    cached_usd: float | None = None
    sees: bool = False


class DirectoryEntry(Struct, frozen=True):
    """One entry of a folder; `name` ends in a slash for a folder."""

    name: str
    size_bytes: int


class SearchMatch(Struct, frozen=True):
    """One line a search found, or one around it (`is_context`); lines count from 1.

    Of a search for files or counts there is one match a file, of line 0, with its `count` of lines.
    """

    path: str
    line: int
    text: str
    is_context: bool = False
    count: int = 0


class SearchQuery(Struct, frozen=True):
    """A search by regular expression, or `is_literal` words, under `path` (absolute), narrowed by a glob.

    Names in `excluded` are passed over. Globs are those of ignore files: `*.py` anywhere, `src/**/*.ts` from
    `path` on; `{a,b}` is either. `kind` is one of ripgrep's types, such as `py`. `before` and `after` are lines of
    context. Where it `is_multiline`, a match may span lines, and `.` is any character.
    """

    pattern: str
    path: str
    glob: str | None = None
    excluded: tuple[str, ...] = ()
    limit: int = 200
    is_literal: bool = False
    ignores_case: bool = False
    is_multiline: bool = False
    kind: str = ""
    before: int = 0
    after: int = 0
    shape: Literal["lines", "files", "counts"] = "lines"


class FileQuery(Struct, frozen=True):
    """A search for files by name under `path` (absolute), by a glob as in SearchQuery, the newest first.

    Ignored files are passed over unless `takes_ignored`; `.git` always is, and names in `excluded`.
    """

    glob: str
    path: str
    limit: int = 200
    takes_ignored: bool = False
    excluded: tuple[str, ...] = ()


class FileChunk(Struct, frozen=True):
    """A part of a file's bytes, and how many the whole file has."""

    content: bytes
    size_bytes: int


Confinement = Literal["usual", "must", "read_only", "never"]
"""Whether a command runs in a sandbox: as configured, always, always with the workspace read-only, or never."""


class Command(Struct, frozen=True):
    """A shell command, where to run it (absolute), and after how many seconds to kill it.

    One that `is_quiet` is the program's own and shown in no terminal. `variables` go over those it would have.
    """

    line: str
    cwd: str
    timeout_s: float
    confinement: Confinement = "usual"
    is_quiet: bool = False
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def must_be_confined(self) -> bool:
        """Return whether it runs in a sandbox or not at all."""
        return self.confinement in ("must", "read_only")


class CommandResult(Struct, frozen=True):
    """How a command ended: output bounded to head and tail, exit code or None when killed, and why.

    `signal` is the name of the one that killed it, where that was told instead of a code. `left_running` when
    something that it started goes on.
    """

    output: str
    exit_code: int | None
    timed_out: bool = False
    signal: str = ""
    left_running: bool = False


class OutputSnapshot(Struct, frozen=True):
    """What a live process put out since the last look, and how it ended if it did; the end has no output of its own."""

    output: str
    end: CommandResult | None = None


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


class PermissionResponse(Struct, frozen=True):
    """An answer with more to it: a word that goes with it, and what files shall be made into instead, by their paths.

    `left_out` says by path which parts of what was proposed are not wanted, in words for the model.
    """

    answer: PermissionAnswer
    comment: str = ""
    texts: Mapping[str, str] = MappingProxyType({})
    left_out: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class PermissionScope(Struct, frozen=True):
    """What an answer for good would be remembered for, in words; empty where none would be.

    `session` holds until the session ends, `workspace` for whatever is later opened in its folder. `manner` says how
    what was allowed runs then.
    """

    session: str = ""
    workspace: str = ""
    manner: str = ""


class DelegatedTask(Struct, frozen=True):
    """One task for a child agent, which sees nothing else of the conversation."""

    title: str
    instructions: str
    context: str = ""


class RecallQuery(Struct, frozen=True):
    """A search in what was said: words that must all be there, "phrases", begins*, either OR other.

    `cwd` keeps to the sessions of one working directory, `excluded` passes over one session. What was written since
    the last search is read first, for at most `max_wait_s` seconds; None reads all of it. `by_meaning` also finds what
    says the like in other words, where there is a model for that.
    """

    text: str
    cwd: str | None = None
    excluded: str = ""
    limit: int = 20
    max_wait_s: float | None = None
    by_meaning: bool = False


class SearchHit(Struct, frozen=True):
    """One passage that was found: whose, at which place of which session, and its part around the words.

    In the snippet each word looked for is between the characters 0x02 and 0x03. `updated_at` is the session's, in
    seconds since the epoch.
    """

    session_id: str
    title: str
    cwd: str
    updated_at: float
    position: int
    speaker: Speaker
    snippet: str


class SearchResults(Struct, frozen=True):
    """What a search found, the best first, and how many sessions have words that were not read yet.

    `note` says what was left out of it, if anything was.
    """

    found: tuple[SearchHit, ...]
    unread_sessions: int = 0
    note: str = ""


class Page(Struct, frozen=True):
    """A web page as text; `url` is where it was found in the end, `is_cut` tells that there is more of it.

    One that only leads elsewhere, to where nobody went, has no text but `moved_to` and, in `note`, why not.
    """

    url: str
    status: int
    text: str
    is_cut: bool = False
    moved_to: str = ""
    note: str = ""


class WebSearchHit(Struct, frozen=True):
    """One page a search engine found; `date` as the engine writes it, empty where unknown."""

    title: str
    url: str
    snippet: str
    date: str = ""


class BrowserAction(Struct, frozen=True):
    """One thing to do in a browser: `ref` names an element of the last snapshot, `text` is what to type.

    A `key` is pressed after typing. Where `sees_private`, the address itself may be one of this machine's network.
    """

    kind: Literal["navigate", "snapshot", "click", "type", "screenshot", "back", "close"]
    url: str = ""
    ref: str = ""
    text: str = ""
    key: str = ""
    sees_private: bool = False


class BrowserSnapshot(Struct, frozen=True):
    """What a browser shows: its page as a tree of elements with refs; `image` is a PNG where one was asked for.

    `notes` are sentences on what happened meanwhile, such as a navigation that was refused; pages have a say in their
    words. `trouble` says why nothing is shown.
    """

    url: str = ""
    title: str = ""
    text: str = ""
    image: bytes = b""
    notes: tuple[str, ...] = ()
    trouble: str = ""


class FileDiagnostic(Struct, frozen=True):
    """Something an editor finds wrong in a file; lines and columns count from 1."""

    path: str
    line: int
    column: int
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""


MemoryStoreName = Literal["memory", "user", "workspace"]


class EventContext(Struct, frozen=True):
    """When something is done: in which turn of which session, and at what time (seconds since the epoch)."""

    session_id: str
    turn_id: str
    at: float


class MemoryChange(Struct, frozen=True):
    """One change of the agent's notes; `old_text` is a part of the one note it replaces or removes.

    `meant` is the whole of that note as somebody saw it; empty is whatever it says by then.
    """

    store: MemoryStoreName
    action: Literal["add", "replace", "remove"]
    text: str = ""
    old_text: str = ""
    meant: str = ""


class MemoryPreview(Struct, frozen=True):
    """What a change would make of the notes, and that change, bound to the note that was seen."""

    change: MemoryChange
    diff: Diff


class MemoryState(Struct, frozen=True):
    """The notes of one store, how many characters they have of those that fit, and how they came to be so."""

    store: MemoryStoreName
    entries: tuple[str, ...]
    characters: int
    max_characters: int
    diff: Diff | None = None


class SkillContent(Struct, frozen=True):
    """A skill's text, or another file of it; `place` says where it lies, for people, `cut_out` what the scanner took.

    `files` are what else lies in its `folder` (absolute), by path within it.
    """

    name: str
    folder: str
    place: str
    text: str
    files: tuple[str, ...] = ()
    cut_out: tuple[str, ...] = ()


SkillScope = Literal["user", "workspace"]


class SkillChange(Struct, frozen=True):
    """One change of a skill, and why it is made.

    `text` is what is written: a whole file, or what takes the place of `old_text` in one. `file` is the one that is
    meant, by its path in the skill's folder; without one it is the SKILL.md. `scope` is whose a new skill is.
    """

    action: Literal["create", "patch", "write_file", "remove_file", "delete"]
    name: str
    reason: str
    text: str = ""
    old_text: str = ""
    file: str = ""
    scope: SkillScope = "user"


class SkillPreview(Struct, frozen=True):
    """What a change would make of a skill's folder (absolute), which is in the state `state` now.

    `written` and `removed` are files by their absolute paths, `warnings` what whoever decides should know.
    """

    folder: str
    scope: SkillScope
    state: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    diffs: tuple[Diff, ...] = ()
    warnings: tuple[str, ...] = ()
