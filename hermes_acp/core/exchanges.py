"""What is handed through the seams of the house.

Knows: questions and answers as plain values. Does not know: the seams (`core.ports`), or who is behind them.
"""

from typing import Literal

from msgspec import Struct

from hermes_acp.core.passages import Speaker


class ModelFacts(Struct, frozen=True):
    """What is known of a model: its window in tokens and prices in dollars a million tokens, where known."""

    window_tokens: int
    max_output_tokens: int | None = None
    input_usd: float | None = None
    output_usd: float | None = None
    cached_usd: float | None = None


class Entry(Struct, frozen=True):
    """One entry of a folder; `name` ends in a slash for a folder."""

    name: str
    size_bytes: int


class Match(Struct, frozen=True):
    """One line a search found; lines count from 1."""

    path: str
    line: int
    text: str


class SearchQuery(Struct, frozen=True):
    """A search by regular expression under `path` (absolute), narrowed by a glob.

    Names in `leaves_out` are passed over. Globs are those of ignore files: `*.py` anywhere, `src/**/*.ts` from
    `path` on; `{a,b}` is either.
    """

    pattern: str
    path: str
    glob: str | None = None
    leaves_out: tuple[str, ...] = ()
    limit: int = 200


class Command(Struct, frozen=True):
    """A shell command, where to run it (absolute), and after how many seconds to kill it."""

    line: str
    cwd: str
    timeout_s: float


class CommandEnd(Struct, frozen=True):
    """How a command ended: output bounded to head and tail, exit code or None when killed, and why.

    `signal` is the name of the one that killed it, where that was told instead of a code.
    """

    output: str
    exit_code: int | None
    timed_out: bool = False
    signal: str = ""


Answer = Literal["allow_once", "allow_always", "reject_once", "reject_always", "cancelled", "unavailable"]


class Errand(Struct, frozen=True):
    """One task for a child agent, which sees nothing else of the conversation."""

    title: str
    instructions: str
    context: str = ""


class RecallQuery(Struct, frozen=True):
    """A search in what was said: words that must all be there, "phrases", begins*, either OR other.

    `cwd` keeps to the sessions of one working directory, `leaves_out` passes over one session. What was written since
    the last search is read first, for at most `patience_s` seconds; None reads all of it.
    """

    text: str
    cwd: str | None = None
    leaves_out: str = ""
    limit: int = 20
    patience_s: float | None = None


class Find(Struct, frozen=True):
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


class Finds(Struct, frozen=True):
    """What a search found, the best first, and how many sessions have words that were not read yet."""

    found: tuple[Find, ...]
    unread_sessions: int = 0
