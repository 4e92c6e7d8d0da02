"""Copy a person's own hooks for Claude Code and Codex to their settings for this agent.

They are shown first and copied once rather than read in place: other programs change those files, and these hooks run
without a sandbox. Blocks.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import Struct
from pydantic import ValidationError

from hermes_acp.config.environment import Environment
from hermes_acp.config.sections.claude_hooks import foreign_hooks
from hermes_acp.config.sections.hook_settings import HookSettings
from hermes_acp.config.settings_text import read_text
from hermes_acp.config.yaml_text import with_value
from hermes_acp.core.errors import ConfigError

AGENTS: Final = ("claude", "codex")
FOLDERS: Final = MappingProxyType(
    {"claude": ("CLAUDE_CONFIG_DIR", ".claude"), "codex": ("CODEX_HOME", ".codex")}
)
"""The variable that names an agent's folder, and the folder in the user's home directory that is the default."""
FILES: Final[Mapping[str, Sequence[tuple[str, str]]]] = MappingProxyType(
    {
        "claude": (("settings.json", "claude"),),
        "codex": (("hooks.json", "codex"), ("config.toml", "codex-config")),
    }
)
"""An agent's files that contain hooks, with the prefix for the names of the hooks in each."""
UNREADABLE: Final = "{file} cannot be read as {kind}."


class FoundHook(Struct, frozen=True):
    """A hook of another agent.

    `fault` says why it cannot be used here; `is_known` means that the settings already contain it.
    """

    name: str
    file: str
    settings: HookSettings | None
    fault: str = ""
    is_known: bool = False

    @property
    def is_new(self) -> bool:
        """Whether the hook can be added."""
        return self.settings is not None and not self.is_known


def find_hooks(
    environment: Environment, known: Mapping[str, HookSettings], agents: Sequence[str] = AGENTS
) -> list[FoundHook]:
    """Return the hooks in other agents' files; `known` are those in the settings. Raises ConfigError."""
    names = set(known)
    found: list[FoundHook] = []
    for agent in agents:
        folder = _folder(environment, agent)
        for file, prefix in FILES[agent]:
            for each in _hooks_in(folder / file, prefix):
                is_known = each.settings is not None and any(
                    _means_the_same(each.settings, own) for own in known.values()
                )
                name = each.name if is_known else _free_name(each.name, names)
                names.add(name)
                found.append(FoundHook(name, each.file, each.settings, each.fault, is_known))
    return found


def with_hooks(text: str, hooks: Sequence[FoundHook]) -> str:
    """Return the text of a settings file with hooks added; comments and everything else are kept."""
    for hook in hooks:
        if hook.settings is None:
            continue
        written = hook.settings
        text = with_value(text, ("hooks", hook.name, "event"), written.event)
        text = with_value(text, ("hooks", hook.name, "command"), written.command)
        if written.tools:
            text = with_value(text, ("hooks", hook.name, "tools"), list(written.tools))
        text = with_value(text, ("hooks", hook.name, "timeout_s"), written.timeout_s)
        text = with_value(text, ("hooks", hook.name, "format"), written.format)
    return text


def _folder(environment: Environment, agent: str) -> Path:
    variable, usual = FOLDERS[agent]
    variables = environment.variables
    home = variables.get("HOME") or str(environment.private_folder.parent)
    return Path(variables.get(variable) or Path(home, usual))


def _hooks_in(file: Path, prefix: str) -> Iterator[FoundHook]:
    text = read_text(file)
    if not text.strip():
        return
    is_toml = file.suffix == ".toml"
    try:
        content: Any = tomllib.loads(text) if is_toml else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if is_toml else "JSON"
        raise ConfigError(UNREADABLE.format(file=file, kind=kind), hint="Repair it first.") from error
    hooks = cast("dict[str, Any]", content).get("hooks") if isinstance(content, dict) else None
    for each in foreign_hooks(prefix, hooks):
        if each.fault:
            yield FoundHook(each.name, str(file), None, each.fault)
            continue
        try:
            yield FoundHook(each.name, str(file), HookSettings.model_validate(each.settings))
        except ValidationError as error:
            mistakes = error.errors(include_input=False)[:3]
            yield FoundHook(each.name, str(file), None, "; ".join(str(each["msg"]) for each in mistakes))


def _means_the_same(one: HookSettings, other: HookSettings) -> bool:
    return (one.event, one.command, one.tools) == (other.event, other.command, other.tools)


def _free_name(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free
