"""Convert hooks from the files of Claude Code and Codex to our own hook settings.

Their format lists commands by event, with a pattern for tool names. Codex uses the same format in `hooks.json` and in
tables of its `config.toml`; it has a single tool that edits files, `apply_patch`, with the aliases `Edit` and `Write`.
Sources: the hooks references of Claude Code and Codex.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import Struct

from hermes_acp.config.sections.hook_settings import MAX_TIMEOUT_S, TOOL_EVENTS, HookEvent

HOOK_FILES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".claude/settings.json": "claude",
        ".codex/hooks.json": "codex",
        ".codex/config.toml": "codex-config",
    }
)
"""Project files that may contain hooks, with the prefix for the names of the hooks in each."""
EVENT_NAMES: Final[Mapping[HookEvent, str]] = MappingProxyType(
    {
        "session_start": "SessionStart",
        "prompt": "UserPromptSubmit",
        "before_tool": "PreToolUse",
        "after_tool": "PostToolUse",
        "turn_end": "Stop",
        "question": "Notification",
    }
)
TOOL_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "terminal": "Bash",
        "edit_file": "Edit",
        "write_file": "Write",
        "read_file": "Read",
        "search": "Grep",
        "glob": "Glob",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
        "notebook_edit": "NotebookEdit",
        "delegate": "Task",
        "apply_patch": "apply_patch",
    }
)
"""The names of our tools in these formats. Tools of MCP servers have the same names in both."""
DEFAULT_TIMEOUT_S: Final = 60
CODEX_TIMEOUT_S: Final = 600
CODEX: Final = "codex"
"""The start of the prefixes for Codex's files."""
CODEX_EDITS: Final = frozenset({"apply_patch", "Edit", "Write"})
EDIT_TOOLS: Final = ("apply_patch", "edit_file", "write_file")
_ALIASES: Final = MappingProxyType({"MultiEdit": "edit_file", "Agent": "delegate", "shell": "terminal"})
_EVENTS: Final[Mapping[str, HookEvent]] = MappingProxyType(
    {name: event for event, name in EVENT_NAMES.items()}
)
_OURS: Final = MappingProxyType({name: tool for tool, name in TOOL_NAMES.items()} | _ALIASES)
_SERVER_TOOL: Final = re.compile(r"mcp__[\w-]*(?:\.\*)?")
_PROJECT: Final = re.compile(r"""(["']?)(?:\$CLAUDE_PROJECT_DIR\b|\$\{CLAUDE_PROJECT_DIR\})\1""")
"""Matches references to the project's folder, where hooks run anyway, so that the scripts in a command are found."""
_ALL: Final = ("", "*", ".*")


class ForeignHook(Struct, frozen=True):
    """A hook converted to our settings, or the reason why it cannot be converted."""

    name: str
    settings: dict[str, object]
    fault: str = ""


def foreign_hooks(prefix: str, hooks: object) -> Iterator[ForeignHook]:
    """Yield the hooks in a file's `hooks` section; each is named by the prefix, its event and its number."""
    events = cast("dict[str, Any]", hooks) if isinstance(hooks, dict) else {}
    for name, groups in events.items():
        event, number = _EVENTS.get(name), 0
        for group in _objects(groups):
            for hook in _objects(group.get("hooks")):
                number += 1
                label = f"{prefix}-{re.sub(r'[^A-Za-z0-9]', '', name)[:30]}-{number}"
                if event is None:
                    yield ForeignHook(label, {}, f"there is no counterpart to the event {name[:40]}")
                else:
                    yield _understood(
                        label, event, str(group.get("matcher") or ""), hook, is_codex=prefix.startswith(CODEX)
                    )


def _understood(
    name: str, event: HookEvent, matcher: str, hook: dict[str, Any], *, is_codex: bool
) -> ForeignHook:
    if hook.get("type", "command") != "command" or not isinstance(hook.get("command"), str):
        return ForeignHook(name, {}, "it does not run a command")
    timeout = hook.get("timeout", CODEX_TIMEOUT_S if is_codex else DEFAULT_TIMEOUT_S)
    command = _PROJECT.sub(".", hook["command"])
    settings: dict[str, object] = {"event": event, "command": command, "format": "claude"}
    settings["timeout_s"] = min(timeout, MAX_TIMEOUT_S) if isinstance(timeout, int | float) else timeout
    if matcher in _ALL or event not in TOOL_EVENTS:
        return ForeignHook(name, settings)
    names = [each.strip().strip("^$()") for each in matcher.strip("^$()").split("|")]
    patterns = [_tool_patterns(each, is_codex=is_codex) for each in names]
    if not all(patterns):
        return ForeignHook(name, {}, f"there is no counterpart to the tool {matcher[:80]}")
    tools = dict.fromkeys(pattern for found in patterns for pattern in found)
    return ForeignHook(name, {**settings, "tools": list(tools)})


def _tool_patterns(name: str, *, is_codex: bool) -> tuple[str, ...]:
    """Return our patterns for a tool name, or none if it has no counterpart."""
    if _SERVER_TOOL.fullmatch(name):
        is_open = name.endswith((".*", "__"))
        return (name.removesuffix(".*") + "*" if is_open else name,)
    if is_codex and name in CODEX_EDITS:
        return EDIT_TOOLS
    return (_OURS[name],) if name in _OURS else ()


def _objects(value: object) -> list[dict[str, Any]]:
    rows = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", each) for each in rows if isinstance(each, dict)]
