"""Repair arguments that are almost valid JSON.

A repair may change the notation but never the content: the end of a string is never guessed, every string of the text
is in the result unchanged, everything else is preserved character by character, and the object must be complete.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, cast

import msgspec

JsonShape = Literal["whole", "cut_off", "unclear"]

MAX_CHARS: Final = 200_000
MAX_DEPTH: Final = 64
_CLOSERS: Final = "}]"
_OPENING = re.compile(r"\s*(?:```\w*\s*)?")
_CLOSING = re.compile(r"\s*(?:```)?\s*")
_STRUCTURE = re.compile(r"[\s{}\[\],:\"'\\]+")
_BARE_QUOTE = re.compile(r'(?<!\\)"')


def repair_json(text: str) -> dict[str, object] | None:
    """Return the only object that a malformed text can mean, or None if it is ambiguous."""
    if len(text) > MAX_CHARS:
        return None
    if text.lstrip().startswith('"'):
        return _unwrapped(text)
    shape, core = json_shape(text)
    if shape != "whole":
        return None
    plain = _read_leniently(core) or _mend(core)
    return plain if plain is not None and _can_be_written(plain) else None


def _unwrapped(text: str) -> dict[str, object] | None:
    """Parse an object that was encoded twice, as a JSON string."""
    try:
        plain = json.loads(json.loads(text), parse_constant=_refuse)
    except (ValueError, TypeError, RecursionError):
        return None
    is_object = isinstance(plain, dict) and _can_be_written(cast("dict[str, object]", plain))
    return cast("dict[str, object]", plain) if is_object else None


def json_shape(text: str) -> tuple[JsonShape, str]:
    """Return whether a string contains one object from its first brace to its last, and that object's text.

    `unclear` means that this cannot be decided: words around the object, a quote that may or may not end a string, or
    mismatched brackets.
    """
    start = text.find("{")
    if start < 0 or not _OPENING.fullmatch(text, 0, start):
        return "unclear", ""
    open_brackets: list[str] = []
    at, before = start, "{"
    while at < len(text):
        letter = text[at]
        if letter in "\"'":
            after = _end_of_string(text, at)
            if after is None:
                return "cut_off", ""
            if before not in "{[,:" or not _ends_a_value(text, after):
                return "unclear", ""
            at, before = after, letter
            continue
        if letter in "{[":
            open_brackets.append("}" if letter == "{" else "]")
            if len(open_brackets) > MAX_DEPTH:
                return "unclear", ""
        elif letter in _CLOSERS:
            if open_brackets.pop() != letter:
                return "unclear", ""
            if not open_brackets:
                return ("whole" if _CLOSING.fullmatch(text, at + 1) else "unclear"), text[start : at + 1]
        before = before if letter.isspace() else letter
        at += 1
    return "cut_off", ""


def has_lone_surrogate(text: str) -> bool:
    """Return whether a string is valid JSON except for a lone surrogate."""
    try:
        msgspec.json.encode(json.loads(text))
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def _end_of_string(text: str, start: int) -> int | None:
    """Return the position after the quote that matches the one at `start`, or None if there is none."""
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == text[start]:
            return at + 1
        at += 1
    return None


def _ends_a_value(text: str, at: int) -> bool:
    rest = text[at : at + 1000].lstrip()
    return not rest or rest[0] in ",:}]"


def _read_leniently(core: str) -> dict[str, object] | None:
    """Parse JSON whose strings contain unescaped line breaks and tabs."""
    try:
        plain = json.loads(core, strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", plain) if isinstance(plain, dict) else None


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _mend(core: str) -> dict[str, object] | None:
    from json_repair import loads

    try:
        plain = loads(core, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    if not isinstance(plain, dict):
        return None
    written = [json.dumps(plain, ensure_ascii=ascii_only) for ascii_only in (False, True)]
    if _content(core) not in map(_content, written):
        return None
    try:
        quoted, kept = Counter(_strings(core)), Counter(_strings(written[0]))
    except ValueError:
        return None
    was_kept = quoted <= kept and Counter(_string_values(plain)) <= quoted
    return cast("dict[str, object]", plain) if was_kept else None


def _string_values(plain: object) -> Iterator[str]:
    """Yield every string value, because only names may be unquoted."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict):
        for value in cast("dict[str, object]", plain).values():
            yield from _string_values(value)
    elif isinstance(plain, list):
        for value in cast("list[object]", plain):
            yield from _string_values(value)


def _content(text: str) -> str:
    """Return a text without its structural characters and with Python constants replaced by JSON's."""
    return _STRUCTURE.sub("", text).lower().replace("none", "null")


def _strings(text: str) -> Iterator[str]:
    """Yield the value of each quoted string. Raises ValueError for an unreadable one."""
    at = 0
    while at < len(text):
        end = _end_of_string(text, at) if text[at] in "\"'" else None
        if end is None:
            at += 1
            continue
        inner = text[at + 1 : end - 1]
        if text[at] == "'":
            inner = _BARE_QUOTE.sub(r"\"", inner.replace("\\'", "'"))
        yield str(json.loads(f'"{inner}"', strict=False))
        at = end


def _can_be_written(plain: dict[str, object]) -> bool:
    """Return whether all strings can be encoded, because a lone surrogate cannot be recorded."""
    try:
        msgspec.json.encode(plain)
    except (UnicodeEncodeError, RecursionError):
        return False
    return True
