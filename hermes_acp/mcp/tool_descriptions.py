"""Decide which parts of a tool's description and schema a model may read.

Every word in a schema reaches the model: parameter names, allowed values, defaults and examples as well as
descriptions. Descriptions are cleaned; a name or value that contains an attack is removed. Source: JSON Schema 2020-12.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

MAX_SCHEMA_BYTES: Final = 64 * 1024
MAX_WORDS: Final = 4000
MAX_DEPTH: Final = 64
_WORDS: Final = frozenset({"description", "title", "$comment"})
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_BRANCHES: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_PARTS: Final = frozenset(
    {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}
)

Clean = Callable[[str], str]
Record = dict[str, Any]


class ToolDescription(Struct, frozen=True):
    """A tool's description and parameters; `whole` is all of its original text, one piece per line."""

    description: str
    parameters: dict[str, object]
    whole: str

    def cleaned(self, clean: Clean) -> "ToolDescription":
        """Return the description without attempts to instruct the model, or the same object if there are none.

        Blocks.
        """
        description = clean(self.description) if self.description else ""
        parameters = self._cleaned_parameters(clean)
        if description == self.description and parameters is self.parameters:
            return self
        return ToolDescription(description, parameters, self.whole)

    def _cleaned_parameters(self, clean: Clean) -> dict[str, object]:
        if _is_clean(_words_in(self.parameters), clean):
            return self.parameters
        part = _Cleaning(clean)
        parameters = cast("dict[str, object]", part.of(self.parameters))
        if part.has_cut:
            return parameters
        if _is_clean(_sentences_in(self.parameters), clean):
            return self.parameters
        return cast(
            "dict[str, object]", _without_sentences(self.parameters)
        )  # it is an attack only in combination


def describe_tool(description: str, schema: Record) -> ToolDescription | None:
    """Return what a server says about a tool, or None if its parameters are not a JSON Schema of acceptable size."""
    try:
        size_bytes = len(msgspec.json.encode(schema))
        is_sound = schema.get("type", "object") == "object" and _is_schema(schema, 0)
    except (RecursionError, UnicodeEncodeError, msgspec.ValidationError, TypeError):
        return None
    if not is_sound or size_bytes > MAX_SCHEMA_BYTES:
        return None
    words = list(_words_in(schema))
    if len(words) > MAX_WORDS:
        return None
    return ToolDescription(description, cast("dict[str, object]", schema), "\n".join((description, *words)))


def _is_schema(part: object, depth: int) -> bool:
    """Return whether a value has the form of a schema: if one does not, vendors reject all tools in the request."""
    if isinstance(part, bool):
        return depth > 0
    if not isinstance(part, dict) or depth > MAX_DEPTH:
        return False
    schema = cast("Record", part)
    required = schema.get("required", [])
    kinds = schema.get("type", "object")
    if not _are_words(required) or not (isinstance(kinds, str) or _are_words(kinds)):
        return False
    inner: list[object] = []
    for key, value in schema.items():
        if key in _NAMED:
            if not isinstance(value, dict):
                return False
            inner += cast("Record", value).values()
        elif key in _BRANCHES:
            if not isinstance(value, list):
                return False
            inner += cast("list[object]", value)
        elif key in _PARTS:
            inner += cast("list[object]", value) if isinstance(value, list) else [value]
    return all(_is_schema(each, depth + 1) for each in inner)


def _are_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value))


def _is_clean(words: Iterator[str], clean: Clean) -> bool:
    text = "\n".join(words)
    return not text or clean(text) == text


def _words_in(part: object) -> Iterator[str]:
    """Yield every name and every text in a schema, in order."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for key, value in cast("Record", part).items():
            yield key
            yield from _words_in(value)
    elif isinstance(part, list):
        for each in cast("list[object]", part):
            yield from _words_in(each)


def _sentences_in(part: object) -> Iterator[str]:
    """Yield the descriptive texts in a schema."""
    if isinstance(part, dict):
        for key, value in cast("Record", part).items():
            if isinstance(value, str) and key in _WORDS:
                yield value
            else:
                yield from _sentences_in(value)
    elif isinstance(part, list):
        for each in cast("list[object]", part):
            yield from _sentences_in(each)


def _without_sentences(part: object) -> object:
    if isinstance(part, list):
        return [_without_sentences(each) for each in cast("list[object]", part)]
    if not isinstance(part, dict):
        return part
    entries = cast("Record", part).items()
    return {
        key: _without_sentences(value)
        for key, value in entries
        if not (isinstance(value, str) and key in _WORDS)
    }


class _Cleaning:
    """One pass through a schema; `has_cut` is set once anything has been removed."""

    def __init__(self, clean: Clean) -> None:
        self._clean = clean
        self.has_cut = False

    def of(self, part: object) -> object:
        """Return a part of a schema, cleaned."""
        if isinstance(part, list):
            return [self.of(each) for each in cast("list[object]", part) if self._is_allowed(each)]
        if not isinstance(part, dict):
            return part
        kept: Record = {}
        for key, value in cast("Record", part).items():
            if isinstance(value, str) and key in _WORDS:
                kept[key] = self._text(value)
            elif self._is_allowed(key) and self._is_allowed(value):
                kept[key] = self.of(value)
        return kept

    def _text(self, words: str) -> str:
        cleaned = self._clean(words) if words else words
        self.has_cut = self.has_cut or cleaned != words
        return cleaned

    def _is_allowed(self, value: object) -> bool:
        """Return whether a name or value may stay; anything other than text is processed separately."""
        if not isinstance(value, str) or not value or self._clean(value) == value:
            return True
        self.has_cut = True
        return False
