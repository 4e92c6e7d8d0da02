"""Format a question: the call, the reason, the full text to be approved, and diffs up to a certain length."""

import re
from collections.abc import Sequence
from difflib import unified_diff
from typing import Any, Final, cast

from msgspec import Struct

from hermes_acp.core.untrusted_text import plain
from hermes_acp.core.visible_text import escape_invisible, visible_lines
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.conversations.question_book import AskedOption
from hermes_acp.frontends.gateway.delivery.text_splitting import split_text
from hermes_acp.frontends.gateway.port.platform_port import Limits
from hermes_protocol import v1

MAX_DIFF_LINES: Final = 80
MAX_DETAIL_MESSAGES: Final = 4
YES, NO, ALWAYS = "yes", "no", "always"
_STYLED: Final = re.compile(r"[*_`~<>&\[\]!#\\|]")
"""Characters that Markdown may interpret as formatting; they are escaped in titles."""


class QuestionText(Struct, frozen=True):
    """The parts of a permission question.

    `details` are messages to send before it. If `is_whole` is False, the text to be approved is not shown completely.
    """

    title: str
    reason: str
    details: tuple[str, ...]
    is_whole: bool


def question_text(
    request: v1.RequestPermissionRequest, limits: Limits, clean: Any, web_page: str
) -> QuestionText:
    """Format a permission request."""
    own = _own(request.tool_call.meta)
    title = plain(clean(request.tool_call.title or request.tool_call.tool_call_id), 300)
    reason = plain(clean(str(own.get("reason", ""))), 500)
    text = clean(str(own.get("approvalText", "")))
    content = request.tool_call.content if isinstance(request.tool_call.content, list) else []
    diffs = [_diff_text(part, web_page) for part in content if isinstance(part, v1.Diff)]
    shown = [_fenced(clean(diff), "diff") for diff in diffs]
    if text and not diffs and (plain(text, 300) not in title or _STYLED.search(text)):
        shown.insert(0, _fenced(text, ""))
    details = [message for each in shown for message in split_text(each, limits)]
    is_whole = len(details) <= MAX_DETAIL_MESSAGES or bool(diffs)
    return QuestionText(title, reason, tuple(details[:MAX_DETAIL_MESSAGES]), is_whole)


def options_of(request: v1.RequestPermissionRequest, *, lasts: bool, is_whole: bool) -> list[AskedOption]:
    """Return the answers to offer: lasting ones only if `lasts`, permissions only if the text `is_whole`."""
    found: dict[str, AskedOption] = {}
    kinds = {"allow_once": (YES, True), "reject_once": (NO, False)}
    if lasts:
        kinds["allow_always"] = (ALWAYS, True)
    for option in request.options:
        word, is_yes = kinds.get(option.kind, ("", False))
        if word and word not in found and (is_whole or not is_yes):
            label = {YES: messages.ALLOW, NO: messages.REFUSE}.get(word) or plain(option.name, 100)
            found[word] = AskedOption(option.option_id, word, label, is_yes)
    return [found[word] for word in (YES, ALWAYS, NO) if word in found]


def choices_of(schema: v1.ElicitationSchema) -> tuple[str, Sequence[str], str]:
    """Return the fields of a form: the one with choices, its choices, and the one for free text.

    For a form with other fields, all are empty.
    """
    properties = schema.properties if isinstance(schema.properties, dict) else {}
    choice_field, values, text_field = "", cast("Sequence[str]", ()), ""
    for name, field in properties.items():
        if not isinstance(field, v1.StringPropertySchema):
            return "", (), ""
        if isinstance(field.enum, list):
            choice_field, values = name, field.enum
        else:
            text_field = name
    return (choice_field, values, text_field) if len(properties) <= 2 else ("", (), "")


def _diff_text(diff: v1.Diff, web_page: str) -> str:
    old = diff.old_text if isinstance(diff.old_text, str) else ""
    path = escape_invisible(diff.path)
    lines = list(unified_diff(old.splitlines(), diff.new_text.splitlines(), path, path, n=2, lineterm=""))
    if len(lines) > MAX_DIFF_LINES:
        lines[MAX_DIFF_LINES:] = [messages.diff_cut(len(lines) - MAX_DIFF_LINES, web_page)]
    return visible_lines("\n".join(lines))


def _fenced(text: str, language: str) -> str:
    """Format a string as a code block that its content cannot close."""
    mark = "```"
    while mark in text:
        mark += "`"
    return f"{mark}{language}\n{text}\n{mark}"


def _own(meta: object) -> dict[str, object]:
    said = cast("dict[str, object]", meta).get("hermes") if isinstance(meta, dict) else None
    return cast("dict[str, object]", said) if isinstance(said, dict) else {}
