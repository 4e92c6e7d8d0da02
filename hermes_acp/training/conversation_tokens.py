"""Convert conversations to tokens with a model's chat template, and mark the tokens that the model wrote."""

from collections.abc import Sequence
from typing import Any, Final, Protocol, cast

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import TrainingError

IGNORED: Final = -100
"""The label of tokens that are excluded from the loss, as in PyTorch."""


class ChatTokenizer(Protocol):
    """The part of a tokenizer's interface used here."""

    chat_template: Any

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """Return a conversation as text."""
        ...

    def encode(self, text: str, **options: Any) -> list[int]:
        """Return the tokens of a string."""
        ...


class LabelledTokens(Struct, frozen=True):
    """A conversation's tokens, each with a label: the token itself if the model wrote it, else `IGNORED`."""

    input_ids: list[int]
    labels: list[int]

    @property
    def learned(self) -> int:
        """The number of tokens to learn from."""
        return sum(label != IGNORED for label in self.labels)


def labelled_tokens(tokenizer: ChatTokenizer, record: dict[str, Any], max_length: int) -> LabelledTokens:
    """Return the tokens of a record of chat messages, truncated to `max_length`. Raises TrainingError."""
    messages = template_messages(record["messages"])
    tools = record.get("tools")
    tokens: list[int] = []
    labels: list[int] = []
    text = ""
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        before = rendered(tokenizer, messages[:place], tools, is_open=True)
        after = rendered(tokenizer, messages[: place + 1], tools)
        if not before.startswith(text) or not after.startswith(before):
            raise TrainingError(
                "The chat template changes earlier messages, so the model's own text cannot be identified.",
                hint="Use a tokenizer whose template only appends.",
            )
        given = tokenizer.encode(before[len(text) :], add_special_tokens=False)
        written = tokenizer.encode(after[len(before) :], add_special_tokens=False)
        tokens += given + written
        labels += [IGNORED] * len(given) + written
        text = after
    return LabelledTokens(tokens[:max_length], labels[:max_length])


def rendered(
    tokenizer: ChatTokenizer, messages: Sequence[dict[str, Any]], tools: object, *, is_open: bool = False
) -> str:
    """Return messages as text; `is_open` adds the start of an answer. Raises TrainingError."""
    if not tokenizer.chat_template:
        raise TrainingError("The tokenizer has no chat template.", hint="Use the tokenizer of a chat model.")
    return cast(
        "str",
        tokenizer.apply_chat_template(
            list(messages), tools=tools or None, tokenize=False, add_generation_prompt=is_open
        ),
    )


def template_messages(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return exported messages as chat templates expect them, with the arguments of calls as objects."""
    return [_with_objects(message) for message in messages]


def _with_objects(message: dict[str, Any]) -> dict[str, Any]:
    calls = cast("list[dict[str, Any]]", message.get("tool_calls") or [])
    if not calls:
        return message
    return {**message, "tool_calls": [{**call, "function": _function(call["function"])} for call in calls]}


def _function(function: dict[str, Any]) -> dict[str, Any]:
    try:
        return {**function, "arguments": msgspec.json.decode(function["arguments"] or "{}")}
    except (msgspec.DecodeError, TypeError):
        return function
