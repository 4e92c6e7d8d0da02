"""Compact a history: replace its older part with a summary written by the model."""

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

import anyio
from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.agent.compaction.compaction_cuts import HistoryBudget, HistoryCut, find_cut
from hermes_acp.agent.compaction.summary_prompts import (
    SYSTEM,
    chunk_messages,
    max_summary_words,
    request_text,
)
from hermes_acp.agent.compaction.token_estimates import estimate_request_tokens, plausible_tokens
from hermes_acp.agent.loop.model_step import StreamedText, ask_with_fallback, stream_reply
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.core.errors import BadReply, ContextWindowExceeded, ModelError, ModelRefused, StorageError
from hermes_acp.core.events import (
    CompactionFailed,
    CompactionStarted,
    HistoryCompacted,
    SummarySaid,
)
from hermes_acp.core.messages import (
    Fragment,
    Message,
    ModelReply,
    ModelRequest,
    RequestTiming,
    TextFragment,
    TextPart,
    Usage,
    UserMessage,
)
from hermes_acp.core.record.compacted_history import apply_compaction
from hermes_acp.core.token_estimates import estimate_tokens
from hermes_acp.models import model_catalog

CompactionReason = Literal["window", "full", "asked"]

CHUNK_SHARE: Final = 0.6
MIN_SAVED_SHARE: Final = 0.05
MAX_KEPT_SHARE_ON_REQUEST: Final = 2_000
MAX_HALVINGS: Final = 5


async def compact(turn: Turn, why: CompactionReason, wish: str = "") -> HistoryCompacted | None:
    """Compact the history once; return None if there is nothing to compact. `wish` is an instruction from the user.

    Raises ModelError if no summary could be obtained. If anything is raised, the history is unchanged.
    """
    compaction = _Compaction(turn, why, wish)
    cut = await run_sync(find_cut, tuple(turn.record.messages), compaction.room())
    return await compaction.run(cut) if cut else None


async def make_room(turn: Turn) -> bool:
    """Compact a history that the endpoint rejected as too long; return whether it is now shorter."""
    try:
        return await compact(turn, "full") is not None
    except ModelError:
        return False  # the error is recorded, and the turn ends with the step's own failure


class _Compaction:
    """One compaction, from its start to its single end."""

    def __init__(self, turn: Turn, why: CompactionReason, wish: str) -> None:
        tools = turn.deps.toolbox.schemas
        window_tokens = turn.route.window_tokens
        self._turn = turn
        self._why: CompactionReason = why
        self._wish = wish
        self._before = plausible_tokens(turn.record, tools)
        whole = max(1, estimate_request_tokens(turn.record, tools))
        self._beside_history = whole - estimate_tokens(turn.record.messages)
        self._window = window_tokens
        if why == "full":
            # The endpoint's own limit is more reliable than the catalogue, and the count may come from another
            # endpoint.
            self._before = max(self._before, min(whole, window_tokens))
            self._window = min(window_tokens, self._before)
        self._scale = min(3.0, max(0.5, self._before / whole))
        self._id = turn.deps.ids.fresh("compaction")
        self._usage = Usage()
        self._cost_usd: float | None = None
        self._timing: RequestTiming | None = None
        self._has_spoken = False

    def room(self) -> HistoryBudget:
        """Return the budget for the history, estimated and corrected by the endpoint's last count."""
        shares = self._turn.deps.model_use.shares
        window = self._window / self._scale
        kept = int(window * shares.keep)
        if self._why == "asked":
            kept = min(kept, MAX_KEPT_SHARE_ON_REQUEST)
        target = None
        if self._why == "window":
            target = int(window * ((shares.at or 1.0) + shares.keep) / 2) - self._beside_history
        min_saved = int(window * MIN_SAVED_SHARE) if self._why == "window" else 1
        return HistoryBudget(kept, int(window / 2), target, min_saved)

    async def run(self, cut: HistoryCut) -> HistoryCompacted:
        """Compact the history; the end is always recorded, unless the record cannot be written."""
        turn = self._turn
        turn.emit(CompactionStarted(self._id, self._why))
        try:
            messages = turn.record.messages
            summary = await self._summarise(messages[: cut.replaced]) if cut.replaced else ""
            event = await run_sync(self._measured, tuple(messages), cut.made(self._id, summary))
        except StorageError:
            raise
        except BaseException as error:
            turn.emit(_failure(self._id, error))
            if self._cost_usd is not None:
                turn.report_usage(self._before, self._cost_usd)
            raise
        turn.emit(event)
        turn.report_usage(event.tokens_after, self._cost_usd)
        await turn.ledger.settle()
        return event

    def _measured(self, messages: Sequence[Message], event: HistoryCompacted) -> HistoryCompacted:
        """Return the event with its token counts. Raises BadReply if nothing was saved."""
        gain = estimate_tokens(messages) - estimate_tokens(apply_compaction(messages, event))
        if gain <= 0:
            raise BadReply("The summary was not shorter than the text it replaces.")
        route = self._turn.route
        return structs.replace(
            event,
            tokens_before=self._before,
            tokens_after=max(1, self._before - int(gain * self._scale)),
            usage=self._usage,
            provider=route.provider if event.summary else "",
            model=route.model if event.summary else "",
            timing=self._timing if event.summary else None,
        )

    async def _summarise(self, messages: Sequence[Message]) -> str:
        """Summarise the messages, in smaller chunks if the endpoint reports that they are too long."""
        tokens = int(self._window * CHUNK_SHARE / self._scale)
        for _ in range(MAX_HALVINGS):
            try:
                return await self._summarise_pieces(await run_sync(chunk_messages, messages, tokens))
            except ContextWindowExceeded:
                tokens //= 2
        return await self._summarise_pieces(await run_sync(chunk_messages, messages, tokens))

    async def _summarise_pieces(self, pieces: Sequence[str]) -> str:
        """Summarise the chunks in order, each together with the summary of the preceding ones."""
        summary = ""
        for number, piece in enumerate(pieces, 1):
            text = request_text(piece, summary, max_summary_words(self._window), self._wish)
            ask = partial(self._ask, text, is_last=number == len(pieces))
            reply = await ask_with_fallback(self._turn, lambda _, ask=ask: ask())
            summary = reply.message.text.strip()
            if not summary:
                raise BadReply("The model returned no summary.")
        return summary

    async def _ask(self, text: str, *, is_last: bool) -> ModelReply:
        turn, route = self._turn, self._turn.route
        if self._has_spoken:
            turn.emit(CompactionStarted(self._id, self._why, again=True))
            self._has_spoken = False
        request = ModelRequest(
            model=route.model,
            system=(SYSTEM,),
            messages=(UserMessage((TextPart(text),)),),
            max_output_tokens=turn.deps.model_use.max_output_tokens,
            effort=route.effort("low"),
        )
        words = StreamedText(turn, self._id)

        def hear(fragment: Fragment) -> None:
            if is_last and isinstance(fragment, TextFragment):
                self._has_spoken = True
                words.add(SummarySaid, fragment.text)

        try:
            reply = await stream_reply(turn, request, hear, words.flush_frames)
        finally:
            words.flush()
        self._charge(reply.usage)
        self._note_timing(reply.timing)
        if reply.finish == "refusal":
            raise ModelRefused(f"{route.model} declined to summarise the conversation.")
        return reply

    def _note_timing(self, timing: RequestTiming | None) -> None:
        """Extend the summary's measured time to the end of another request."""
        if timing and self._timing:
            took_s = timing.started_at + timing.took_s - self._timing.started_at
            timing = structs.replace(self._timing, took_s=took_s)
        self._timing = timing or self._timing

    def _charge(self, usage: Usage) -> None:
        cost_usd = model_catalog.cost_usd(usage, self._turn.route.facts)
        self._turn.spent.charge(usage, cost_usd)
        self._usage += usage
        if cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + cost_usd


def _failure(compaction_id: str, error: BaseException) -> CompactionFailed:
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return CompactionFailed(compaction_id, "cancelled", "Stopped. The conversation is unchanged.")
    if isinstance(error, ModelError):
        return CompactionFailed(
            compaction_id, "failed", f"The conversation was not shortened: {error.sentence()}"
        )
    return CompactionFailed(
        compaction_id, "failed", "An internal error in the agent. The conversation is unchanged."
    )


def to_markdown(done: HistoryCompacted | None, messages: Sequence[Message]) -> str:
    """Describe what a compaction saved, in Markdown; `messages` is the history after it."""
    if done is None:
        return "There is nothing to shorten: the conversation is already short."
    sizes = f"about {done.tokens_after:,} tokens instead of about {done.tokens_before:,}"
    if not done.summary:
        return f"Old tool outputs shortened: {len(done.shortened)}. The model's context window now holds {sizes}."
    gone = done.replaced - len(done.carried)
    return (
        f"Messages summarised: {gone}; kept unchanged: {len(messages) - 1}. "
        f"The model's context window now holds {sizes}. "
        "The conversation shown here and the session's record stay complete."
    )
