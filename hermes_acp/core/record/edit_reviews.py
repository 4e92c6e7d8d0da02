"""Edits that were made without approval and await the user's review, by file and hunk.

A file under review has two texts: what the user has agreed to so far, and what the agent wrote. Accepting a hunk adds
it to the former, and rejecting a hunk removes it from the latter; when both are equal, nothing is open. Changes that
others make in the meantime are applied to both.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from hermes_acp.core.event_types import Diff, EditsJudged, HunkSpan
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    Event,
    NoteAdded,
    PermissionAnswered,
    PermissionAsked,
)
from hermes_acp.core.hunks import Hunk, apply_hunks, describe_hunk, diff_hunks, revert_hunks

MAX_FILES: Final = 200
MAX_CHARACTERS: Final = 4_000_000
"""The maximum number of characters kept for one session; beyond it, the oldest review counts as accepted."""

REVIEWED: Final = (CallProposed, PermissionAsked, PermissionAnswered, CallEnded, EditsJudged, NoteAdded)
"""The events from which reviews are derived."""


class Review(Struct, frozen=True):
    """The review of one file; a text of None means that there is no file.

    `call_ids` are the calls whose edits are open in it.
    """

    path: str
    before: str | None
    after: str | None
    call_ids: tuple[str, ...] = ()

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """The open hunks, in order; a created or deleted file counts as one hunk."""
        if self.before is None or self.after is None:
            whole = Hunk(0, _lines(self.before), 0, _lines(self.after))
            return () if self.before == self.after else (whole,)
        return diff_hunks(self.before, self.after)

    @property
    def revision(self) -> str:
        """An ID for exactly this state, so that hunk numbers are never applied to another state."""
        from hashlib import blake2b

        said = repr((self.before, self.after)).encode("utf-8", "surrogatepass")
        return blake2b(said, digest_size=8).hexdigest()

    def followed(self, now: str | None) -> "Review":
        """Return the review after others changed the file; hunks affected by that count as accepted."""
        if now == self.after:
            return self
        if self.before is None or self.after is None or now is None:
            is_still_new = self.before is None and now is not None
            return structs.replace(self, before=None if is_still_new else now, after=now)
        before, _ = revert_hunks(self.after, self.hunks, now)
        return structs.replace(self, before=before, after=now)

    def accepted(self, hunks: Sequence[Hunk]) -> "Review":
        """Return the review with some of its hunks accepted."""
        if self.before is None or self.after is None:
            return structs.replace(self, before=self.after)
        return structs.replace(self, before=apply_hunks(self.before, hunks))

    def rejected(self, hunks: Sequence[Hunk]) -> "Review":
        """Return the review with some of its hunks reverted."""
        if self.before is None or self.after is None:
            return structs.replace(self, after=self.before)
        return structs.replace(self, after=revert_hunks(self.after, hunks)[0])

    def at(self, spans: Iterable[HunkSpan]) -> tuple[Hunk, ...]:
        """Return the hunks at the given spans."""
        wanted = set(spans)
        return tuple(hunk for hunk in self.hunks if span_of(hunk) in wanted)


class Reviews:
    """The open reviews of a session, and the reports about them that its model has not seen yet."""

    def __init__(self) -> None:
        self.untold: tuple[EditsJudged, ...] = ()
        self.judged: tuple[EditsJudged, ...] = ()
        self._open: dict[str, Review] = {}
        self._proposed: dict[str, CallProposed] = {}
        self._asked: set[str] = set()
        self._told: tuple[EditsJudged, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Return whether the open reviews, decisions and pending reports are equal."""
        return isinstance(other, Reviews) and vars(self) == vars(other)

    def apply(self, event: Event) -> None:
        """Apply one event."""
        match event:
            case CallProposed():
                if event.diffs:
                    self._proposed[event.call_id] = event
            case PermissionAsked():
                self._asked.add(event.call_id)
            case PermissionAnswered():
                self._proposed.pop(event.call_id, None)
            case CallEnded():
                was_asked = event.call_id in self._asked
                self._proposed.pop(event.call_id, None)
                self._asked.discard(event.call_id)
                if event.status == "completed":
                    for diff in event.diffs:
                        self._put(diff, "" if was_asked else event.call_id)
            case EditsJudged():
                self._judge(event)
            case NoteAdded(tells_edits=True):
                self._told += self.untold
                self.untold = ()
            case _:
                pass

    @property
    def open(self) -> tuple[Review, ...]:
        """The files with open hunks, the oldest first."""
        return tuple(self._open.values())

    @property
    def waiting(self) -> tuple[CallProposed, ...]:
        """The calls whose edits have not been made yet because they await approval."""
        return tuple(call for call in self._proposed.values() if call.call_id in self._asked)

    def find(self, path: str) -> Review | None:
        """Return the review of one file."""
        return self._open.get(path)

    def end_turn(self, *, was_answered: bool) -> None:
        """Record the end of a turn; if the model never answered, it has not seen the reports of this turn."""
        if not was_answered:
            self.untold = self._told + self.untold
        self._told = ()

    def _put(self, diff: Diff, call_id: str) -> None:
        """Add an edit: approved edits count as accepted, masked ones are ignored, and all others are open."""
        old, new = diff.old_text, None if diff.is_deleted else diff.new_text
        known = self._open.pop(diff.path, None)
        if diff.is_masked:
            return
        if known is None:
            review = Review(diff.path, old, old)
        elif _holds(known.after, old):
            review, new = known, _spliced(known.after, old, new)
        else:
            review = known.followed(old)
        if not call_id:
            if review.before != review.after:
                self._keep(review.followed(new))
            return
        is_known = review.call_ids[-1:] == (call_id,)
        call_ids = review.call_ids if is_known else (*review.call_ids, call_id)
        self._keep(structs.replace(review, after=new, call_ids=call_ids))

    def _judge(self, event: EditsJudged) -> None:
        review = self._open.pop(event.path, None)
        if review is None:
            return
        review = review.followed(event.followed) if event.has_followed else review
        hunks = review.at(event.spans)
        if hunks:
            review = review.accepted(hunks) if event.verdict == "accepted" else review.rejected(hunks)
            self.judged += (structs.replace(event, followed=None),)
        if event.parts and event.verdict == "rejected":
            self.untold += (structs.replace(event, followed=None),)
        self._keep(review)

    def _keep(self, review: Review) -> None:
        if review.before == review.after:
            return
        self._open[review.path] = review
        while len(self._open) > 1 and (len(self._open) > MAX_FILES or self._size() > MAX_CHARACTERS):
            del self._open[next(iter(self._open))]

    def _size(self) -> int:
        return sum(len(each.before or "") + len(each.after or "") for each in self._open.values())


def judgement(
    review: Review, verdict: str, numbers: Iterable[int] | None
) -> tuple[tuple[Hunk, ...], tuple[str, ...]]:
    """Return the chosen hunks (by default all), and message parts that report rejected ones to the model."""
    hunks = review.hunks
    chosen = hunks if numbers is None else tuple(hunks[number] for number in sorted(set(numbers)))
    return chosen, tuple(describe_hunk(hunk) for hunk in chosen) if verdict == "rejected" else ()


def span_of(hunk: Hunk) -> HunkSpan:
    """Return a hunk's position in both texts."""
    return HunkSpan(hunk.old_start, len(hunk.old_lines), hunk.new_start, len(hunk.new_lines))


def _lines(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(text.split("\n"))


def _holds(known: str | None, old: str | None) -> bool:
    """Return whether a diff's old text matches; for a large file, it is only part of the file."""
    if known is None or old is None:
        return known == old
    return known == old or (bool(old) and old in known)


def _spliced(known: str | None, old: str | None, new: str | None) -> str | None:
    if known is None or old is None or new is None or known == old:
        return new
    return known.replace(old, new, 1)
