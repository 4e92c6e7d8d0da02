"""Search in earlier sessions."""

from typing import Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Speaker


class RecallQuery(Struct, frozen=True):
    """A search in earlier sessions: words that must all occur, "phrases", begins*, either OR other.

    `cwd` limits it to the sessions of one working directory, `excluded` leaves out one session. What was written
    since the last search is read first, for at most `max_wait_s` seconds; None reads all of it. `by_meaning` also
    finds similar texts, where there is an embedding model.
    """

    text: str
    cwd: str | None = None
    excluded: str = ""
    limit: int = 20
    max_wait_s: float | None = None
    by_meaning: bool = False


class SearchHit(Struct, frozen=True):
    """A passage that was found: its session, its position, and the part around the words.

    In the snippet each word searched for is between the characters 0x02 and 0x03. `updated_at` is the session's, in
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
    """What a search found, the best first, and how many sessions were not indexed yet.

    `note` says what was left out, if anything was.
    """

    found: tuple[SearchHit, ...]
    unread_sessions: int = 0
    note: str = ""


class Recall(Protocol):
    """Search in the sessions of this home."""

    async def search(self, asked: RecallQuery) -> SearchResults:
        """Find passages. Raises BadRequest for a query without a word, StorageError."""
        ...
