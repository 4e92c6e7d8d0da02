"""The JSON that hooks read, with an example for each event."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from hermes_acp.hooks.hook_definitions import CallSubject, Hook

if TYPE_CHECKING:
    from hermes_acp.config.sections.hook_settings import HookEvent

VERSION: Final = 1
"""The version of the JSON. Fields may be added to it; none is removed or changed."""
EXAMPLE_ID: Final = "example"


def encode_request(hook: Hook, session_id: str, cwd: str, facts: Mapping[str, object]) -> bytes:
    """Return what a hook reads about an event."""
    common = {
        "version": VERSION,
        "event": hook.event,
        "hook": hook.name,
        "session_id": session_id,
        "cwd": cwd,
    }
    return msgspec.json.encode({**common, **facts})


def example_facts(event: "HookEvent", subject: CallSubject) -> Mapping[str, object]:
    """Return the facts of an example; `subject` is the call of an event about one."""
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
