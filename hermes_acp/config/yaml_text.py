"""Change individual values in a hand-written YAML file and leave everything else untouched.

The result is parsed again: a text that does not say exactly what was requested is never returned.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node

YamlScalar = str | bool | int | float
YamlValue = YamlScalar | list[str]
BAD_START: Final = "found character that cannot start any token"
TAB_HINT: Final = " (a tab? YAML is indented with spaces)"
MERGE: Final = "<<"
STEP: Final = 2
"""The indentation of a new mapping."""


def yaml_fault(error: Exception) -> str:
    """Describe the error in a text that is not valid YAML, with its position."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or not problem:
        return " ".join(str(error).split())
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    return f"{place}: {problem}{TAB_HINT if problem == BAD_START else ''}"


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line, counted from 1, of the setting at a path, or of the innermost part of the path that exists.

    Raises yaml.YAMLError for invalid YAML.
    """
    import yaml

    node, line = yaml.compose(text, Loader=yaml.SafeLoader), 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == str(part)), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def repeated_keys(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each key that occurs twice in a mapping, with the lines (from 1) of the overridden and the effective entry.

    Raises yaml.YAMLError for invalid YAML.
    """
    import yaml

    nodes = [yaml.compose(text, Loader=yaml.SafeLoader)]
    seen: set[int] = set()
    while nodes:
        node = nodes.pop()
        if not isinstance(node, yaml.CollectionNode) or id(node) in seen:
            continue
        seen.add(id(node))  # an alias is the same node object as its anchor
        if isinstance(node, yaml.SequenceNode):
            nodes += reversed(node.value)
            continue
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode) and key.value != MERGE:
                if key.value in lines:
                    yield key.value, lines[key.value], line
                lines[key.value] = line
            nodes.append(value)


def with_value(text: str, path: tuple[str, ...], value: YamlValue | None) -> str:
    """Return a document with `value` at a path of keys; None removes the key.

    Comments, order and layout are kept; if that is impossible, the document is rewritten. Raises yaml.YAMLError for
    invalid YAML, and ValueError for a document that is not a mapping.
    """
    import yaml

    before = yaml.safe_load(text)
    if before is not None and not isinstance(before, dict):
        raise ValueError("The document is not a mapping.")
    wanted = _changed(cast("dict[str, Any]", before or {}), path, value)
    if wanted == (before or {}):
        return text
    edited = _edited(text, path, value)
    try:
        is_right = yaml.safe_load(edited) == (wanted or None)
    except yaml.YAMLError:
        is_right = False
    return edited if is_right else yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)


def _changed(document: Mapping[str, Any], path: tuple[str, ...], value: YamlValue | None) -> dict[str, Any]:
    """Return the document's new content; a mapping that loses its last entry is removed as well."""
    key, *rest = path
    after = dict(document)
    found = after.get(key)
    inner = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if rest and (inner or value is not None):
        after[key] = _changed(inner, tuple(rest), value)
        if not after[key]:
            del after[key]
    elif value is not None:
        after[key] = value
    elif not rest:
        after.pop(key, None)
    return after


def _edited(text: str, path: tuple[str, ...], value: YamlValue | None) -> str:
    """Change the text at the end of the path, or at the deepest part of the path that exists."""
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is None:
        return _ended(text) + _entry(path, "" if value is None else value, 0)
    going: tuple[Node, Node] | None = None
    for depth, key in enumerate(path):
        if not isinstance(node, yaml.MappingNode):
            return text
        found = next((pair for pair in node.value if pair[0].value == key), None)
        if found is None:
            return text if value is None else _with_entry(text, node, path[depth:], value)
        going = going if going and len(node.value) == 1 else found
        node = found[1]
        if value is not None and isinstance(node, yaml.ScalarNode):
            return _with_scalar(text, found, path[depth + 1 :], value)
    return _without(text, going) if going and value is None else text


def _without(text: str, pair: "tuple[Node, Node]") -> str:
    """Remove the lines of an entry."""
    begin = text.rfind("\n", 0, pair[0].start_mark.index) + 1
    end = text.find("\n", _last_end(pair[1]))
    return text[:begin] + (text[end + 1 :] if end >= 0 else "")


def _with_scalar(text: str, pair: "tuple[Node, Node]", rest: tuple[str, ...], value: YamlValue) -> str:
    """Replace a scalar with a value, or with a mapping if keys remain."""
    key, old = pair
    begin, end = old.start_mark.index, old.end_mark.index
    if not rest:
        return f"{text[:begin]}{'' if text[begin - 1 : begin].isspace() else ' '}{_inline(value)}{text[end:]}"
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    inner = _entry(rest, value, key.start_mark.column + STEP)
    return f"{text[:begin].rstrip(' ')}{text[end:line_end]}\n{inner}{text[line_end + 1 :]}"


def _with_entry(text: str, node: "MappingNode", path: tuple[str, ...], value: YamlValue) -> str:
    """Append an entry to a mapping."""
    if node.flow_style or not node.value:
        at = node.end_mark.index - 1
        head = text[:at].rstrip()
        comma = ", " if node.value and not head.endswith(",") else ""
        inner = _inline(value)
        for key in reversed(path[1:]):
            inner = f"{{{_inline(key)}: {inner}}}"
        return f"{head}{comma}{_inline(path[0])}: {inner}{text[at:]}"
    last = _last_end(node)
    line_end = text.find("\n", last)
    behind = len(text) if line_end < 0 else line_end + 1
    return f"{_ended(text[:behind])}{_entry(path, value, node.start_mark.column)}{text[behind:]}"


def _last_end(node: "Node") -> int:
    """Return where the last value in a node ends; the node itself includes trailing comments and blank lines."""
    import yaml

    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    return (
        max(node.start_mark.index, node.end_mark.index - 1)
        if node.end_mark.column == 0
        else node.end_mark.index
    )


def _entry(path: tuple[str, ...], value: YamlValue, column: int) -> str:
    lines = [f"{' ' * (column + STEP * depth)}{_inline(key)}:" for depth, key in enumerate(path)]
    return "\n".join(lines) + f" {_inline(value)}\n"


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _inline(value: YamlValue) -> str:
    """Format a value on one line."""
    import yaml

    written = yaml.safe_dump(value, allow_unicode=True, width=float("inf"), default_flow_style=True)
    return written.removesuffix("\n").removesuffix("\n...")
