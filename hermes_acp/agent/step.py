"""One model call: its words into events, its failures into further tries.

Knows: how fragments are gathered into frames, when a failed call is worth another try.
Does not know: any vendor. The first words are shown at once, later ones at most once a frame, so that a fast model
costs the record and the editor no more than a slow one.
"""

from typing import Final

import anyio
from msgspec import structs

from hermes_acp.agent.beside import beside
from hermes_acp.agent.turn import Turn
from hermes_acp.core.errors import BadReply, ModelTrouble, RateLimited
from hermes_acp.core.events import (
    Noticed,
    StepEnded,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    UsageChanged,
)
from hermes_acp.core.messages import ModelReply, ModelRequest, TextFragment, ToolCall, Usage
from hermes_acp.models import catalog

FRAME_S: Final = 0.016


class Words:
    """The words of one step on their way to the ledger, a frame at a time."""

    def __init__(self, turn: Turn, message_id: str) -> None:
        self._turn = turn
        self._message_id = message_id
        self._pieces: list[str] = []
        self._event: type[TextSaid] | type[ThoughtSaid] = TextSaid
        self._shown_at_s = -1.0
        self._arrived = anyio.Event()

    def add(self, event: type[TextSaid] | type[ThoughtSaid], text: str) -> None:
        """Take some words; show them now if the last frame is over."""
        if event is not self._event:
            self.flush()
            self._event = event
        self._pieces.append(text)
        if self._turn.clock.monotonic() - self._shown_at_s >= FRAME_S:
            self.flush()
        else:
            self._arrived.set()

    def flush(self) -> None:
        """Show what has gathered."""
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            self._shown_at_s = self._turn.clock.monotonic()
            self._turn.emit(self._event(self._message_id, text))

    async def flush_frames(self) -> None:
        """Show gathered words at the end of their frame, also when no more arrive; runs beside the stream."""
        while True:
            await self._arrived.wait()
            await anyio.sleep(FRAME_S)
            self._arrived = anyio.Event()
            self.flush()


async def take_step(turn: Turn) -> ModelReply:
    """Ask the model once, trying again where that can help. Raises the last ModelTrouble."""
    attempt = 1
    while True:
        message_id = turn.ids.fresh("msg")
        try:
            return await _ask(turn, message_id)
        except ModelTrouble as trouble:
            again = trouble.retryable and attempt < turn.kit.patience.attempts
            turn.emit(StepFailed(message_id, trouble.message, retried=again))
            if not again:
                raise
            wished_s = trouble.retry_after_s if isinstance(trouble, RateLimited) else None
            wait_s = turn.kit.patience.wait_s(attempt, wished_s)
            attempt += 1
            turn.emit(
                Noticed(
                    "warning",
                    f"{trouble.message} Trying again in {wait_s:.1f} s "
                    f"({attempt} of {turn.kit.patience.attempts}).",
                )
            )
            await anyio.sleep(wait_s)


async def _ask(turn: Turn, message_id: str) -> ModelReply:
    words = Words(turn, message_id)
    try:
        reply = await _listen(turn, words)
    finally:
        words.flush()
    calls = _with_own_ids(turn, reply.message.tool_calls)
    ended = turn.emit(StepEnded(message_id, calls, reply.message.thoughts, reply.usage))
    _account(turn, reply.usage)
    await turn.ledger.drained()
    return structs.replace(reply, message=structs.replace(reply.message, tool_calls=ended.tool_calls))


def _with_own_ids(turn: Turn, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Give every call an id no other call of the session has: some models count from zero in each answer."""
    kept: dict[str, ToolCall] = {}
    for call in calls:
        is_taken = not call.id or call.id in kept or turn.record.knows_call(call.id)
        own = structs.replace(call, id=turn.ids.fresh("call")) if is_taken else call
        kept[own.id] = own
    return tuple(kept.values())


async def _listen(turn: Turn, words: Words) -> ModelReply:
    reply: ModelReply | None = None
    async with turn.kit.provider.stream(_request(turn)) as events, beside(words.flush_frames):
        async for event in events:
            if isinstance(event, ModelReply):
                reply = event
            else:
                words.add(TextSaid if isinstance(event, TextFragment) else ThoughtSaid, event.text)
                await turn.ledger.drained()
    if reply is None:
        raise BadReply("The model's answer ended without an end.", retryable=True)
    return reply


def _request(turn: Turn) -> ModelRequest:
    return ModelRequest(
        model=turn.kit.model,
        system=turn.record.layers,
        messages=tuple(turn.record.messages),
        tools=turn.kit.toolbox.schemas,
        max_output_tokens=turn.kit.max_output_tokens,
    )


def _account(turn: Turn, usage: Usage) -> None:
    cost_usd = catalog.cost_usd(usage, turn.kit.facts)
    turn.spent.add(usage, cost_usd)
    before = turn.record.usage
    total = None if cost_usd is None else (before.cost_usd or 0.0) + cost_usd
    used = usage.input_tokens + usage.output_tokens
    if used:
        turn.emit(UsageChanged(used, turn.kit.facts.window_tokens, total))
