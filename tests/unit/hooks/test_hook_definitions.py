"""Definitions of hooks: the calls they apply to, and which definitions are invalid."""

from typing import Any

import pytest
from pydantic import ValidationError

from hermes_acp.config.sections.hook_settings import HookSettings
from hermes_acp.core.event_types import ToolKind
from hermes_acp.hooks.hook_definitions import CallSubject, Hook

ROOTS = ("/work", "/more")


def hook(**settings: Any) -> Hook:
    return Hook("h", HookSettings.model_validate({"event": "before_tool", "command": "true", **settings}))


@pytest.mark.parametrize(
    ("settings", "tool", "kind", "paths", "applies"),
    [
        ({}, "terminal", "execute", (), True),
        ({"tools": ["edit"]}, "write_file", "edit", (), True),
        ({"tools": ["edit"]}, "terminal", "execute", (), False),
        ({"tools": ["mcp_*", "terminal"]}, "mcp_x_y", "other", (), True),
        ({"paths": ["*.py"]}, "write_file", "edit", ("/work/a/b.py",), True),
        ({"paths": ["src/**"]}, "write_file", "edit", ("/work/src/a",), True),
        ({"paths": ["src/**"]}, "write_file", "edit", ("/more/src/a",), True),
        ({"paths": ["src/**"]}, "write_file", "edit", ("/work/lib/src2/a",), False),
        ({"paths": ["src/**"]}, "write_file", "edit", ("/work/lib/a", "/work/src/b"), True),
        ({"paths": ["*.py"]}, "terminal", "execute", (), False),
        ({"paths": ["*.key"]}, "read_file", "read", ("/etc/x.key",), True),
        ({"tools": ["edit"], "paths": ["*.py"]}, "read_file", "read", ("/work/a.py",), False),
    ],
)
def test_hooks_apply_to_matching_calls(
    settings: dict[str, Any], tool: str, kind: ToolKind, paths: tuple[str, ...], applies: bool
) -> None:
    assert hook(**settings).applies_to(CallSubject(tool, kind, paths), ROOTS) is applies


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": " "},
        {"command": "a\0b"},
        {"command": "x" * 20_000},
        {"timeout_s": 0},
        {"timeout_s": 601},
        {"event": "prompt", "tools": ["edit"]},
        {"event": "turn_end", "required": True},
        {"event": "PreToolUse"},
        {"async": True},
    ],
)
def test_invalid_hooks_are_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        hook(**wrong)
