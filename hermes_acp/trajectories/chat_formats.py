"""Convert trajectories to the formats that trainers read: chat messages and ShareGPT conversations.

Both contain the whole conversation as it took place. Compaction summaries, retried answers and anything the model never
saw are left out.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from hermes_acp.trajectories.atif_document import AtifStep, Trajectory
from hermes_acp.trajectories.message_content import own_extra, text_of, tool_call_of

NO_OUTCOME: Final = "[No outcome was recorded.]"
Message = dict[str, Any]
_ROLES: Final = MappingProxyType({"user": "human", "assistant": "gpt", "tool": "observation"})


def messages_of(trajectory: Trajectory) -> list[Message]:
    """Return the messages of a conversation, in the form of OpenAI's chat completions."""
    return [message for step in trajectory.steps for message in step_messages(step)]


def step_messages(step: AtifStep) -> Iterator[Message]:
    """Yield the messages of one step, or none if the model did not see it."""
    kinds = kinds_of(step)
    if step.source == "user":
        yield {"role": "user", "content": text_of(step.message)}
    elif step.source == "system":
        if "history_compacted" in kinds or not text_of(step.message):
            return
        role = "system" if "prompt_frozen" in kinds or (not kinds and step.step_id == 1) else "user"
        yield {"role": role, "content": text_of(step.message)}
    elif not _is_retried(step):
        yield from _answer(step)


def kinds_of(step: AtifStep) -> list[str]:
    """Return the types of the events in a step."""
    return [str(fields.get("type")) for fields in events_in(step)]


def events_in(step: AtifStep) -> list[dict[str, Any]]:
    """Return the fields of the events in a step that this program exported."""
    entries = own_extra(step.extra).get("events", [])
    return [cast("dict[str, Any]", entry[1]) for entry in cast("list[list[Any]]", entries)]


def _is_retried(step: AtifStep) -> bool:
    ended = [fields for fields in events_in(step) if fields.get("type") in ("step_ended", "step_failed")]
    return bool(ended) and all(fields["type"] == "step_failed" and fields["retried"] for fields in ended)


def _answer(step: AtifStep) -> Iterator[Message]:
    answer: Message = {"role": "assistant", "content": text_of(step.message)}
    if step.reasoning_content:
        answer["reasoning_content"] = step.reasoning_content
    calls = step.tool_calls or []
    if calls:
        answer["tool_calls"] = [
            {
                "id": call.tool_call_id,
                "type": "function",
                "function": {"name": call.function_name, "arguments": tool_call_of(call).arguments},
            }
            for call in calls
        ]
    yield answer
    results = step.observation.results if step.observation else []
    outcomes = {result.source_call_id: result.content for result in results if result.source_call_id}
    for call in calls:
        content = outcomes.get(call.tool_call_id)
        text = NO_OUTCOME if content is None else text_of(content)
        yield {"role": "tool", "tool_call_id": call.tool_call_id, "content": text}


def chat_record(trajectory: Trajectory) -> dict[str, Any]:
    """Return a conversation as one line of a data set of chat messages."""
    line: dict[str, Any] = {"messages": messages_of(trajectory)}
    if trajectory.agent.tool_definitions:
        line["tools"] = trajectory.agent.tool_definitions
    line["metadata"] = {"session_id": trajectory.session_id, "model": trajectory.agent.model_name}
    return line


def sharegpt_record(trajectory: Trajectory) -> dict[str, Any]:
    """Return a conversation as one line of a data set in the ShareGPT format with tools."""
    system: list[str] = []
    turns: list[dict[str, str]] = []
    for message in messages_of(trajectory):
        if message["role"] == "system":
            system.append(message["content"])
            continue
        if message["role"] == "user" and turns and turns[-1]["from"] == "human":
            turns[-1]["value"] += f"\n\n{message['content']}"  # trainers expect alternating turns
        elif message["content"] or message["role"] != "assistant":
            turns.append({"from": _ROLES[message["role"]], "value": message["content"]})
        for call in message.get("tool_calls", ()):
            function = call["function"]
            said = f'{{"name":{_json(function["name"])},"arguments":{function["arguments"] or "{}"}}}'
            turns.append({"from": "function_call", "value": said})
    line: dict[str, Any] = {"id": trajectory.session_id, "conversations": turns}
    if system:
        line["system"] = "\n\n".join(system)
    if trajectory.agent.tool_definitions:
        functions = [each["function"] for each in trajectory.agent.tool_definitions if "function" in each]
        line["tools"] = _json(functions)
    return line


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
