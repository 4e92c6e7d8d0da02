"""The full text that the user approves: a call's command, script or arguments, with nothing hidden in it.

Every character that could deceive a reader (control, direction, zero-width and look-alike characters) is written as an
escape; line breaks and tabs stay.
"""

import json
import re
from typing import Any, Final, cast

from msgspec import UNSET, UnsetType

from hermes_acp.core.events import CallProposed
from hermes_acp.frontends.acp.questions.permission_options import reason_for
from hermes_acp.tools.safe_display import escape_invisible

MAIN_ARGUMENTS: Final = ("command", "code")
"""Arguments that are themselves the text, shown first and without their names."""
_KEPT: Final = re.compile("([\n\t])")


def approval_text(call: CallProposed) -> str:
    """Return what a call will run or use, or "" if its diffs show everything or it has no arguments."""
    given = call.raw_input
    if call.diffs or not isinstance(given, dict):
        return ""
    arguments = cast("dict[str, object]", given)
    main = [name for name in MAIN_ARGUMENTS if isinstance(arguments.get(name), str)][:1]
    parts = [str(arguments[name]) for name in main]
    parts += [f"{name}: {_written(value)}" for name, value in arguments.items() if name not in main]
    return "\n".join(_visible_lines(part) for part in parts)


def call_meta(call: CallProposed, *, is_asked: bool = False) -> dict[str, Any] | UnsetType:
    """Return the `_meta` of a call's card: its call, its text, and the reason why it `is_asked` about."""
    said: dict[str, str] = {"within": call.within} if call.within else {}
    if (is_asked or call.kind == "execute") and (text := approval_text(call)):
        said["approvalText"] = text
    if is_asked and (reason := reason_for(call)):
        said["reason"] = reason
    return {"hermes": said} if said else UNSET


def _written(value: object) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    return json.dumps(value, ensure_ascii=False)


def _visible_lines(text: str) -> str:
    return "".join(part if part in ("\n", "\t") else escape_invisible(part) for part in _KEPT.split(text))
