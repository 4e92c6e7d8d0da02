"""Restore the fields of an event that an export left out, from the standard fields of its step."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

from hermes_acp.core.messages import Usage
from hermes_acp.trajectories.atif_document import AtifStep, AtifToolCall, Content
from hermes_acp.trajectories.message_content import parts_of, text_of, tool_call_of


class AnswersByCall:
    """The data about each call in a trajectory: its outcome, its arguments, and its proposed changes."""

    def __init__(self, outcomes: Mapping[str, Content | None]) -> None:
        self._outcomes = outcomes
        self._arguments: dict[str, Any] = {}
        self._diffs: dict[str, Any] = {}

    def know(self, calls: Iterable[AtifToolCall]) -> None:
        """Add the calls of a step."""
        self._arguments |= {call.tool_call_id: call.arguments for call in calls}

    def propose(self, fields: dict[str, Any]) -> None:
        """Complete a proposal and record its changes."""
        call_id = fields.get("call_id")
        if fields.pop("is_as_written", False):
            fields["raw_input"] = self._arguments.get(str(call_id))
        self._diffs[str(call_id)] = fields.get("diffs", [])

    def end(self, fields: dict[str, Any]) -> None:
        """Complete an outcome."""
        call_id = str(fields.get("call_id"))
        if "text" not in fields:
            content = self._outcomes.get(call_id)
            advice = fields.get("advice")
            said = content if isinstance(content, str) else _first_text(content)
            fields["text"] = said.removesuffix(f" {advice}") if advice else said
            if "parts" not in fields and isinstance(content, list):
                fields["parts"] = msgspec.to_builtins(parts_of(content)[1:])
        if fields.pop("diffs_as_proposed", False):
            fields["diffs"] = self._diffs.get(call_id, [])


def restored(fields: dict[str, Any], step: AtifStep, answers: AnswersByCall) -> dict[str, Any]:
    """Return the complete fields of an event."""
    message = step.message
    match fields["type"]:
        case "user_said":
            fields.setdefault("parts", msgspec.to_builtins(parts_of(message)))
        case "note_added":
            fields.setdefault("text", text_of(message))
        case "history_compacted":
            fields.setdefault("summary", text_of(message))
        case "text_said":
            fields.setdefault("text", text_of(message))
        case "thought_said":
            fields.setdefault("text", step.reasoning_content or "")
        case "prompt_frozen":
            fields["layers"] = _layers(text_of(message), fields.pop("layer_sizes", []))
        case "step_ended":
            _end_step(fields, step, answers)
        case "call_proposed":
            answers.propose(fields)
        case "call_ended":
            answers.end(fields)
        case _:
            pass
    return fields


def _end_step(fields: dict[str, Any], step: AtifStep, answers: AnswersByCall) -> None:
    answers.know(step.tool_calls or ())
    if "tool_calls" not in fields:
        fields["tool_calls"] = msgspec.to_builtins([tool_call_of(call) for call in step.tool_calls or ()])
    if step.model_name:
        fields.setdefault("model", step.model_name)
    if step.metrics:
        used = step.metrics
        usage = Usage(used.prompt_tokens or 0, used.completion_tokens or 0, used.cached_tokens or 0)
        fields["usage"] = msgspec.to_builtins(usage)
    thought = fields.pop("thought", None)
    if isinstance(thought, dict):
        fields["thoughts"] = [{**cast("dict[str, Any]", thought), "text": step.reasoning_content or ""}]


def _layers(text: str, sizes: object) -> list[str]:
    layers: list[str] = []
    start = 0
    for size in cast("list[object]", sizes) if isinstance(sizes, list) else []:
        if not isinstance(size, int) or size < 0:
            return [text]
        layers.append(text[start : start + size])
        start += size + 2
    return layers


def _first_text(content: Content | None) -> str:
    if isinstance(content, str):
        return content
    if not content:
        return ""
    return content[0].text or ""
