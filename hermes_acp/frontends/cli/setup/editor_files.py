"""Plan the files that make each editor start hermes-acp.

In an editor's own settings, one entry is changed; files that only hermes-acp uses are written completely. The templates
equal the files in `editor-clients`; a test compares them.
"""

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from hermes_acp.config.installation import stable_command
from hermes_acp.core.errors import BadRequest, ConfigError
from hermes_acp.frontends.cli.messages import editor_messages
from hermes_acp.frontends.cli.setup.jsonc_text import member, with_member

TEMPLATES: Final = Path(__file__).parent / "templates"
COMMAND: Final = "hermes-acp"
SCRIPT_MODE: Final = 0o755
JSON_ENTRIES: Final = MappingProxyType(
    {
        "acpx": ("agents", "hermes"),
        "jetbrains": ("agent_servers", "Hermes"),
        "vscode": ("acp.agents", "Hermes"),
        "zed": ("agent_servers", "Hermes"),
    }
)
"""The path of the entry for hermes-acp in the JSON settings of each editor that has such a file."""


class Machine(Struct, frozen=True):
    """The folders of a user's settings, and the command that starts hermes-acp."""

    home: Path
    config: Path
    command: str
    platform: str = sys.platform


class FileChange(Struct, frozen=True):
    """A file with its current text (None if it does not exist), and its text after the change."""

    path: Path
    before: str | None
    after: str
    mode: int | None = None

    @property
    def is_needed(self) -> bool:
        """Whether the text changes."""
        return self.before != self.after


Plan = Callable[[Machine], list[FileChange]]


def this_machine(variables: Mapping[str, str]) -> Machine:
    """Return the folders of this user and the full path of the command. Raises ConfigError if HOME is not set."""
    home = variables.get("HOME", "")
    if not home.startswith("/"):
        raise ConfigError(editor_messages.NO_HOME)
    config = variables.get("XDG_CONFIG_HOME", "")
    found = shutil.which(COMMAND, path=variables.get("PATH")) or str(stable_command() or COMMAND)
    return Machine(Path(home), Path(config) if config.startswith("/") else Path(home, ".config"), found)


def plan_changes(editor: str, machine: Machine) -> list[FileChange]:
    """Return the files of an editor, whether or not they change. Raises BadRequest for an unreadable file."""
    return PLANS[editor](machine)


def _read(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(editor_messages.unreadable(str(path), str(error))) from error


def _in_json(path: Path, names: tuple[str, ...], entry: Mapping[str, Any]) -> FileChange:
    """Plan adding an entry to a JSON file; in an existing entry, only the command is changed."""
    before = _read(path)
    text = before or ""
    try:
        if isinstance(member(text, names), dict):
            after = with_member(text, (*names, "command"), entry["command"])
        else:
            after = with_member(text, names, dict(entry))
    except ValueError as error:
        raise BadRequest(editor_messages.unreadable(str(path), str(error))) from error
    return FileChange(path, before, after)


def _own(path: Path, template: str, machine: Machine, mode: int | None = None) -> FileChange:
    """Plan a file that only hermes-acp uses, with the full path of the command."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    quoted = machine.command.replace("\\", "\\\\").replace('"', '\\"')
    return FileChange(path, _read(path), text.replace(f'"{COMMAND}"', f'"{quoted}"'), mode)


def acpx_file(machine: Machine) -> Path:
    """Return the path of acpx's settings."""
    return machine.home / ".acpx" / "config.json"


def jetbrains_file(machine: Machine) -> Path:
    """Return the path of the file with the agents of JetBrains' editors."""
    return machine.home / ".jetbrains" / "acp.json"


def vscode_file(machine: Machine) -> Path:
    """Return the path of VS Code's user settings."""
    folder = machine.config
    if machine.platform == "darwin":
        folder = machine.home / "Library" / "Application Support"
    return folder / "Code" / "User" / "settings.json"


def zed_file(machine: Machine) -> Path:
    """Return the path of Zed's settings."""
    return machine.config / "zed" / "settings.json"


def _acpx(machine: Machine) -> list[FileChange]:
    return [_in_json(acpx_file(machine), JSON_ENTRIES["acpx"], {"command": machine.command})]


def _jetbrains(machine: Machine) -> list[FileChange]:
    entry: dict[str, Any] = {"command": machine.command, "args": [], "env": {}}
    return [_in_json(jetbrains_file(machine), JSON_ENTRIES["jetbrains"], entry)]


def _zed(machine: Machine) -> list[FileChange]:
    entry: dict[str, Any] = {"type": "custom", "command": machine.command, "args": [], "env": {}}
    return [_in_json(zed_file(machine), JSON_ENTRIES["zed"], entry)]


def _vscode(machine: Machine) -> list[FileChange]:
    entry: dict[str, Any] = {"command": machine.command, "args": [], "env": {}}
    change = _in_json(vscode_file(machine), JSON_ENTRIES["vscode"], entry)
    if member(change.after, ("acp.autoApprovePermissions",)) is None:
        after = with_member(change.after, ("acp.autoApprovePermissions",), "ask")
        change = FileChange(change.path, change.before, after)
    return [change]


def _emacs(machine: Machine) -> list[FileChange]:
    folder = machine.home / ".emacs.d"
    if not folder.is_dir() and (machine.config / "emacs").is_dir():
        folder = machine.config / "emacs"
    init = machine.home / ".emacs"
    init = init if init.is_file() else folder / "init.el"
    own = _own(folder / "hermes.el", "hermes.el", machine)
    before = _read(init)
    text = before or ""
    if "hermes-agent-shell" not in text:
        text += "" if not text or text.endswith("\n") else "\n"
        text += f'(autoload \'hermes-agent-shell "{own.path}" "{editor_messages.EMACS_COMMAND}" t)\n'
    return [own, FileChange(init, before, text)]


def _neovim(machine: Machine) -> list[FileChange]:
    return [_own(machine.config / "nvim" / "after" / "plugin" / "hermes-acp.lua", "hermes-acp.lua", machine)]


def _jupyter(machine: Machine) -> list[FileChange]:
    folder = machine.home / ".jupyter" / "personas"
    return [
        _own(folder / "hermes_persona.py", "hermes_persona.py.txt", machine),
        _own(folder / "icon.svg", "icon.svg", machine),
    ]


def _marimo(machine: Machine) -> list[FileChange]:
    return [_own(machine.home / ".local/bin/hermes-acp-marimo", "marimo.sh", machine, SCRIPT_MODE)]


def _toad(machine: Machine) -> list[FileChange]:
    return [_own(machine.home / ".local/bin/hermes-acp-toad", "toad.sh", machine, SCRIPT_MODE)]


PLANS: Final[Mapping[str, Plan]] = MappingProxyType(
    {
        "acpx": _acpx,
        "emacs": _emacs,
        "jetbrains": _jetbrains,
        "jupyter": _jupyter,
        "marimo": _marimo,
        "neovim": _neovim,
        "toad": _toad,
        "vscode": _vscode,
        "zed": _zed,
    }
)
