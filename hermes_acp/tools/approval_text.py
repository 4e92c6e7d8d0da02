"""The full text that the user approves: a call's command, script or arguments, with nothing hidden in it.

Every character that could deceive a reader (control, direction, zero-width and look-alike characters) is written as an
escape; line breaks and tabs stay.
"""

import json
from textwrap import indent
from typing import Final, cast

from hermes_acp.core.events import CallProposed
from hermes_acp.core.visible_text import visible_lines

MAIN_ARGUMENTS: Final = ("command", "code")
"""The arguments that are the text itself, which are shown first and without their names."""
INDENT: Final = "  "


def approval_text(call: CallProposed) -> str:
    """Return the text that a call will run or use, or "" if its diffs show everything or it has no arguments."""
    given = call.raw_input
    if call.diffs or not isinstance(given, dict):
        return ""
    arguments = cast("dict[str, object]", given)
    main = [name for name in MAIN_ARGUMENTS if isinstance(arguments.get(name), str)][:1]
    parts = [str(arguments[name]) for name in main]
    parts += [_named(name, value) for name, value in arguments.items() if name not in main]
    return "\n".join(visible_lines(part) for part in parts)


def _named(name: str, value: object) -> str:
    written = _written(value)
    return f"{name}:\n{indent(written, INDENT)}" if "\n" in written else f"{name}: {written}"


def _written(value: object) -> str:
    """Format a value for people; its lines are indented so that they cannot be mistaken for another value."""
    match value:
        case str():
            return value
        case dict():
            members = cast("dict[str, object]", value)
            return "\n".join(_named(name, each) for name, each in members.items()) or "{}"
        case list():
            items = [_written(each) for each in cast("list[object]", value)]
            return "\n".join(f"- {indent(item, INDENT).lstrip(' ')}" for item in items) or "[]"
        case _:
            return json.dumps(value, ensure_ascii=False)
