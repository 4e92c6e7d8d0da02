"""Encode the JSON that hooks read, and provide an example for each event."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, cast

import msgspec

from hermes_acp.hooks.claude_format import claude_request
from hermes_acp.hooks.hook_definitions import CallSubject, Hook

if TYPE_CHECKING:
    from hermes_acp.config.sections.hook_settings import HookEvent

VERSION: Final = 1
"""The version of the JSON format. Fields may be added; none is removed or changed."""
EXAMPLE_ID: Final = "example"


def encode_request(hook: Hook, session_id: str, cwd: str, facts: Mapping[str, object]) -> bytes:
    """Return the JSON that describes an event to a hook, in the hook's format."""
    if hook.format == "claude":
        return msgspec.json.encode(claude_request(hook.event, session_id, cwd, facts))
    common = {
        "version": VERSION,
        "event": hook.event,
        "hook": hook.name,
        "session_id": session_id,
        "cwd": cwd,
    }
    return msgspec.json.encode({**common, **facts})


def mask_facts(facts: Mapping[str, object], clean: Callable[[str], str]) -> dict[str, object]:
    """Mask secrets in all texts among the facts, except in paths, which hooks need unchanged."""
    return {name: value if name == "paths" else _masked(value, clean) for name, value in facts.items()}


def _masked(value: object, clean: Callable[[str], str]) -> object:
    match value:
        case str():
            return clean(value)
        case dict():
            entries = cast("dict[str, object]", value)
            return {name: _masked(each, clean) for name, each in entries.items()}
        case list():
            return [_masked(each, clean) for each in cast("list[object]", value)]
        case _:
            return value


def example_facts(event: "HookEvent", subject: CallSubject) -> Mapping[str, object]:
    """Return the facts for an example; for an event about a call, `subject` is that call."""
    turn: dict[str, object] = {"turn_id": EXAMPLE_ID, "mode": "ask"}
    call: dict[str, object] = {
        "call_id": EXAMPLE_ID,
        "tool_name": subject.tool,
        "tool_kind": subject.kind,
        "tool_input": {"path": subject.paths[0]} if subject.paths else {},
        "paths": subject.paths,
        "is_child_agent": False,
    }
    match event:
        case "session_start":
            return turn | {"source": "new"}
        case "prompt":
            return turn | {"prompt": "This is an example."}
        case "before_tool":
            return turn | call
        case "after_tool":
            return turn | call | {"status": "completed", "output": "Done.", "exit_code": None}
        case "turn_end":
            return turn | {"reason": "done", "message": "", "answer": "This is an example."}
        case "question":
            return turn | {"title": "This is an example.", "tool_name": subject.tool}
