"""Encode and parse the JSON that hooks written for Claude Code and Codex exchange.

A hook never allows anything here, so an answer that allows a call counts as plain success. Source: Claude Code's hooks
reference.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from hermes_acp.config.sections.claude_hooks import EVENT_NAMES, TOOL_NAMES

if TYPE_CHECKING:
    from hermes_acp.config.sections.hook_settings import HookEvent

MODES: Final = MappingProxyType(
    {
        "ask": "default",
        "accept_edits": "acceptEdits",
        "plan": "plan",
        "auto": "default",
        "bypass": "bypassPermissions",
    }
)
ARGUMENTS: Final = MappingProxyType({"path": "file_path", "old_text": "old_string", "new_text": "new_string"})
FILE_TOOLS: Final = ("read_file", "write_file", "edit_file")


def claude_request(
    event: "HookEvent", session_id: str, cwd: str, facts: Mapping[str, object]
) -> dict[str, object]:
    """Return the JSON that describes an event. There is no transcript in Claude Code's format, so its path is empty."""
    request: dict[str, object] = {
        "session_id": session_id,
        "transcript_path": "",
        "cwd": cwd,
        "permission_mode": MODES.get(str(facts.get("mode", "")), "default"),
        "hook_event_name": EVENT_NAMES[event],
    }
    match event:
        case "session_start":
            request["source"] = "startup" if facts.get("source") == "new" else "resume"
        case "prompt":
            request["prompt"] = facts.get("prompt", "")
        case "before_tool" | "after_tool":
            tool = str(facts.get("tool_name", ""))
            request["tool_name"] = TOOL_NAMES.get(tool, tool)
            request["tool_input"] = _arguments(tool, facts.get("tool_input"))
            request["tool_use_id"] = facts.get("call_id", "")
            if event == "after_tool":
                request["tool_response"] = {
                    "output": facts.get("output", ""),
                    "success": facts.get("status") == "completed",
                }
        case "turn_end":
            request |= {"stop_hook_active": False, "last_assistant_message": facts.get("answer", "")}
        case "question":
            request["message"] = facts.get("title", "")
    return request


def _arguments(tool: str, written: object) -> object:
    if tool not in FILE_TOOLS or not isinstance(written, dict):
        return written
    return {ARGUMENTS.get(name, name): value for name, value in cast("dict[str, object]", written).items()}


def claude_refusal(said: Mapping[str, Any]) -> str | None:
    """Return the reason in an answer that refuses or objects, or None."""
    details = _details(said)
    if details.get("permissionDecision") == "deny":
        return str(details.get("permissionDecisionReason") or "")
    if said.get("decision") in ("block", "deny"):
        return str(said.get("reason") or "")
    return str(said.get("stopReason") or "") if said.get("continue") is False else None


def claude_context(said: Mapping[str, Any]) -> str:
    """Return what an answer adds to the model's context."""
    return str(_details(said).get("additionalContext") or "")


def _details(said: Mapping[str, Any]) -> dict[str, Any]:
    details = said.get("hookSpecificOutput")
    return cast("dict[str, Any]", details) if isinstance(details, dict) else {}
