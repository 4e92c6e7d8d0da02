"""Search in earlier sessions."""

from typing import Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Speaker


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


class Recall(Protocol):
    """What was ever said in the sessions of this home."""

    async def search(self, asked: RecallQuery) -> SearchResults:
        """Find passages. Raises BadRequest for a query without a word, StorageError."""
        ...
