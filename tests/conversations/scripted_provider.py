"""A model that sends scripted answers."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from msgspec import Struct

from hermes_acp.core.errors import HermesError, ModelRefused
from hermes_acp.core.messages import (
    AssistantMessage,
    CallFragment,
    FinishReason,
    ModelEvent,
    ModelReply,
    ModelRequest,
    TextFragment,
    ThoughtFragment,
    ToolCall,
    Usage,
)
from hermes_acp.core.ports.model_ports import ListedModel


class ScriptedThought(Struct, frozen=True):
    """Some reasoning text."""

    text: str


class Pause:
    """A point where the model waits until the test continues."""

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.go = anyio.Event()


Beat = str | ScriptedThought | CallFragment | ToolCall | Pause | HermesError


class Step(Struct):
    """One answer from the model, part by part."""

    beats: tuple[Beat, ...]
    finish: FinishReason | None = None
    usage: Usage = Usage(10, 5)


Script = Callable[[ModelRequest], Step]


def step(*beats: Beat, finish: FinishReason | None = None) -> Step:
    return Step(beats, finish)


def call(name: str, call_id: str = "call-1", /, **arguments: object) -> ToolCall:
    return ToolCall(call_id, name, json.dumps(arguments))


class ScriptedProvider:
    """Plays steps in order, or answers each request by a function."""

    name = "scripted"

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.answer: Script | None = None
        self.requests: list[ModelRequest] = []
        self.keys: list[str] = []
        self.streams_open = 0
        self.listed: tuple[str, ...] | HermesError = ("scripted-1",)
        self.listing: Pause | None = None
        self.call_names: list[str] = []
        """The IDs in the script, in order; `SequentialIds` gives a test's calls the same IDs."""

    def plays(self, *steps: Step) -> None:
        """Append steps to the script."""
        self.steps.extend(steps)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[ModelEvent]]:
        self.requests.append(request)
        self.streams_open += 1
        try:
            yield self._events(self._next(request))
        finally:
            self.streams_open -= 1

    def _next(self, request: ModelRequest) -> Step:
        if self.answer:
            return self.answer(request)
        if not self.steps:
            raise ModelRefused("The script has no further step.")
        return self.steps.pop(0)

    async def _events(self, played: Step) -> AsyncGenerator[ModelEvent]:
        text, calls, drafted = "", list[ToolCall](), set[str]()
        for beat in played.beats:
            if isinstance(beat, Pause):
                beat.reached.set()
                await beat.go.wait()
            elif isinstance(beat, HermesError):
                raise beat
            elif isinstance(beat, ToolCall):
                calls.append(beat)
            elif isinstance(beat, CallFragment):
                if beat.key not in drafted:
                    drafted.add(beat.key)
                    self.call_names.append(beat.key)
                yield beat
            elif isinstance(beat, ScriptedThought):
                yield ThoughtFragment(beat.text)
            else:
                text += beat
                yield TextFragment(beat)
        self.call_names += [call.id for call in calls if call.id not in drafted]
        finish = played.finish or ("tool_calls" if calls else "stop")
        yield ModelReply(AssistantMessage(text, (), tuple(calls)), finish, played.usage)

    async def own_window(self, model: str) -> int | None:
        return None

    async def models(self) -> tuple[ListedModel, ...]:
        if self.listing:
            self.listing.reached.set()
            await self.listing.go.wait()
        if isinstance(self.listed, HermesError):
            raise self.listed
        return tuple(map(ListedModel, self.listed))

    async def aclose(self) -> None:
        assert self.streams_open == 0, "a stream was left open"
