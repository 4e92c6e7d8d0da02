"""Build a session's history as sent to a model; each message is converted, and its tokens are estimated, only once."""

from collections.abc import Sequence
from operator import is_not
from typing import Final

from msgspec import structs

from hermes_acp.core.messages import AssistantMessage, HistoryEncoding, ImagePart, Message, ToolMessage
from hermes_acp.core.token_estimates import message_tokens

UNSEEN: Final = "[A picture, which this model cannot see.]"


class SentHistory:
    """Restores the model's own call IDs, and removes images for models that do not accept them.

    Some vendors accept only IDs in their own format. If a model used an ID twice, our unique ID is kept. Images that
    the user attached are always kept, so that the user sees the endpoint's refusal.
    """

    def __init__(self) -> None:
        self.encoding = HistoryEncoding()
        self._begin(sees=True)

    def _begin(self, *, sees: bool) -> None:
        self._sees = sees
        self._source: list[Message] = []
        self._sent: list[Message] = []
        self._tokens = 0
        self._sent_ids: dict[str, str] = {}
        self._taken: set[str] = set()
        self._wrappers: dict[str, str] = {}

    def messages(self, history: Sequence[Message], *, sees: bool = True) -> tuple[Message, ...]:
        """Return the messages to send; those already in the last request are the same objects."""
        if sees != self._sees:
            self._begin(sees=sees)
        self._follow(history)
        return tuple(self._sent)

    def tokens(self, history: Sequence[Message]) -> int:
        """Estimate the tokens of the history."""
        self._follow(history)
        return self._tokens

    def _follow(self, history: Sequence[Message]) -> None:
        if len(history) < len(self._source) or any(map(is_not, self._source, history)):
            self._begin(sees=self._sees)
        for message in history[len(self._source) :]:
            self._source.append(message)
            self._sent.append(self._convert(message))
            self._tokens += message_tokens(message)

    def _convert(self, message: Message) -> Message:
        match message:
            case AssistantMessage(tool_calls=calls) if calls:
                for call in calls:
                    vendor_id = call.vendor_id or call.id
                    self._sent_ids[call.id] = call.id if vendor_id in self._taken else vendor_id
                    self._taken.add(self._sent_ids[call.id])
                    if call.via:
                        self._wrappers[call.id] = call.via
                renamed = tuple(
                    structs.replace(call.as_written(), id=self._sent_ids[call.id], vendor_id="")
                    for call in calls
                )
                return structs.replace(message, tool_calls=renamed)
            case ToolMessage():
                sent_id = self._sent_ids.get(message.call_id, message.call_id)
                name = self._wrappers.get(message.call_id, message.name)
                named = structs.replace(message, call_id=sent_id, name=name)
                return named if self._sees or not message.parts else _without_pictures(named)
            case _:
                return message


def _without_pictures(message: ToolMessage) -> ToolMessage:
    """Return a result with each image replaced by a sentence."""
    kept = tuple(part for part in message.parts if not isinstance(part, ImagePart))
    unseen = [UNSEEN] * (len(message.parts) - len(kept))
    return structs.replace(message, text="\n".join((message.text, *unseen)), parts=kept)
