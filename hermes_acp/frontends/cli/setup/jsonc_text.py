"""Change single members of a hand-written JSON file with comments, leaving everything else untouched.

Editors' settings are JSON with comments and trailing commas. The result is parsed again, so that it is returned only if
it has exactly the requested content.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, cast

from msgspec import Struct

from hermes_acp.frontends.cli.messages import editor_messages

SPACE: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
SCALAR: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
REST_OF_LINE: Final = re.compile(r"[ \t]*(?://[^\n]*|(?:/\*[^\n]*?\*/[ \t]*)+)?(?=\r?\n)")
MAX_DEPTH: Final = 100


class _Member(Struct, frozen=True):
    """A member of an object: its name, where the name starts, and its value."""

    name: str
    begin: int
    value: "_Node"


class _Node(Struct, frozen=True):
    """A value, where it starts and ends, and the members of an object."""

    value: Any
    begin: int
    end: int
    members: tuple[_Member, ...] = ()
    has_trailing_comma: bool = False


def read_jsonc(text: str) -> Any:
    """Parse a document; an empty one is an empty object. Raises ValueError, naming the line."""
    return _parse(text).value if _is_written(text) else {}


def with_member(text: str, path: Sequence[str], value: object) -> str:
    """Set the value at a path of names. Comments, order and layout of everything else stay unchanged.

    Raises ValueError if the text is invalid, or the path leads through a value that is not an object.
    """
    before = text if _is_written(text) else f"{text}{{}}\n"
    root = _parse(before)
    wanted = _changed(root.value, path, value)
    if wanted == root.value and _is_written(text):
        return text
    edited = _edited(before, root, list(path), value)
    if _parse(edited).value != wanted:
        raise ValueError(editor_messages.NOT_ALONE)
    return edited


def member(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path of names, or None."""
    found = read_jsonc(text)
    for name in path:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found


def _is_written(text: str) -> bool:
    found = SPACE.match(text.removeprefix("\ufeff"))
    return found is not None and found.end() < len(text.removeprefix("\ufeff"))


def _changed(content: object, path: Sequence[str], value: object) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError(editor_messages.not_an_object(path[0]))
    after = dict(cast("dict[str, Any]", content))
    after[path[0]] = _changed(after.get(path[0], {}), path[1:], value) if path[1:] else value
    return after


def _edited(text: str, node: _Node, path: list[str], value: object) -> str:
    """Replace the value at the end of the path, or add the missing members."""
    found = next((each for each in reversed(node.members) if each.name == path[0]), None)
    if found is None:
        for name in reversed(path[1:]):
            value = {name: value}
        return _with_new(text, node, path[0], value)
    if path[1:]:
        return _edited(text, found.value, path[1:], value)
    margin = _margin(text, found.begin)
    return text[: found.value.begin] + _written(value, margin, _step(text)) + text[found.value.end :]


def _with_new(text: str, node: _Node, name: str, value: object) -> str:
    """Add a member at the end of an object."""
    step, newline = _step(text), "\r\n" if "\r\n" in text else "\n"
    if not node.members:
        outer = _margin(text, node.begin)
        entry = f"{json.dumps(name)}: {_written(value, outer + step, step)}"
        inside = text[node.begin + 1 : node.end - 1].rstrip()
        return f"{text[: node.begin + 1]}{inside}{newline}{outer}{step}{entry}{newline}{outer}}}{text[node.end :]}"
    last = node.members[-1]
    is_one_line = "\n" not in text[node.begin : node.end]
    margin = _margin(text, last.begin)
    entry = f"{json.dumps(name)}: {_written(value, margin, step)}"
    behind = last.value.end
    if is_one_line:
        comma = text.index(",", behind) + 1 if node.has_trailing_comma else behind
        return f"{text[:comma]}{' ' if node.has_trailing_comma else ', '}{entry}{text[comma:]}"
    if node.has_trailing_comma:
        at = _comma_end(text, behind)
        head = text[:at]
    else:
        at, head = behind, f"{text[:behind]},"
    rest = REST_OF_LINE.match(text, at)
    remark = rest[0] if rest else ""
    comma = "," if node.has_trailing_comma else ""
    return f"{head}{remark}{newline}{margin}{entry}{comma}{text[at + len(remark) :]}"


def _comma_end(text: str, position: int) -> int:
    return _skip(text, position) + 1


def _margin(text: str, position: int) -> str:
    """Return the indentation of the line at a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip())]


def _step(text: str) -> str:
    """Return one level of indentation in the style of the file."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return "\t" if found and "\t" in found[1] else found[1] if found and len(found[1]) <= 8 else "  "


def _written(value: object, margin: str, step: str) -> str:
    """Format a value; all lines after the first are indented by `margin`."""
    written = json.dumps(value, indent=step, ensure_ascii=False)
    return written.replace("\n", f"\n{margin}")


def _parse(text: str) -> _Node:
    begin = 1 if text.startswith("\ufeff") else 0
    node = _value(text, _skip(text, begin), 0)
    if _skip(text, node.end) != len(text):
        raise _error(text, _skip(text, node.end))
    return node


def _skip(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position


def _value(text: str, position: int, depth: int) -> _Node:
    opening = text[position : position + 1]
    if opening and opening in "{[" and depth < MAX_DEPTH:
        return _collection(text, position, depth, is_object=opening == "{")
    found = SCALAR.match(text, position)
    if found is None:
        raise _error(text, position)
    try:
        return _Node(json.loads(found[0]), position, found.end())
    except ValueError:
        raise _error(text, position) from None


def _collection(text: str, position: int, depth: int, *, is_object: bool) -> _Node:
    """Parse an object or an array, which may end with a comma."""
    begin, closing = position, "}" if is_object else "]"
    members: list[_Member] = []
    items: list[Any] = []
    has_comma = True
    position = _skip(text, position + 1)
    while text[position : position + 1] != closing:
        if not has_comma:
            raise _error(text, position)
        name, start = "", position
        if is_object:
            named = _value(text, position, MAX_DEPTH)
            position = _skip(text, named.end)
            if not isinstance(named.value, str) or text[position : position + 1] != ":":
                raise _error(text, position)
            name, position = named.value, _skip(text, position + 1)
        node = _value(text, position, depth + 1)
        members.append(_Member(name, start, node))
        items.append(node.value)
        position = _skip(text, node.end)
        has_comma = text[position : position + 1] == ","
        position = _skip(text, position + 1) if has_comma else position
    content = {each.name: each.value.value for each in members} if is_object else items
    return _Node(
        content, begin, position + 1, tuple(members) if is_object else (), has_comma and bool(members)
    )


def _error(text: str, position: int) -> ValueError:
    return ValueError(editor_messages.not_json(text.count("\n", 0, position) + 1))
