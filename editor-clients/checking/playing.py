"""Replay an editor's conversation: compare it with its transcript, record it, or run it with the user's own model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from .names import Names, Naming
from .stage import Agent, AgentFault, Stage
from .transcripts import Json, Line, Transcript

ABOUT_THE_MODEL = ("provider", "model", "effort")
FLOATING = ("available_commands_update", "config_option_update")
OPENING = ("session/new", "session/load", "session/resume")
QUIET_S = 0.7
LISTING_S = 10


class DifferenceError(Exception):
    """The agent's output differs from the transcript."""

    def __init__(self, expected: list[Json], received: Json | None, errors: str) -> None:
        wanted = (
            "\n      or ".join(json.dumps(frame, ensure_ascii=False) for frame in expected) or "nothing more"
        )
        got = f"the end. {errors}" if received is None else json.dumps(received, ensure_ascii=False)
        super().__init__(f"expected {wanted}\n      received {got}")


class Listener:
    """Receives the agent's frames in an order that does not depend on when the models become known.

    The models are listed once the first session was answered; earlier updates about them are omitted.
    """

    def __init__(self, agent: Agent, list_models: Callable[[], None]) -> None:
        self._agent = agent
        self._list_models = list_models
        self.are_listed = False

    @property
    def errors(self) -> str:
        """The agent's standard error."""
        return self._agent.errors

    def receive(self, **waiting: float) -> Json | None:
        """Receive the next frame, or None if the agent has exited."""
        while (frame := self._agent.receive(**waiting)) is not None and not self.are_listed:
            holder: Any = frame.get("result") or frame.get("params", {}).get("update")
            offered: list[Json] | None = cast("Json", holder or {}).get("configOptions")
            if offered is None:
                return frame
            self.are_listed = any(
                option.get("id") == "model" and len(option["options"]) > 1 for option in offered
            )
            if "result" in frame:
                holder["configOptions"] = [o for o in offered if o.get("id") not in ABOUT_THE_MODEL]
                self._list_models()
                return frame
            if self.are_listed:
                return frame
        return frame


def compare(transcript: Transcript, stage: Stage, agent: Agent, list_models: Callable[[], None]) -> int:
    """Send the editor's lines and compare the agent's; return their number. Raises DifferenceError if they differ."""
    names = Names(stage.names)
    listener = Listener(agent, list_models)
    awaited: list[Line] = []
    for line in transcript.lines:
        if line.sender == "agent":
            awaited.append(line)
            continue
        _take(listener, names, awaited)
        awaited = []
        _say(line, names.filled(line.frame), stage, agent)
    _take(listener, names, awaited)
    agent.end(transcript.header.start.end)
    stage.check_files(transcript)
    return sum(line.sender == "agent" for line in transcript.lines)


def _take(listener: Listener, names: Names, awaited: list[Line]) -> None:
    """Receive a frame for each expected line: in order, except those that may come at any time."""
    ordered = [line for line in awaited if not line.whenever]
    floating = [line for line in awaited if line.whenever]
    while ordered or floating:
        candidates = [*ordered[:1], *floating]
        frame = listener.receive()
        found = next((line for line in candidates if frame and names.fits(line.frame, frame)), None)
        if found is None:
            raise DifferenceError([line.frame for line in candidates], frame, listener.errors)
        (floating if found.whenever else ordered).remove(found)


def _say(line: Line, frame: Json, stage: Stage, agent: Agent) -> None:
    """Send a line of the editor."""
    for name, content in line.saves.items():
        (stage.project / name).write_text(content, encoding="utf-8")
    agent.send(frame)


def record(transcript: Transcript, stage: Stage, agent: Agent, list_models: Callable[[], None]) -> list[Line]:
    """Send the editor's lines and record the agent's frames until it has been quiet for a while."""
    naming = Naming(stage.names)
    listener = Listener(agent, list_models)
    lines: list[Line] = []
    is_opening = False
    for line in transcript.lines:
        if line.sender != "client":
            continue
        _say(line, Names(cast("dict[str, str]", naming.values)).filled(line.frame), stage, agent)
        lines.append(line)
        is_opening = line.frame.get("method") in OPENING
        lines += _listen(listener, naming, is_opening=is_opening)
    agent.end(transcript.header.start.end)
    stage.check_files(transcript)
    return lines


def _listen(listener: Listener, naming: Naming, *, is_opening: bool) -> list[Line]:
    lines: list[Line] = []
    while True:
        try:
            is_due = is_opening and not listener.are_listed
            frame = listener.receive(timeout_s=LISTING_S if is_due else QUIET_S)
        except TimeoutError:
            return lines
        if frame is None:
            return lines
        kind = frame.get("params", {}).get("update", {}).get("sessionUpdate")
        lines.append(Line("agent", naming.named(frame), is_opening and kind in FLOATING))


def rehearse(transcript: Transcript, stage: Stage, agent: Agent) -> int:
    """Run the conversation with a model that answers freely; return the number of frames that the agent sent.

    The editor's calls are those of the transcript. The agent's requests are answered from the disk, and permission is
    granted. Raises AgentFault if a call fails or the turn does not end.
    """
    names = Names(stage.names)
    count = 0
    for line in transcript.lines:
        if line.sender != "client" or "method" not in line.frame:
            continue
        call: Json = names.filled(line.frame)
        agent.send(call)
        while "id" in call:
            frame = agent.receive()
            if frame is None:
                raise AgentFault(f"The agent exited during {call['method']}. Its output: {agent.errors}")
            count += 1
            if "method" in frame:
                if "id" in frame:
                    agent.send({"jsonrpc": "2.0", "id": frame["id"], **_answer(frame, stage.project)})
                continue
            _check_reply(call, frame)
            if "sessionId" in frame["result"]:
                names.fits("${session}", frame["result"]["sessionId"])
            break
    agent.end(transcript.header.start.end)
    return count


def _check_reply(call: Json, reply: Json) -> None:
    if "error" in reply:
        raise AgentFault(f"{call['method']} failed: {reply['error'].get('message')}")
    if call["method"] == "session/prompt" and reply["result"].get("stopReason") != "end_turn":
        raise AgentFault(f"The turn ended with {reply['result']}.")


def _answer(asked: Json, project: Path) -> Json:
    """Answer like an editor whose user approves everything in the project."""
    params: Json = asked["params"]
    path = Path(params.get("path", project))
    if asked["method"] == "session/request_permission":
        allowing = next(o for o in params["options"] if o["kind"] == "allow_once")
        return {"result": {"outcome": {"outcome": "selected", "optionId": allowing["optionId"]}}}
    if asked["method"] == "fs/read_text_file" and path.is_file():
        return {"result": {"content": path.read_text(encoding="utf-8")}}
    if asked["method"] == "fs/write_text_file" and path.is_relative_to(project):
        path.write_text(params["content"], encoding="utf-8")
        return {"result": {}}
    return {"error": {"code": -32603, "message": "This check does not support that."}}
