"""Find the commands that the settings of this user's editors start."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.setup.editor_files import (
    COMMAND,
    JSON_ENTRIES,
    Machine,
    acpx_file,
    jetbrains_file,
    plan_changes,
    vscode_file,
    zed_file,
)
from hermes_acp.frontends.cli.setup.jsonc_text import member

JSON_FILES: Final[Mapping[str, Callable[[Machine], Path]]] = MappingProxyType(
    {"acpx": acpx_file, "jetbrains": jetbrains_file, "vscode": vscode_file, "zed": zed_file}
)
OWN_FILES: Final = ("emacs", "jupyter", "marimo", "neovim", "toad")
"""Editors for which `setup` writes files of its own."""
EXTENSION_SETTING: Final = ("hermes.server.command",)
"""The setting of our own VS Code extension."""
QUOTED: Final = re.compile(r'"((?:[^"\\\n]|\\.)*hermes-acp)"')


class EditorCommand(Struct, frozen=True):
    """The command in one file of an editor."""

    editor: str
    file: Path
    command: str


def editor_commands(machine: Machine) -> Iterator[EditorCommand]:
    """Yield the command in each settings file. Raises BadRequest for an unreadable file. Blocks."""
    for editor, file_of in JSON_FILES.items():
        yield from _in_json(editor, file_of(machine), (*JSON_ENTRIES[editor], "command"))
    yield from _in_json("vscode", vscode_file(machine), EXTENSION_SETTING)
    for editor in OWN_FILES:
        for change in plan_changes(editor, machine):
            if change.before is not None and f'"{machine.command}"' in change.after.replace("\\", ""):
                for command in QUOTED.findall(change.before):
                    yield EditorCommand(editor, change.path, command.replace('\\"', '"'))


def _in_json(editor: str, file: Path, names: tuple[str, ...]) -> Iterator[EditorCommand]:
    try:
        command = member(file.read_text(encoding="utf-8"), names)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise BadRequest(f"{file}: {error}.") from error
    if isinstance(command, str) and command and Path(command).name == COMMAND:
        yield EditorCommand(editor, file, command)
