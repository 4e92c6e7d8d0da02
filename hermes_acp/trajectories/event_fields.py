"""Convert the event fields that have no standard field in a trajectory to plain data, and back."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import Event

NAMESPACE: Final = "hermes_acp"
"""The key of our own fields in the `extra` of a trajectory."""
MAPPING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "session_opened": "extra",
        "roots_changed": "extra",
        "instructions_given": "extra",
        "prompt_frozen": "system step",
        "tools_offered": "agent.tool_definitions",
        "mode_changed": "extra",
        "options_changed": "extra",
        "title_changed": "extra",
        "archive_changed": "extra",
        "turn_started": "extra",
        "user_said": "user step",
        "note_added": "system step",
        "text_said": "agent step, pieces joined",
        "thought_said": "reasoning_content, pieces joined",
        "command_answered": "extra",
        "commands_changed": "not recorded",
        "step_ended": "agent step",
        "step_failed": "extra",
        "compaction_started": "extra",
        "summary_said": "dropped: repeated in history_compacted",
        "history_compacted": "system step",
        "compaction_failed": "extra",
        "call_proposed": "extra",
        "permission_asked": "extra",
        "permission_answered": "extra, without standing answers",
        "grants_revoked": "dropped: standing answers are for one machine",
        "call_started": "extra",
        "call_progressed": "dropped: repeated in call_ended",
        "sources_read": "extra",
        "call_ended": "observation",
        "edit_drafted": "not recorded",
        "edits_judged": "extra",
        "plan_changed": "extra",
        "usage_changed": "extra",
        "child_changed": "subagent_trajectory_ref",
        "child_reported": "not recorded",
        "session_imported": "dropped: the origin of the record",
        "noticed": "extra",
        "turn_ended": "extra",
    }
)
"""The destination of each event type. "extra" means in the step that it follows, with all its fields."""


def tag_of(event: Event) -> str:
    """Return the name of an event's type."""
    return str(type(event).__struct_config__.tag)


def fields_of(event: Event, without: Collection[str] = ()) -> dict[str, Any]:
    """Return an event's type and its fields, except for defaults and the fields in `without`."""
    shown: dict[str, Any] = {"type": tag_of(event)}
    names, defaults = type(event).__struct_fields__, type(event).__struct_defaults__
    required = len(names) - len(defaults)
    for place, name in enumerate(names):
        value = getattr(event, name)
        if name not in without and (place < required or value != defaults[place - required]):
            shown[name] = value if isinstance(value, str | int | None) else msgspec.to_builtins(value)
    return shown


def event_from(fields: dict[str, Any]) -> Event:
    """Return the event with the given fields. Raises BadRequest."""
    try:
        return msgspec.convert(fields, Event)
    except msgspec.ValidationError as error:
        kind = str(fields.get("type"))[:40]
        raise BadRequest(f"An event of type {kind!r} cannot be read: {error}.") from error
