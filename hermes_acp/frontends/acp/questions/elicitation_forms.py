"""Represent questions to the user as flat forms, the same in every protocol version."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from hermes_acp.core.proposals import Question, Reply
from hermes_acp.frontends.acp.messages import conversation

WORDS: Final = "answer"
CHOICE: Final = "choice"


class Field(Struct, frozen=True):
    """A text field or, with `choices`, a selection."""

    name: str
    title: str
    choices: tuple[str, ...] = ()


class Form(Struct, frozen=True):
    """A text with fields and the names of the required ones, or a text with the JSON Schema of an MCP server.

    The server's schema, `foreign`, is flat.
    """

    text: str
    fields: tuple[Field, ...] = ()
    required: tuple[str, ...] = ()
    foreign: dict[str, Any] | None = None


def form_of(question: Question) -> Form:
    """Convert a question to a form: a selection, free text, or both; for a page, its address and "Done"."""
    if question.form is not None:
        return Form(question.text, foreign=question.form)
    if question.url:
        question = Question(f"{question.text}\n\n{question.url}", (conversation.PAGE_DONE,))
    fields: list[Field] = []
    if question.choices:
        fields.append(Field(CHOICE, conversation.FORM_CHOICE, question.choices))
    if question.is_free or not question.choices:
        fields.append(
            Field(WORDS, conversation.FORM_OTHER_ANSWER if question.choices else conversation.FORM_ANSWER)
        )
    required = tuple(field.name for field in fields) if len(fields) == 1 else ()
    return Form(question.text, tuple(fields), required)


def json_schema(form: Form) -> bytes:
    """Return a form as a flat JSON Schema that the schema types of all protocol versions accept."""
    if form.foreign is not None:
        return msgspec.json.encode(form.foreign)
    properties = {
        field.name: {"type": "string", "title": field.title}
        | ({"enum": field.choices} if field.choices else {})
        for field in form.fields
    }
    required = {"required": form.required} if form.required else {}
    return msgspec.json.encode({"type": "object", "properties": properties, **required})


def answer_in(form: Form, content: Mapping[str, object]) -> Reply:
    """Parse the content of an accepted form; empty content counts as dismissed."""
    if form.foreign is not None:
        return Reply("answered", content=dict(content))
    given = [content.get(name) for name in (CHOICE, WORDS)]
    text = "\n".join(each.strip() for each in given if isinstance(each, str) and each.strip())
    return Reply("answered", text) if text else Reply("dismissed")
