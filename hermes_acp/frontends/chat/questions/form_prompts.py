"""Ask the person to fill in the agent's forms or open its links.

Answers are not stored.
"""

import re
from typing import Any, Final

from msgspec import Struct
from rich.text import Text

from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize, sanitize_line
from hermes_acp.frontends.chat.rendering.transcript_layout import TranscriptLayout
from hermes_acp.frontends.chat.screens.screen import Choice, Gesture, Screen
from hermes_protocol import v1

SECRET: Final = re.compile(
    r"pass(word|phrase|code)|secret|token|api.?key|private.?key|\bpin\b", re.IGNORECASE
)
NUMBERED: Final = re.compile(r"\s*,\s*|\s+")
CHOICE_FIELD, WORDS_FIELD = "choice", "answer"
"""The fields of the agent's own questions: one with choices, and one for any other answer."""
Answer = v1.CreateElicitationResponse
Property = v1.ElicitationPropertySchema


class FormPrompter:
    """Asks one form at a time."""

    def __init__(self, screen: Screen, layout: TranscriptLayout) -> None:
        self._screen = screen
        self._layout = layout

    async def put(self, request: v1.CreateElicitationRequest) -> Answer:
        """Ask the person about a form or a link; closing it cancels the request."""
        asked = Text("? ", style="bold yellow").append(sanitize(request.message), style="bold")
        await self._screen.write(self._layout.drawing(asked))
        match request:
            case v1.CreateElicitationRequestForm(requested_schema=schema):
                return await self._form(schema)
            case v1.CreateElicitationRequestUrl(url=url):
                return await self._page(url)
            case _:
                return v1.CreateElicitationResponseCancel()

    async def _page(self, url: str) -> Answer:
        await self._write(Text(f"  {sanitize_line(url)}", style="underline"))
        key = await self._screen.read_key(f"  {messages.OPEN_LINK} ", (Choice("y"), Choice("n")))
        if isinstance(key, Gesture):
            return v1.CreateElicitationResponseCancel()
        return v1.CreateElicitationResponseAccept() if key == "y" else v1.CreateElicitationResponseDecline()

    async def _form(self, schema: v1.ElicitationSchema) -> Answer:
        required = set(schema.required or ())
        content: dict[str, Any] = {}
        for number, (name, field) in enumerate((schema.properties or {}).items()):
            if name in content:
                continue
            takes_words = name == CHOICE_FIELD and tuple(schema.properties or ()) == (
                CHOICE_FIELD,
                WORDS_FIELD,
            )
            value = await self._field(
                name, field, is_required=name in required, is_expected=number > 0, takes_words=takes_words
            )
            if isinstance(value, Gesture):
                return v1.CreateElicitationResponseCancel()
            if isinstance(value, _Words):
                content[WORDS_FIELD] = value.text
            elif value is not None:
                content[name] = value
        return v1.CreateElicitationResponseAccept(content=content)

    async def _field(
        self, name: str, field: Property, *, is_required: bool, is_expected: bool, takes_words: bool
    ) -> Any:
        """Ask for the value of a field until it is valid; return None if the field is skipped.

        With `takes_words`, a line that is not one of the choices is the answer to the next field.
        """
        choices = choices_of(field)
        title = sanitize_line(_title(name, field))
        if takes_words:
            title = f"{title}, {messages.OR_OWN_WORDS}"
        for number, (_, shown) in enumerate(choices, 1):
            await self._write(Text(f"  {number} ", style="bold").append(sanitize_line(shown)))
        may_skip = "" if is_required else f" {messages.OPTIONAL_FIELD}"
        while True:
            line = await self._screen.read_line(
                f"  {title}{may_skip}:", is_secret=is_secret(name, field), is_expected=is_expected
            )
            if isinstance(line, Gesture):
                return line
            if not line.strip() and not is_required:
                return None
            value = read(field, choices, line)
            if value is not None:
                return value
            if takes_words and not line.strip().isdecimal():
                return _Words(line.strip())
            await self._write(Text(f"  {_expected(field, choices)}", style="yellow"))
            is_expected = True

    async def _write(self, part: Text) -> None:
        await self._screen.write(self._layout.continuation(part))


class _Words(Struct, frozen=True):
    """A free-text answer: a line that is not one of the choices."""

    text: str


def is_secret(name: str, field: Property) -> bool:
    """Return whether to hide the input: the field is marked as secret, or its name suggests it."""
    if isinstance(field, v1.StringPropertySchema) and field.meta and field.meta.get("secret"):
        return True
    return isinstance(field, v1.StringPropertySchema) and bool(SECRET.search(f"{name} {_title(name, field)}"))


def choices_of(field: Property) -> list[tuple[str, str]]:
    """List the choices of a field as pairs of value and title."""
    match field:
        case v1.StringPropertySchema(one_of=list(options)):
            return [(option.const, option.title) for option in options]
        case v1.StringPropertySchema(enum=list(values)):
            return [(value, value) for value in values]
        case v1.MultiSelectPropertySchema(items=v1.TitledMultiSelectItems(any_of=options)):
            return [(option.const, option.title) for option in options]
        case v1.MultiSelectPropertySchema(items=v1.StringMultiSelectItems(enum=values)):
            return [(value, value) for value in values]
        case _:
            return []


def read(field: Property, choices: list[tuple[str, str]], line: str) -> Any:
    """Parse the typed line as a value of the field; return None if it is invalid."""
    text = line.strip()
    match field:
        case v1.BooleanPropertySchema():
            return {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}.get(
                text.lower()
            )
        case v1.IntegerPropertySchema():
            return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else None
        case v1.NumberPropertySchema():
            return float(text) if re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", text) else None
        case v1.MultiSelectPropertySchema():
            picked = [_pick(choices, part) for part in NUMBERED.split(text) if part]
            return None if None in picked else picked
        case _:
            return _pick(choices, text) if choices else (text or None)


def _pick(choices: list[tuple[str, str]], text: str) -> str | None:
    if text.isdecimal() and 1 <= int(text) <= len(choices):
        return choices[int(text) - 1][0]
    return next((value for value, name in choices if text in (value, name)), None)


def _title(name: str, field: Property) -> str:
    title = getattr(field, "title", None)
    return title if isinstance(title, str) and title else name


def _expected(field: Property, choices: list[tuple[str, str]]) -> str:
    match field:
        case v1.BooleanPropertySchema():
            return messages.WANT_YES_OR_NO
        case v1.IntegerPropertySchema():
            return messages.WANT_INTEGER
        case v1.NumberPropertySchema():
            return messages.WANT_NUMBER
        case v1.MultiSelectPropertySchema():
            return messages.want_choices(len(choices))
        case _:
            return messages.want_choice(len(choices)) if choices else messages.WANT_TEXT
