"""Make one model call: convert its output to events, and retry on failure.

The first text is shown at once, later text at most once per frame, so that a fast model costs the record and the editor
no more than a slow one.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.agent.loop.call_ids import CallIds
from hermes_acp.agent.loop.draft_streaming import DraftStream
from hermes_acp.agent.loop.failed_attempts import FailedAttempts
from hermes_acp.agent.turn.turn import Relief, Turn
from hermes_acp.core.errors import BadReply, ConfigError, ContextWindowExceeded, ModelError, ModelRefused
from hermes_acp.core.events import (
    Noticed,
    StepEnded,
    StepFailed,
    SummarySaid,
    TextSaid,
    ThoughtSaid,
)
from hermes_acp.core.messages import (
    CallFragment,
    Fragment,
    ModelReply,
    ModelRequest,
    RequestTiming,
    TextFragment,
    ThoughtFragment,
    Usage,
)
from hermes_acp.core.ports.model_ports import Provider
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.models import model_catalog
from hermes_acp.models.routing.fallback_plan import (
    FallBack,
    GiveUp,
    NextKey,
    Retry,
    RetryDecision,
    RouteKey,
    Shorten,
)

BUFFERED_S: Final = 0.001
"""Data that arrives sooner than this was already buffered."""
TextEventType = type[TextSaid] | type[ThoughtSaid] | type[SummarySaid]
OnFragment = Callable[[Fragment], None]


class StreamedText:
    """The text of one step, passed to the ledger once per frame."""

    def __init__(self, turn: Turn, message_id: str) -> None:
        self._turn = turn
        self._message_id = message_id
        self._pieces: list[str] = []
        self._event: TextEventType = TextSaid
        self._shown_at_s = -1.0
        self._arrived = anyio.Event()

    def add(self, event: TextEventType, text: str) -> None:
        """Append text; show it at once if no frame is in progress."""
        if event is not self._event:
            self.flush()
            self._event = event
        self._pieces.append(text)
        if self._turn.deps.clock.monotonic() - self._shown_at_s >= self._turn.deps.routing.load.frame_s:
            self.flush()
        else:
            self._arrived.set()

    def flush(self) -> None:
        """Show the text collected so far."""
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            self._shown_at_s = self._turn.deps.clock.monotonic()
            self._turn.emit(self._event(self._message_id, text))

    async def flush_frames(self) -> None:
        """Show collected text at the end of each frame, even if no more text arrives; runs alongside the stream."""
        while True:
            await self._arrived.wait()
            await anyio.sleep(self._turn.deps.routing.load.frame_s)
            self._arrived = anyio.Event()
            self.flush()


class RequestTimer:
    """Measures one model request, starting at its creation."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started_at, self._started_s = clock.now(), clock.monotonic()
        self._first_chunk_s: float | None = None

    def note_chunk(self) -> None:
        """Record that a part of the answer has arrived."""
        if self._first_chunk_s is None:
            self._first_chunk_s = self._clock.monotonic() - self._started_s

    def timing(self) -> RequestTiming:
        """Return the timing of a request that has just ended."""
        took_s = self._clock.monotonic() - self._started_s
        return RequestTiming(self._started_at, took_s, self._first_chunk_s)


async def run_step(turn: Turn) -> ModelReply:
    """Ask the model once, trying routes until one yields an answer. Raises the last ModelError.

    After ContextWindowExceeded, the history is compacted and the request is repeated once, or a model with a larger
    window is asked.
    """
    return await ask_with_fallback(turn, partial(_ask, turn), turn.deps.stages.on_window_full)


async def ask_with_fallback(
    turn: Turn, ask: Callable[[str], Awaitable[ModelReply]], on_window_full: Relief | None = None
) -> ModelReply:
    """Ask with a new message ID, trying routes until one yields an answer.

    Raises the last ModelError, which names all routes if there were several.
    """
    fallback_plan = turn.fallback_plan
    if resting := fallback_plan.skipped_route:
        told = f"{resting} failed recently and is paused; continuing with {turn.route.model} ({turn.route.provider})."
        turn.emit(Noticed("info", told))
        turn.deps.log.note(
            "model_passed_over",
            session=turn.record.session_id,
            turn=turn.id,
            route=resting,
            decision="fall_back",
            to_route=fallback_plan.route_key.route,
        )
    fallback_plan.begin_step()
    tried = FailedAttempts()
    while True:
        route_key, message_id = fallback_plan.route_key, turn.deps.ids.fresh("msg")
        route, timer = turn.route, RequestTimer(turn.deps.clock)
        try:
            reply = await ask(message_id)
        except ModelError as error:
            tried.note(route_key, error)
            is_full = isinstance(error, ContextWindowExceeded)
            decision = Shorten() if is_full and on_window_full else fallback_plan.record_failure(error)
            _log(turn, route_key, error, decision)
            is_retried = not isinstance(decision, GiveUp)
            failed = StepFailed(
                message_id, error.message, is_retried, route.provider, route.model, error.code, timer.timing()
            )
            turn.emit(failed)
            if isinstance(decision, Shorten):
                relieve, on_window_full = on_window_full, None
                if relieve and await relieve(turn):
                    continue
                decision = fallback_plan.record_failure(error)
                _log(turn, route_key, error, decision)
            if isinstance(decision, GiveUp):
                raise tried.combined_error(error) from error
            turn.emit(Noticed("warning", f"{error.message} {_describe_decision(turn, decision)}"))
            if isinstance(decision, Retry):
                await anyio.sleep(decision.wait_s)
        else:
            fallback_plan.record_success()
            return reply


def _describe_decision(turn: Turn, decision: Retry | NextKey | FallBack) -> str:
    match decision:
        case Retry():
            tries = f"{turn.fallback_plan.tries} of {turn.fallback_plan.attempts}"
            return f"Trying again in {decision.wait_s:.1f} s ({tries})."
        case NextKey():
            return f"Continuing with the key in {decision.key}."
        case FallBack():
            return f"Continuing with {turn.route.model} ({turn.route.provider})."


def _log(turn: Turn, route_key: RouteKey, error: ModelError, decision: RetryDecision | Shorten) -> None:
    went_on = {f"to_{name}": value for name, value in structs.asdict(decision).items()}
    turn.deps.log.note(
        "model_call_failed",
        session=turn.record.session_id,
        turn=turn.id,
        route=route_key.route,
        key=route_key.key,
        trouble=error.code,
        decision=type(decision).__struct_config__.tag,
        **went_on,
    )


async def _ask(turn: Turn, message_id: str) -> ModelReply:
    call_ids = CallIds(turn.deps.ids)
    words, drafts = StreamedText(turn, message_id), DraftStream(turn, call_ids)
    try:
        hear = partial(_dispatch_fragment, words, drafts)
        reply = await stream_reply(turn, _request(turn), hear, words.flush_frames, drafts.show_frames)
    finally:
        words.flush()
    drafts.flush()
    route = turn.route
    if reply.finish == "refusal" and turn.fallback_plan.has_another_route:
        raise _refusal_error(turn, reply.usage)
    # Repaired JSON is recorded as it was parsed, so that the model's history shows what was done.
    calls = call_ids.named(map(turn.deps.toolbox.mended, reply.message.tool_calls))
    ended = turn.emit(
        StepEnded(
            message_id, calls, reply.message.thoughts, reply.usage, route.provider, route.model, reply.timing
        )
    )
    _charge(turn, reply.usage)
    await turn.ledger.drained()
    return structs.replace(reply, message=structs.replace(reply.message, tool_calls=ended.tool_calls))


def _dispatch_fragment(words: StreamedText, drafts: DraftStream, fragment: Fragment) -> None:
    match fragment:
        case TextFragment(text=text):
            words.add(TextSaid, text)
        case ThoughtFragment(text=text):
            words.add(ThoughtSaid, text)
        case CallFragment():
            drafts.add(fragment)


async def stream_reply(
    turn: Turn, request: ModelRequest, hear: OnFragment, *frames: Callable[[], Coroutine[Any, Any, None]]
) -> ModelReply:
    """Make one request over the turn's current route; `hear` gets each fragment, and the `frames` tasks show them."""
    reply: ModelReply | None = None
    provider = await _connect(turn)
    quiet, pace, timer = SilenceNotice(turn), ReadThrottle(turn), RequestTimer(turn.deps.clock)
    with turn.deps.routing.load.stream():
        async with background_tasks(quiet.tell, *frames), provider.stream(request) as events:
            async for event in events:
                quiet.is_broken = True
                timer.note_chunk()
                if isinstance(event, ModelReply):
                    reply = structs.replace(event, timing=timer.timing())
                else:
                    hear(event)
                    await turn.ledger.drained()
                    await pace.keep()
    if reply is None:
        raise BadReply("The model's answer broke off without an end marker.", retryable=True)
    return reply


class ReadThrottle:
    """Limits reads to one per frame while many answers are streaming, so that each read yields several deltas."""

    def __init__(self, turn: Turn) -> None:
        self._load = turn.deps.routing.load
        self._clock = turn.deps.clock
        self._asked_at_s = self._clock.monotonic()

    async def keep(self) -> None:
        """Wait for the end of the frame before the next read, unless the last read returned buffered data."""
        if self._load.is_high:
            if self._clock.monotonic() - self._asked_at_s >= BUFFERED_S:
                await anyio.sleep(self._load.frame_s)
            self._asked_at_s = self._clock.monotonic()


class SilenceNotice:
    """Reports, once, that a step is taking long to produce its first output."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.is_broken = False

    async def tell(self) -> None:
        """Report the wait when it is due; runs alongside the stream."""
        quiet_s = self._turn.deps.routing.retry_policy.quiet_s
        await anyio.sleep(quiet_s)
        if not self.is_broken:
            model = self._turn.route.model
            self._turn.emit(Noticed("info", f"No output from {model} for {quiet_s:g} s; still waiting."))


async def _connect(turn: Turn) -> Provider:
    """Connect over the turn's current route. A fallback with invalid settings counts as an unavailable model."""
    try:
        return await turn.route.connect(turn.fallback_plan.route_key.key)
    except ConfigError as error:
        raise ModelError(error.message, hint=error.hint) from error


def _request(turn: Turn) -> ModelRequest:
    route, record = turn.route, turn.record
    return ModelRequest(
        model=route.model,
        system=record.layers,
        messages=record.sent.messages(record.messages, sees=route.facts.sees),
        tools=turn.deps.toolbox.schemas,
        deferred=turn.deps.toolbox.deferred_schemas,
        max_output_tokens=turn.deps.model_use.max_output_tokens,
        effort=route.effort(turn.deps.model_use.effort),
        encoding=record.sent.encoding,
    )


def _refusal_error(turn: Turn, usage: Usage) -> ModelRefused:
    """Count the cost of a reply that is a refusal, and return the error that makes the next route be tried."""
    cost_usd = model_catalog.cost_usd(usage, turn.route.facts)
    turn.spent.charge(usage, cost_usd)
    turn.add_cost(cost_usd)
    return ModelRefused(f"{turn.route.model} declined to answer this.")


def _charge(turn: Turn, usage: Usage) -> None:
    cost_usd = model_catalog.cost_usd(usage, turn.route.facts)
    turn.spent.add(usage, cost_usd)
    if usage.total_tokens:
        turn.report_usage(usage.total_tokens, cost_usd)
