"""Interpret a session's updates for a conversation: prompts, parts of answers, and the ends of turns."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from hermes_acp.frontends.gateway.model_text import INTERRUPTED
from hermes_protocol import v1

PARAGRAPH: Final = "\n\n"


class TurnState(Struct, frozen=True):
    """A change in the state of a turn: whether it started or ended, with the stop reason and an explanation."""

    state: Literal["began", "ended", "cut_off", "waiting"]
    reason: str = ""
    text: str = ""


class PastTurn(Struct, frozen=True):
    """The part of a session's replay that belongs to one prompt."""

    is_recorded: bool
    end: TurnState | None = None


class AnswerText:
    """Joins the parts of an answer; separate messages of the agent become paragraphs."""

    def __init__(self, feed: Callable[[str], None]) -> None:
        self._feed = feed
        self._message_id: object = None
        self._has_text = False

    def take(self, update: v1.SessionUpdate) -> None:
        """Add the text of an update if it is a part of the answer."""
        if not isinstance(update, v1.AgentMessageChunk) or not isinstance(update.content, v1.TextContent):
            return
        if self._has_text and update.message_id != self._message_id:
            self._feed(PARAGRAPH)
        self._message_id, self._has_text = update.message_id, True
        self._feed(update.content.text)


def turn_state(update: v1.SessionUpdate) -> TurnState | None:
    """Return the turn state that an update reports, or None."""
    own = _own(update)
    if "turnBegan" in own:
        return TurnState("began")
    ended = own.get("turnEnded")
    if ended is None:
        return None
    reason, text = str(ended.get("reason", "")), str(ended.get("text", ""))
    if ended.get("isCutOff"):
        return TurnState("cut_off", reason, text)
    return TurnState("waiting" if ended.get("isWaiting") else "ended", reason, text)


def recorded_prompt(update: v1.SessionUpdate) -> str:
    """Return the message ID of a prompt that an update shows or reports as recorded, or an empty string."""
    if isinstance(update, v1.UserMessageChunk):
        return update.message_id if isinstance(update.message_id, str) else ""
    return str(_own(update).get("promptRecorded", {}).get("messageId", ""))


def read_past(updates: Sequence[v1.SessionUpdate], prompts_before: int, text: AnswerText) -> PastTurn:
    """Find the prompt that follows `prompts_before` others in a replay, and feed its answer to `text`."""
    seen: list[str] = []
    end: TurnState | None = None
    for update in updates:
        prompt_id = recorded_prompt(update)
        if prompt_id and prompt_id not in seen and not _is_continuation(update):
            seen.append(prompt_id)
            if len(seen) > prompts_before + 1:
                break
        if len(seen) == prompts_before + 1:
            text.take(update)
            end = turn_state(update) or end
    return PastTurn(len(seen) > prompts_before, end)


def _is_continuation(update: v1.SessionUpdate) -> bool:
    """Return whether a prompt is our own request to continue the previous turn."""
    content = update.content if isinstance(update, v1.UserMessageChunk) else None
    return isinstance(content, v1.TextContent) and content.text == INTERRUPTED


def _own(update: v1.SessionUpdate) -> dict[str, dict[str, Any]]:
    meta = update.meta if isinstance(update, v1.SessionInfoUpdate) else None
    try:
        own = msgspec.convert(meta, dict[str, Any]).get("hermes")
    except msgspec.ValidationError:
        return {}
    try:
        return msgspec.convert(own, dict[str, dict[str, Any]])
    except msgspec.ValidationError:
        return {}
