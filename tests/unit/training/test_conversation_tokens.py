"""Selection of the tokens of a conversation that a training learns from."""

from typing import Any

import pytest

from hermes_acp.core.errors import TrainingError
from hermes_acp.training.conversation_tokens import IGNORED, labelled_tokens, template_messages


class Characters:
    """A tokenizer whose tokens are characters, with a template like those of models."""

    def __init__(self, template: Any = "x", *, forgets: bool = False) -> None:
        self.chat_template = template
        self.tools: Any = None
        self._forgets = forgets

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        self.tools = options["tools"]
        shown = conversation[-1:] if self._forgets else conversation
        text = "".join(f"<{each['role'][0]}>{each['content']}|" for each in shown)
        return text + ("<a>" if options["add_generation_prompt"] else "")

    def encode(self, text: str, **options: Any) -> list[int]:
        assert options == {"add_special_tokens": False}
        return [ord(letter) for letter in text]


def record(*turns: tuple[str, str]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


def test_only_tokens_written_by_the_model_are_trained_on() -> None:
    given = record(("user", "hi"), ("assistant", "yes"), ("tool", "no"), ("assistant", "ok"), ("user", "bye"))
    found = labelled_tokens(Characters(), given, 1000)
    assert "".join(map(chr, found.input_ids)) == "<u>hi|<a>yes|<t>no|<a>ok|"
    assert "".join(chr(label) for label in found.labels if label != IGNORED) == "yes|ok|"
    assert found.learned == 7


def test_a_conversation_is_truncated() -> None:
    found = labelled_tokens(Characters(), record(("user", "hi"), ("assistant", "yes")), 10)
    assert (len(found.input_ids), found.learned) == (10, 1)


def test_a_template_that_rewrites_earlier_text_is_rejected() -> None:
    given = record(("user", "hi"), ("assistant", "yes"), ("user", "a"), ("assistant", "b"))
    with pytest.raises(TrainingError, match="changes earlier messages"):
        labelled_tokens(Characters(forgets=True), given, 1000)


def test_a_tokenizer_without_a_template_is_rejected() -> None:
    with pytest.raises(TrainingError, match="no chat template"):
        labelled_tokens(Characters(None), record(("user", "hi"), ("assistant", "yes")), 1000)


def test_templates_get_the_arguments_of_calls_as_objects_and_the_tools() -> None:
    def called(arguments: Any) -> list[dict[str, Any]]:
        function = {"name": "read_file", "arguments": arguments}
        return [{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": function}]}]

    assert template_messages(called('{"path": "a"}')) == called({"path": "a"})
    assert template_messages(called("")) == called({})
    assert template_messages(called("{broken")) == called("{broken")
    tokenizer = Characters()
    labelled_tokens(tokenizer, {**record(("assistant", "x")), "tools": [{"type": "function"}]}, 99)
    assert tokenizer.tools == [{"type": "function"}]
