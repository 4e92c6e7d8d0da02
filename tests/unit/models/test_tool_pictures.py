"""Images in outcomes, in each wire format, and what a model without vision is sent."""

import json
from typing import Any

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    ModelRequest,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from hermes_acp.core.record.sent_history import UNSEEN, SentHistory
from hermes_acp.models.formats.message_parts import ATTACHED
from hermes_acp.models.providers import anthropic, bedrock, gemini, openai_compatible, openai_responses

PICTURE = ImagePart("image/png", "aGk=")
CALLS = (ToolCall("c1", "read_file", "{}"), ToolCall("c2", "read_file", "{}"))
HISTORY: tuple[Message, ...] = (
    UserMessage((TextPart("Look."),)),
    AssistantMessage(tool_calls=CALLS),
    ToolMessage("c1", "read_file", "a picture", parts=(PICTURE,)),
    ToolMessage("c2", "read_file", "words"),
)


def test_images_from_outcomes_follow_after_all_outcomes() -> None:
    def sent(*messages: Message) -> list[Any]:
        return json.loads(
            openai_compatible.encode_request(ModelRequest("m", (), messages), "h", frozenset())
        )["messages"]

    history = sent(*HISTORY, AssistantMessage("Seen."))
    assert [message["role"] for message in history] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
    ]
    assert history[4]["content"][0] == {"type": "text", "text": ATTACHED}
    assert history[4]["content"][1]["image_url"]["url"].endswith("aGk=")
    assert sent(*HISTORY) == history[:5]
    assert sent(*HISTORY[:2]) == history[:2]


def test_a_model_without_vision_is_told_what_is_omitted() -> None:
    history, sent = (UserMessage((PICTURE,)), *HISTORY[1:]), SentHistory()
    assert sent.messages(history)[2] == HISTORY[2]
    shown = sent.messages(history, sees=False)
    assert shown[0] == UserMessage((PICTURE,))
    assert shown[2] == ToolMessage("c1", "read_file", f"a picture\n{UNSEEN}")
    assert shown[3] == HISTORY[3]


def encoded(vendor: str) -> Any:
    request = ModelRequest("m", ("Be brief.",), HISTORY)
    match vendor:
        case "anthropic":
            body = anthropic.encode_request(request)
        case "bedrock":
            body = bedrock.encode_request(request)
        case "gemini":
            body = gemini.encode_request(request)
        case "openai_responses":
            body = openai_responses.encode_request(request)
        case _:
            body = openai_compatible.encode_request(request, "h", frozenset())
    return json.loads(body)


def test_each_format_places_images_differently() -> None:
    answered = encoded("anthropic")["messages"][-1]["content"]
    assert [block["type"] for block in answered] == ["tool_result", "tool_result"]
    assert [block["type"] for block in answered[0]["content"]] == ["text", "image"]
    assert answered[1]["content"] == "words"
    answered = encoded("bedrock")["messages"][-1]["content"]
    assert [list(block) for block in answered[0]["toolResult"]["content"]] == [["text"], ["image"]]
    answered = encoded("gemini")["contents"][-1]["parts"]
    assert [next(iter(part)) for part in answered] == ["functionResponse", "functionResponse", "inlineData"]
    answered = encoded("openai_responses")["input"][-2:]
    assert [part["type"] for part in answered[0]["output"]] == ["input_text", "input_image"]
    assert answered[1]["output"] == "words"
    answered = encoded("openai_compatible")["messages"][-3:]
    assert [message["role"] for message in answered] == ["tool", "tool", "user"]
    assert [part["type"] for part in answered[2]["content"]] == ["text", "image_url"]
