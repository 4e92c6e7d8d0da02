"""The port that searches earlier sessions."""

from typing import Protocol

from msgspec import Struct

from hermes_acp.core.event_types import Speaker


class RecallQuery(Struct, frozen=True):
    """A search in earlier sessions. Syntax: words that must all occur, "phrases", prefix*, either OR other.

    `since` and `until` limit it to what was said from the former and before the latter, in seconds since the epoch. If
    either is set, `text` may be empty, which finds what the user asked for in that period, the newest first. `cwd`
    limits the search to sessions in one working directory; `excluded` leaves out one session. Text written since the
    last search is indexed first, for at most `max_wait_s` seconds, or completely if that is None. `by_meaning` also
    finds similar texts, if there is an embedding model. With `fills_up`, passages that contain some of the words are
    added if fewer than `limit` were found.
    """

    text: str
    cwd: str | None = None
    excluded: str = ""
    limit: int = 20
    max_wait_s: float | None = None
    by_meaning: bool = False
    fills_up: bool = False
    since: float | None = None
    until: float | None = None

    @property
    def has_dates(self) -> bool:
        """Whether the search is limited to a span of time."""
        return self.since is not None or self.until is not None


class SearchHit(Struct, frozen=True):
    """A matching passage: its session, its position, and an excerpt around the match.

    In the snippet, each match is enclosed in the characters 0x02 and 0x03. `updated_at` is the time of the session, and
    `at` that of the passage, in seconds since the epoch; `at` is None in records from versions that recorded no times.
    """

    session_id: str
    title: str
    cwd: str
    updated_at: float
    position: int
    speaker: Speaker
    snippet: str
    at: float | None = None


class SearchResults(Struct, frozen=True):
    """The hits, best first, and the number of sessions that are not indexed yet.

    `note` says what was left out, if anything. `total` is the number of hits without a limit, or 0 if they were not
    counted; there may be more unless `is_total_exact`.
    """

    found: tuple[SearchHit, ...]
    unread_sessions: int = 0
    note: str = ""
    total: int = 0
    is_total_exact: bool = False


class Recall(Protocol):
    """Searches the sessions in one home folder."""

    async def search(self, asked: RecallQuery) -> SearchResults:
        """Find passages. Raises BadRequest for a query with neither words nor dates, and StorageError."""
        ...
