"""Derive pairs of a preferred and a rejected answer (DPO) from rejected hunks of edits and undone turns.

For a hunk, both answers write the file: the rejected one as the agent did, the chosen one without the rejected hunks.
For a turn, the user undid it, sent the same prompt again, and kept the next answer. Decisions without a counterpart are
counted.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from hermes_acp.core.event_types import EditsJudged
from hermes_acp.core.events import CallEnded
from hermes_acp.core.record.edit_reviews import REVIEWED, Reviews
from hermes_acp.trajectories.atif_document import AtifStep, Trajectory
from hermes_acp.trajectories.chat_formats import Message, events_in, step_messages
from hermes_acp.trajectories.event_cleaning import CleanSession

WRITE_TOOL: Final = "write_file"
OPENING: Final = frozenset(
    {
        "user_said",
        "note_added",
        "history_compacted",
        "prompt_frozen",
        "text_said",
        "thought_said",
        "step_ended",
    }
)
"""The events with which a step starts."""


class Preferences(Struct, frozen=True):
    """The pairs of one session, and the number of decisions without a counterpart."""

    pairs: tuple[dict[str, Any], ...]
    unpaired: int = 0


class _Turn(Struct):
    """A turn with the positions of its steps."""

    id: str
    steps: list[int] = field(default_factory=list[int])
    reason: str = ""


def preferences_of(session: CleanSession, trajectory: Trajectory) -> Preferences:
    """Return the pairs of a session, excluding those of its child agents."""
    hunks, hunks_unpaired = _hunk_pairs(session, trajectory)
    turns, turns_unpaired = _turn_pairs(trajectory)
    tools = trajectory.agent.tool_definitions
    more = {"tools": tools} if tools else {}
    shown = tuple({**pair, **more, "session_id": trajectory.session_id} for pair in (*hunks, *turns))
    return Preferences(shown, hunks_unpaired + turns_unpaired)


def _hunk_pairs(session: CleanSession, trajectory: Trajectory) -> tuple[list[dict[str, Any]], int]:
    step_of = {
        call.tool_call_id: place
        for place, step in enumerate(trajectory.steps)
        for call in step.tool_calls or ()
    }
    reviews, pairs, unpaired = Reviews(), list[dict[str, Any]](), 0
    texts_before: dict[tuple[str, str], str | None] = {}
    for event, _ in session.events:
        if isinstance(event, EditsJudged) and event.verdict == "rejected":
            pair = _hunk_pair(reviews, event, step_of, texts_before, trajectory)
            pairs += [pair] if pair else []
            unpaired += pair is None
        if isinstance(event, CallEnded):
            texts_before |= {(event.call_id, diff.path): diff.old_text for diff in event.diffs}
        if isinstance(event, REVIEWED):
            reviews.apply(event)
    return pairs, unpaired


def _hunk_pair(
    reviews: Reviews,
    event: EditsJudged,
    step_of: Mapping[str, int],
    texts_before: Mapping[tuple[str, str], str | None],
    trajectory: Trajectory,
) -> dict[str, Any] | None:
    """Return the pair of a rejection; None if the user kept nothing of the edit, or several calls made it."""
    review = reviews.find(event.path)
    if review is None or event.has_followed or len(review.call_ids) != 1:
        return None
    place = step_of.get(review.call_ids[0])
    rest = review.rejected(review.at(event.spans))
    if place is None or review.after is None or rest.after is None or rest.after == review.after:
        return None
    if rest.after == texts_before.get((review.call_ids[0], event.path)):
        return None  # nothing of the edit is left
    before = [message for step in trajectory.steps[:place] for message in step_messages(step)]
    return {
        "source": "hunk",
        "prompt": before,
        "chosen": [_written(event.path, rest.after)],
        "rejected": [_written(event.path, review.after)],
    }


def _written(path: str, text: str) -> Message:
    arguments = msgspec.json.encode({"path": path, "content": text}).decode()
    call = {"id": "call_1", "type": "function", "function": {"name": WRITE_TOOL, "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _turn_pairs(trajectory: Trajectory) -> tuple[list[dict[str, Any]], int]:
    turns, undone = _turns(trajectory)
    pairs: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        later = turns[number + 1] if number + 1 < len(turns) else None
        if turn.id not in undone:
            continue
        if later is None or later.id in undone or later.reason != "done":
            continue
        asked, answer = _exchange(trajectory, turn)
        asked_again, better = _exchange(trajectory, later)
        if not answer or not better or _words(asked) != _words(asked_again):
            continue
        before = [message for step in trajectory.steps[: turn.steps[0]] for message in step_messages(step)]
        pairs.append({"source": "undone", "prompt": [*before, *asked], "chosen": better, "rejected": answer})
    return pairs, len(undone) - len(pairs)


def _turns(trajectory: Trajectory) -> tuple[list[_Turn], set[str]]:
    """Return the turns in order, and the IDs of those whose changes were undone."""
    turns: list[_Turn] = []
    undone: set[str] = set()
    for place, step in enumerate(trajectory.steps):
        is_placed = False
        for fields in events_in(step):
            if fields["type"] in OPENING and not is_placed:
                is_placed = True
                if turns and not turns[-1].reason:
                    turns[-1].steps.append(place)
            if fields["type"] == "turn_started" and not fields.get("goes_on"):
                turns.append(_Turn(fields["turn_id"]))
            elif fields["type"] == "turn_ended" and turns:
                turns[-1].reason = fields["reason"]
            elif fields["type"] == "note_added":
                undone |= set(fields.get("undone", ()))
    return [turn for turn in turns if turn.steps], undone


def _exchange(trajectory: Trajectory, turn: _Turn) -> tuple[list[Message], list[Message]]:
    """Split a turn's messages into those before the first answer and the rest."""
    steps = [trajectory.steps[place] for place in turn.steps]
    first = next((place for place, step in enumerate(steps) if step.source == "agent"), len(steps))
    return list(_messages(steps[:first])), list(_messages(steps[first:]))


def _messages(steps: list[AtifStep]) -> Iterator[Message]:
    for step in steps:
        yield from step_messages(step)


def _words(messages: list[Message]) -> list[str]:
    return [" ".join(str(each["content"]).split()) for each in messages if each["role"] == "user"]
