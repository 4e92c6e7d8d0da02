"""Preview an edit from the partial arguments of a call.

A draft is for display only: no decision depends on it, and unreadable parts are left out.
"""

import json
import re
from typing import Final

from msgspec import Struct

WRITES: Final = "write_file"
EDITS: Final = "edit_file"
_HEAD: Final = re.compile(r'\s*(?:,|\{)\s*"(\w+)"\s*:\s*')
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)("?)', re.DOTALL)
_HALF_ESCAPE: Final = re.compile(r"\\u?[0-9a-fA-F]{0,3}$")


class EditDraft(Struct, frozen=True):
    """The file, the text to be replaced (None: all of it), and the new text received so far."""

    path: str
    new_text: str
    old_text: str | None = None
    is_whole: bool = False


def parse_edit_draft(tool: str, arguments: str) -> EditDraft | None:
    """Parse the draft of one edit. Return None for other calls, and while the arguments are too short.

    Calls with several replacements have no draft.
    """
    if tool not in (WRITES, EDITS):
        return None
    texts, open_name = _read_texts(arguments)
    path = texts.get("path", "")
    if not path or open_name == "path":
        return None
    if tool == WRITES:
        return _drafted(path, texts, "content", open_name)
    if "old_text" not in texts or open_name == "old_text" or not texts["old_text"]:
        return None
    return _drafted(path, texts, "new_text", open_name, texts["old_text"])


def _drafted(
    path: str, texts: dict[str, str], name: str, open_name: str, old_text: str | None = None
) -> EditDraft | None:
    if name not in texts:
        return None
    return EditDraft(path, texts[name], old_text, is_whole=open_name != name)


def _read_texts(arguments: str) -> tuple[dict[str, str], str]:
    """Return the string members received so far, and the name of the unfinished one."""
    texts: dict[str, str] = {}
    at = 0
    while head := _HEAD.match(arguments, at):
        said = _STRING.match(arguments, head.end())
        if said is None:
            break
        texts[head[1]] = _plain(said[1], is_open=not said[2])
        if not said[2]:
            return texts, head[1]
        at = said.end()
    return texts, ""


def _plain(written: str, *, is_open: bool) -> str:
    """Decode the inside of a JSON string, dropping an unfinished escape at its end."""
    if is_open:
        written = _without_half(written)
    try:
        return json.loads(f'"{written}"', strict=False)
    except ValueError:
        return ""


def _without_half(written: str) -> str:
    """Drop an incomplete escape, or an unpaired first surrogate, at the end."""
    half = _HALF_ESCAPE.search(written)
    if half and (len(written[: half.start()]) - len(written[: half.start()].rstrip("\\"))) % 2 == 0:
        written = written[: half.start()]
    return re.sub(r"\\u[dD][89abAB][0-9a-fA-F]{2}$", "", written)
