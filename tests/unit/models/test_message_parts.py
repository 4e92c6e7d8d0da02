"""The parts of an answer, in order."""

from __future__ import annotations

from hermes_acp.core.messages import AssistantMessage, Thought, ToolCall
from hermes_acp.models.formats.block_encoder import ordered_pieces

ONE, TWO = ToolCall("1", "t", "{}"), ToolCall("2", "t", "{}")


def test_thoughts_precede_what_they_led_to() -> None:
    first, second = Thought("a", "s", "v"), Thought("b", "s", "v", after_calls=1)
    last = Thought("c", "s", "v", after_calls=2)
    message = AssistantMessage("so", (first, second, last), (ONE, TWO))
    # Thoughts after the last call produced no output, and vendors reject them there.
    assert list(ordered_pieces(message, "v")) == [first, "so", ONE, second, TWO]


def test_thoughts_from_another_vendor_and_blank_text_are_omitted() -> None:
    anybodys = Thought("d")
    message = AssistantMessage(" \n", (Thought("a", "s", "other"), anybodys), (ONE,))
    assert list(ordered_pieces(message, "v")) == [anybodys, ONE]
    assert list(ordered_pieces(AssistantMessage("so", (anybodys,)), "v")) == [anybodys, "so"]
