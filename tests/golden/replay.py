"""Replay a transcript with a real agent, over any transport."""

import json
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import anyio
from msgspec import Struct

from tests.golden.transcript import Json, Line, Names, Naming, Transcript

WAIT_S = 60


class Wire(Protocol):
    """The client's end of a connection to an agent."""

    async def send(self, line: bytes) -> None:
        """Send one line, including its end."""
        ...

    async def receive(self) -> Json | None:
        """Receive the agent's next frame; None if it has exited."""
        ...

    async def list_models(self) -> None:
        """Have the model's server list its models."""
        ...

    async def leave(self) -> None:
        """Send nothing more; the agent then exits too."""
        ...


ABOUT_THE_MODEL = ("provider", "model", "effort")


def _name_of(option: Json) -> str:
    return option.get("id") or option["configId"]


class Listener:
    """Receives the agent's frames in the one order that does not depend on when the models become known.

    They are listed once the first session was answered. Updates about them before that, if any, are omitted.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._are_listed = False

    async def receive(self) -> Json | None:
        """Receive the next frame; None if the agent has exited."""
        while (frame := await self._wire.receive()) is not None and not self._are_listed:
            holder: Any = frame.get("result") or frame.get("params", {}).get("update")
            reported = cast("Json", holder) if isinstance(holder, dict) else {}
            offered: list[Json] | None = reported.get("configOptions")
            if offered is None:
                break
            self._are_listed = any(
                _name_of(option) == "model" and len(option["options"]) > 1 for option in offered
            )
            if "result" in frame:
                reported["configOptions"] = [o for o in offered if _name_of(o) not in ABOUT_THE_MODEL]
                await self._wire.list_models()
                break
            if self._are_listed:
                break
        return frame


class Stage(Struct, frozen=True):
    """The environment in which a transcript runs: the workspace, and the model's address."""

    cwd: Path
    model_url: str

    @property
    def names(self) -> dict[str, object]:
        place = urlsplit(self.model_url).netloc
        return {"cwd": str(self.cwd), "model_url": self.model_url, "model_place": place}


class Unexpected(AssertionError):
    """The agent did not send what the transcript contains."""

    def __init__(self, transcript: Transcript, expected: list[Json], received: Json | None) -> None:
        wanted = "\n  or ".join(json.dumps(frame, ensure_ascii=False) for frame in expected) or "nothing more"
        got = "the end" if received is None else json.dumps(received, ensure_ascii=False)
        super().__init__(f"{transcript.name}: expected\n     {wanted}\nreceived\n     {got}")


async def replay(transcript: Transcript, wire: Wire, stage: Stage) -> None:
    """Send the client's lines, and compare what the agent sends. Raises Unexpected for the first difference."""
    names = Names(stage.names)
    listener = Listener(wire)
    awaited: list[Line] = []
    with anyio.fail_after(2 * WAIT_S):
        for line in transcript.lines:
            if line.sender == "agent":
                awaited.append(line)
                continue
            await _take(transcript, listener, names, awaited)
            awaited = []
            await say(line, wire, names, stage)
        await _take(transcript, listener, names, awaited)
        await wire.leave()
        if (stray := await wire.receive()) is not None:
            raise Unexpected(transcript, [], stray)
    check_files(transcript, stage)


async def say(line: Line, wire: Wire, names: Names, stage: Stage) -> None:
    """Process one line of the client."""
    for name, content in (line.saves or {}).items():
        await anyio.Path(stage.cwd, name).write_text(content, encoding="utf-8")
    if line.frame is not None:
        await wire.send(json.dumps(names.filled(line.frame)).encode() + b"\n")
    if line.text is not None:
        await wire.send(line.text.encode() + b"\n")


async def _take(transcript: Transcript, wire: Listener, names: Names, awaited: list[Line]) -> None:
    """Receive one frame for each expected line: in order, except those that may come at any time."""
    ordered = [line for line in awaited if not line.whenever]
    floating = [line for line in awaited if line.whenever]
    while ordered or floating:
        candidates = [*ordered[:1], *floating]
        frame = await wire.receive()
        found = next((line for line in candidates if frame and names.fits(line.frame, frame)), None)
        if found is None:
            if frame and _is_live_output(frame):
                continue
            raise Unexpected(transcript, [line.frame or {} for line in candidates], frame)
        (floating if found.whenever else ordered).remove(found)


def _is_live_output(frame: Json) -> bool:
    """Return whether a frame contains only a command's output so far, which a fast command may not send.

    When the command has ended, all its output is sent again, and compared there.
    """
    update: Json = frame.get("params", {}).get("update", {})
    if update.get("sessionUpdate") == "tool_call_update":
        is_all = update.keys() == {"sessionUpdate", "toolCallId", "content"}
        return is_all and all(block["type"] == "content" for block in update["content"])
    return update.get("sessionUpdate") == "terminal_output_chunk"


def check_files(transcript: Transcript, stage: Stage) -> None:
    """Check the files that the transcript leaves behind."""
    for name, content in transcript.header.leaves.items():
        assert (stage.cwd / name).read_text(encoding="utf-8") == content, f"{transcript.name}: {name}"


FLOATING = ("available_commands_update", "config_option_update", "mcp/message")
OPENING = ("session/new", "session/load", "session/resume", "session/fork")


async def record(transcript: Transcript, wire: Wire, stage: Stage, quiet_s: float) -> list[Line]:
    """Send the client's lines, and record what the agent sends until it has been quiet for a while.

    Consecutive lines of the client are sent without a pause.
    """
    naming = Naming(stage.names, json.dumps(list(transcript.frames("client"))))
    listener = Listener(wire)
    lines: list[Line] = []
    opened = False
    for at, line in enumerate(transcript.lines):
        if line.sender == "agent":
            continue
        if transcript.lines[at - 1].sender == "agent":
            lines += await _listen(listener, naming, quiet_s, opened=opened)
            opened = False
        await say(line, wire, Names(naming.values), stage)
        opened |= line.frame is not None and line.frame.get("method") in OPENING
        lines.append(line)
    lines += await _listen(listener, naming, quiet_s, opened=opened)
    await wire.leave()
    while stray := await wire.receive():
        lines.append(Line("agent", naming.named(stray)))
    check_files(transcript, stage)
    return lines


async def _listen(wire: Listener, naming: Naming, quiet_s: float, *, opened: bool) -> list[Line]:
    lines: list[Line] = []
    while True:
        with anyio.move_on_after(quiet_s):
            if (frame := await wire.receive()) is None:
                return lines
            kind = frame.get("params", {}).get("update", {}).get("sessionUpdate", frame.get("method"))
            lines.append(Line("agent", naming.named(frame), whenever=opened and kind in FLOATING))
            continue
        return lines
