"""Find a passage in a file and replace it."""

import re
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.telemetry.secret_masks import foreign_mask
from hermes_acp.tools.editing.text_similarity import MAX_TEXT_CHARS, describe_nearest, find_similar

MAX_LINES: Final = 20


class Replacement(Struct, frozen=True):
    """The text to find and its replacement, with either kind of line ending."""

    old: str
    new: str
    every: bool = False


class Replaced(Struct, frozen=True):
    """The text with a passage replaced; `note` says how the passage was found if it did not match verbatim."""

    text: str
    note: str = ""


def replace(text: str, wanted: Replacement, newline: str) -> Replaced:
    """Return the text with the passage replaced; all other bytes are preserved, including mixed line endings.

    The search ignores differences in line endings; the new text gets `newline`. A passage without a verbatim match is
    found if exactly one place differs only in spaces or in the style of quotes and dashes. Raises WorkspaceError if
    the passage is missing, or occurs several times and `every` is not set.
    """
    if "\r" not in text or "\r\n" not in text:
        return _replace_plain(text, wanted)
    plain = text.replace("\r\n", "\n")
    if text.count("\n") == text.count("\r\n"):
        done = _replace_plain(plain, wanted)
        return Replaced(done.text.replace("\n", "\r\n"), done.note) if newline == "\r\n" else done
    old, new = _unix(wanted.old), _unix(wanted.new).replace("\n", newline)
    _check(plain, old, plain.count(old), every=wanted.every)
    pattern = re.compile(re.escape(old).replace("\\\n", "\r?\n"))
    return Replaced(pattern.sub(lambda _: new, text))


def _replace_plain(text: str, wanted: Replacement) -> Replaced:
    """Replace in a string whose line endings are all single characters."""
    old, new = _unix(wanted.old), _unix(wanted.new)
    around = text.split(old)
    if len(around) == 1 and not wanted.every and (alike := find_similar(text, old, new)):
        return Replaced(text[: alike.start] + alike.new + text[alike.end :], alike.note)
    _check(text, old, len(around) - 1, every=wanted.every)
    return Replaced(new.join(around))


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _check(plain: str, old: str, count: int, *, every: bool) -> None:
    """Raise WorkspaceError unless the passage may be replaced, given its number of occurrences."""
    if count == 1 or (count and every):
        return
    if count:
        lines = ", ".join(str(line) for line in _lines_of(plain, old))
        more = f" and {count - MAX_LINES} more" if count > MAX_LINES else ""
        raise WorkspaceError(
            f"old_text occurs {count} times in the file, at lines {lines}{more}.",
            hint="Include more of the surrounding text, or set replace_all.",
        )
    if mask := foreign_mask(old, plain):
        raise WorkspaceError(
            f"old_text contains {mask}, which is not in the file: it masks a secret.",
            hint="Use the text before or after it, without the secret.",
        )
    hint = "The file is too big to search for similar text." if len(plain) > MAX_TEXT_CHARS else ""
    raise WorkspaceError("old_text is not in the file.", hint=hint or describe_nearest(plain, old))


def _lines_of(plain: str, old: str) -> list[int]:
    """Return the lines of the first occurrences, counted from 1."""
    lines: list[int] = []
    line, done, start = 1, 0, plain.find(old)
    while start >= 0 and len(lines) < MAX_LINES:
        line += plain.count("\n", done, start)
        lines.append(line)
        done, start = start, plain.find(old, start + len(old))
    return lines
