"""Parse a SKILL.md: its front matter, its body, and its mistakes.

The standard is agentskills.io/specification; some mistakes in other agents' skills are tolerated.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, cast

from msgspec import Struct

from hermes_acp.core.event_types import Surface

NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
NAME_CHARACTERS: Final = 64
DESCRIPTION_CHARACTERS: Final = 1_024
COMPATIBILITY_CHARACTERS: Final = 500
FENCE: Final = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
PLAIN_LINE: Final = re.compile(r"([A-Za-z][\w-]*):[ \t]*(.*)")

Weight = Literal["error", "warning"]
SURFACES: Final[tuple[Surface, ...]] = ("editor", "terminal", "headless", "chat", "voice")
SURFACE_NAMES: Final[Mapping[str, Surface]] = MappingProxyType(
    {
        **{each: each for each in SURFACES},
        "ide": "editor",
        "cli": "terminal",
        "ci": "headless",
        "messaging": "chat",
    }
)
"""The surfaces, by the names that skills may use for them."""


class DocumentMistake(Struct, frozen=True):
    """A violation of the standard; a skill with an error is not used."""

    weight: Weight
    text: str


class SkillDocument(Struct, frozen=True):
    """The content of a SKILL.md.

    `platforms`, `surfaces`, `requires_tools` and `requires_groups` are conditions for offering the skill; empty means
    no condition. `lines_before` is the number of lines before the body in the file.
    """

    name: str
    description: str
    body: str
    compatibility: str = ""
    metadata: Mapping[str, str] = {}
    platforms: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    hint: str = ""
    lines_before: int = 0
    surfaces: tuple[Surface, ...] = ()
    requires_groups: tuple[str, ...] = ()

    def suits(self, surface: Surface) -> bool:
        """Return whether the skill is meant for sessions that started on the surface.

        An unknown surface suits all skills.
        """
        return not (self.surfaces and surface) or surface in self.surfaces


def read_document(text: str, folder_name: str) -> tuple[SkillDocument | None, tuple[DocumentMistake, ...]]:
    """Parse a skill's text, or return None if it is unusable. `folder_name` is the expected name."""
    text = text.replace("\r\n", "\n")
    found = FENCE.match(text)
    if not found:
        return None, (
            DocumentMistake("error", "It does not begin with front matter between two lines of `---`."),
        )
    fields, mistakes = _fields(found.group(1))
    given = _text(fields.get("name"))
    name = given if _is_name(given) or not _is_name(folder_name) else folder_name
    name = name or folder_name
    description = " ".join(_text(fields.get("description")).split())
    mistakes += _check_name(name, given, folder_name)
    mistakes += _check_length("description", description, DESCRIPTION_CHARACTERS)
    mistakes += _check_length("compatibility", _text(fields.get("compatibility")), COMPATIBILITY_CHARACTERS)
    surfaces, unknown = _surfaces(fields)
    mistakes += unknown
    if not description:
        mistakes.append(DocumentMistake("error", "It has no description that tells an agent when to use it."))
    if any(mistake.weight == "error" for mistake in mistakes):
        return None, tuple(mistakes)
    metadata = fields.get("metadata")
    behind = text[found.end() :].lstrip("\n")
    document = SkillDocument(
        name=name,
        description=description[:DESCRIPTION_CHARACTERS],
        body=behind.rstrip("\n"),
        compatibility=_text(fields.get("compatibility")),
        metadata=_plain_mapping(metadata),
        platforms=tuple(name.lower() for name in _list(_condition(fields, "platforms"))),
        requires_tools=_list(_condition(fields, "requires-tools") or _condition(fields, "requires_tools")),
        requires_groups=_groups(fields),
        surfaces=surfaces,
        hint=_text(fields.get("argument-hint")),
        lines_before=text.count("\n", 0, len(text) - len(behind)),
    )
    return document, tuple(mistakes)


def _fields(front: str) -> tuple[dict[str, Any], list[DocumentMistake]]:
    """Parse the front matter as YAML, or line by line if an unquoted colon breaks it."""
    import yaml

    try:
        read = yaml.load(front, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        lines = (PLAIN_LINE.fullmatch(line.rstrip()) for line in front.splitlines())
        plain = {line.group(1): line.group(2).strip("\"'") for line in lines if line}
        return plain, [
            DocumentMistake(
                "warning", "Its front matter is not YAML; it was read line by line. Quote its values."
            )
        ]
    if not isinstance(read, dict):
        return {}, [DocumentMistake("error", "Its front matter contains no `name: value` lines.")]
    return {str(key): value for key, value in cast("dict[object, Any]", read).items()}, []


def _is_name(text: str) -> bool:
    return len(text) <= NAME_CHARACTERS and NAME.fullmatch(text) is not None


def _check_name(name: str, given: str, folder_name: str) -> list[DocumentMistake]:
    """Check the skill's effective name, and `given`, the name in its file (empty if there is none)."""
    told = f"must be at most {NAME_CHARACTERS} characters: a-z, 0-9 and single hyphens in between"
    if not _is_name(name):
        return [DocumentMistake("error", f"Its name {name[:80]!r} {told}.")]
    if given and given != name:
        return [
            DocumentMistake("warning", f"Its name {given[:80]!r} {told}; its folder's name, {name}, is used.")
        ]
    if not given:
        return [DocumentMistake("warning", f"It has no name; its folder's name, {folder_name}, is used.")]
    if name != folder_name:
        return [DocumentMistake("warning", f"Its name is {name}, but its folder is called {folder_name}.")]
    return []


def _check_length(what: str, text: str, most: int) -> list[DocumentMistake]:
    if len(text) <= most:
        return []
    return [
        DocumentMistake("warning", f"Its {what} has {len(text):,} characters; at most {most:,} are allowed.")
    ]


def _condition(fields: Mapping[str, Any], name: str) -> object:
    """Return a condition from the top level or from the metadata."""
    metadata = fields.get("metadata")
    inner = cast("dict[str, object]", metadata) if isinstance(metadata, dict) else {}
    return fields.get(name, inner.get(name))


def _surfaces(fields: Mapping[str, Any]) -> tuple[tuple[Surface, ...], list[DocumentMistake]]:
    """Return the surfaces that a skill is meant for, and a mistake for each unknown one."""
    names = [name.lower() for name in _list(_condition(fields, "surfaces"))]
    known: dict[str, Surface] = {name: SURFACE_NAMES[name] for name in names if name in SURFACE_NAMES}
    mistakes = [
        DocumentMistake("error", f"Its surface {name[:40]!r} is unknown. Use {', '.join(SURFACES)}.")
        for name in names
        if name not in known
    ]
    return tuple(dict.fromkeys(known.values())), mistakes


def _groups(fields: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("requires-groups", "requires_groups", "requires-toolsets", "requires_toolsets")
    return _list(next((found for key in keys if (found := _condition(fields, key))), None))


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, dict | list) else str(value).strip()


def _list(value: object) -> tuple[str, ...]:
    """Parse a list, or words separated by commas or spaces outside of brackets."""
    if isinstance(value, list):
        return tuple(str(each).strip() for each in cast("list[object]", value) if str(each).strip())
    return tuple(re.findall(r"[^\s,(]+(?:\([^)]*\))?", _text(value)))


def _plain_mapping(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(key): _text(each) for key, each in cast("dict[object, object]", value).items() if _text(each)}
