"""Whether the workspace has a say in which program runs behind a name.

Knows: programs that stand in for one of many versions: shims, and `go`, which fetches another `go` that a module asks
for. Does not know: what any program does. Sources: asdf, "Versions" (`path:`); mise, "Shims"; Go, "Go Toolchains".
"""

import os
import re
from typing import Final

from hermes_acp.policy.shell.contents import read_small
from hermes_acp.policy.shell.places import Surroundings, guard_in, is_inside, program_at
from hermes_acp.policy.shell.tables import tables

LARGEST_BYTES: Final = 1 << 20
MODULE_FILES: Final = ("go.work", "go.mod")
ASKED_FOR: Final = re.compile(r"(?:go|toolchain)[ \t](.*)")
PLAIN_VERSION: Final = re.compile(r"(?:go)?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")
FIRST_THAT_SWITCHES: Final = (1, 21, 0)

Version = tuple[int, int, int]


def choice_of(program: str, cwds: tuple[str, ...], around: Surroundings) -> str:
    """Say which file of the workspace chooses what a program's name stands for; empty where none does."""
    path = next((found for cwd in cwds if (found := program_at(program, cwd, around))), "")
    folder = os.path.dirname(path)
    for end, names in tables().shims.items():
        guard = guard_in(names, cwds) if folder.endswith(f"/{end}") else ""
        if guard and is_inside(guard, around):
            return f"{guard} can choose another {program}"
    return _other_go(path, cwds) if program == "go" else ""


def _other_go(path: str, cwds: tuple[str, ...]) -> str:
    """Say which module asks for a newer `go` than the one there is, so that it would be fetched and run."""
    own = _version_of(path) if path else None
    if own and own < FIRST_THAT_SWITCHES:
        return ""
    for file in (guard_in((name,), cwds) for name in MODULE_FILES):
        content = read_small(file, LARGEST_BYTES) if file else b""
        if content is None:
            return f"{file} cannot be looked through"
        for line in content.decode("utf-8", "replace").split("\n"):
            asked = ASKED_FOR.match(line.partition("//")[0].strip())
            text = asked[1].strip() if asked else "default"
            version = _read_version(text)
            if text != "default" and (own is None or version is None or version > own):
                return f"{file} asks for go {text[:40]}, which go may fetch and run"
    return ""


def _version_of(path: str) -> Version | None:
    """Give the version of the `go` at a path, which stands in a file beside its folder; None where none is told."""
    root = os.path.dirname(os.path.dirname(os.path.realpath(path)))
    text = (read_small(os.path.join(root, "VERSION"), LARGEST_BYTES) or b"").decode("utf-8", "replace")
    return _read_version(text.partition("\n")[0].strip())


def _read_version(text: str) -> Version | None:
    found = PLAIN_VERSION.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None
