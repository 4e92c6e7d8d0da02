"""Apply the user's decisions on edits that were made without asking, and record them for the model.

A review tracks changes that others make to the file later.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from hermes_acp.core.errors import BadRequest, HermesError, WorkspaceError
from hermes_acp.core.event_types import EditsJudged
from hermes_acp.core.record.edit_reviews import Review, judgement, span_of
from hermes_acp.sessions.session import Session
from hermes_acp.tools.text_files import TextFile, decode

Verdict = Literal["accepted", "rejected"]


class ReviewDecision(Struct, frozen=True):
    """A verdict on the hunks with the given numbers, or on all hunks if `hunks` is None.

    `revision` is the revision of the review that the numbers refer to. `is_done` says that the caller has already
    removed the rejected hunks from the file, or is about to.
    """

    verdict: Verdict
    hunks: tuple[int, ...] | None = None
    revision: str = ""
    is_done: bool = False


class EditReview:
    """The edits of one open session that can be reviewed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._reviews = session.record.reviews

    async def look(self) -> Sequence[Review]:
        """Return the open reviews after updating them to the files' current contents. Raises StorageError."""
        for review in self._reviews.open:
            await self._follow(review)
        return self._reviews.open

    async def judge(self, path: str | None, judgement: ReviewDecision) -> None:
        """Accept or reject hunks of one file, or of all files. Raises BadRequest, WorkspaceError or StorageError."""
        if path is None:
            if judgement.hunks is not None:
                raise BadRequest("Hunks are numbered within a file.", hint="Name the path too.")
            for review in self._reviews.open:
                await self._judge(review, judgement)
            return
        review = self._reviews.find(path)
        if review is None:
            raise BadRequest(
                f"There is no open edit of {path[:200]!r} in this session.", hint="List the edits again."
            )
        await self._judge(review, judgement)

    async def _judge(self, review: Review, said: ReviewDecision) -> None:
        if not said.is_done:
            review = await self._follow(review)
        if said.revision and said.revision != review.revision:
            raise BadRequest(f"{review.path} was edited since it was listed.", hint="List the edits again.")
        numbers = range(len(review.hunks))
        if said.hunks is not None and not set(said.hunks) <= set(numbers):
            raise BadRequest(
                f"{review.path} has {len(numbers)} open hunks.", hint="They are numbered from 0."
            )
        chosen, parts = judgement(review, said.verdict, said.hunks)
        if said.verdict == "rejected" and not said.is_done:
            await self._write(review, review.rejected(chosen).after)
        spans = tuple(span_of(hunk) for hunk in chosen)
        self._session.ledger.emit(EditsJudged(review.path, said.verdict, spans, parts))
        await self._session.ledger.settle()

    async def _follow(self, review: Review) -> Review:
        """Update a review to the current content of its file; leave it unchanged if the file cannot be read."""
        try:
            content = await self._session.workspace.read(review.path)
            now = None if content is None else decode(content, review.path).text
        except HermesError:
            return review
        if now == review.after:
            return review
        event = EditsJudged(review.path, "accepted", has_followed=True, followed=now)
        self._session.ledger.emit(event)
        return self._reviews.find(review.path) or review.followed(now)

    async def _write(self, review: Review, text: str | None) -> None:
        workspace = self._session.workspace
        if text is None:
            await workspace.remove(review.path)
            return
        content = await workspace.read(review.path, for_edit=True)
        file = TextFile("") if content is None else decode(content, review.path)
        if content is not None and file.text != review.after:
            raise WorkspaceError(f"{review.path} changed at the same time.", hint="Review it again.")
        await workspace.write(review.path, file.encode(text, review.path))
