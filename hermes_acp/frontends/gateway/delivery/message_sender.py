"""Send what is in the outbox on one platform: in order within a conversation, and as fast as the platform allows."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import msgspec
from anyio import to_thread
from msgspec import Struct

from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.delivery.rate_limit import RateLimit
from hermes_acp.frontends.gateway.port.platform_port import (
    Choice,
    Limits,
    OutgoingMessage,
    Place,
    Platform,
    PlatformError,
)
from hermes_acp.storage.gateway.outbox import BACKOFF_S, Outbox, OutboxEntry

MAX_ATTEMPTS: Final = 20
SEND_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.5
"""How often it looks for messages that another process stored."""
FORGET_EVERY_S: Final = 60.0


class SenderHooks(Struct, frozen=True):
    """What a sender asks and tells the rest of the gateway.

    `choices` returns the buttons of a message by our id; `delivered` learns the platform's id of one. `report` gets
    exceptions that no platform should raise.
    """

    choices: Callable[[str], tuple[Choice, ...]]
    delivered: Callable[[str, str], None]
    report: Callable[[BaseException], None]


class MessageSender:
    """The outgoing messages of one platform, for as long as it is connected."""

    def __init__(self, name: str, limits: Limits, outbox: Outbox, clock: Clock, hooks: SenderHooks) -> None:
        self._name = name
        self._limits = limits
        self._outbox = outbox
        self._clock = clock
        self._hooks = hooks
        self._rate = RateLimit(limits, clock.monotonic())
        self._busy: set[str] = set()
        self._news = anyio.Event()
        self.failures = 0

    def wake(self) -> None:
        """Look into the outbox again."""
        self._news.set()

    async def run(self, platform: Platform, changes: Callable[[], Awaitable[bool]]) -> None:
        """Send until cancelled. `changes` says whether another process has changed the outbox. Raises StorageError."""
        safe_since = self._clock.now() - self._limits.repeats_safely_s
        await to_thread.run_sync(self._outbox.recover, self._name, safe_since)
        self._busy.clear()
        next_erasure = 0.0
        async with anyio.create_task_group() as tasks:
            while True:
                self._news = anyio.Event()
                wait_s = await self._start_due(platform, tasks)
                if self._clock.monotonic() >= next_erasure:
                    next_erasure = self._clock.monotonic() + FORGET_EVERY_S
                    await to_thread.run_sync(self._outbox.forget_places, self._clock.now())
                await self._wait(wait_s, changes)

    async def _wait(self, wait_s: float, changes: Callable[[], Awaitable[bool]]) -> None:
        """Wait for news, for another process's messages, or until something is due."""
        ends_at = self._clock.monotonic() + wait_s
        while (left_s := ends_at - self._clock.monotonic()) > 0:
            with anyio.move_on_after(min(left_s, POLL_S)):
                await self._news.wait()
                return
            if await changes():
                return

    async def _start_due(self, platform: Platform, tasks: anyio.abc.TaskGroup) -> float:
        """Start sending the first message of each conversation; return how long nothing else can be done."""
        wait_s, seen = FORGET_EVERY_S, set(self._busy)
        for entry in await to_thread.run_sync(self._outbox.unsent, self._name):
            if entry.conversation in seen:
                continue
            seen.add(entry.conversation)
            if (due_s := entry.due_at - self._clock.now()) > 0:
                wait_s = min(wait_s, due_s)
                continue
            if (closed_s := self._rate.take(self._clock.monotonic())) > 0:
                return min(wait_s, closed_s)
            self._busy.add(entry.conversation)
            tasks.start_soon(self._send, platform, entry)
        return wait_s

    async def _send(self, platform: Platform, entry: OutboxEntry) -> None:
        try:
            await to_thread.run_sync(self._outbox.attempt, entry.number, self._clock.now())
            try:
                with anyio.fail_after(SEND_TIMEOUT_S):
                    message_id = await self._deliver(platform, entry)
            except PlatformError as error:
                await self._settle_failure(entry, error)
            except TimeoutError:
                await self._settle_failure(
                    entry, PlatformError(messages.NO_ANSWER_IN_TIME, may_have_arrived=True)
                )
            except Exception as error:
                self._hooks.report(error)
                reason = PlatformError(type(error).__name__, may_have_arrived=True)
                await self._settle_failure(entry, reason)
            else:
                now = self._clock.now()
                await to_thread.run_sync(self._outbox.delivered, entry.number, message_id, entry.text, now)
                self.failures = 0
                self._hooks.delivered(entry.id, message_id)
        finally:
            self._busy.discard(entry.conversation)
            self._news.set()

    async def _deliver(self, platform: Platform, entry: OutboxEntry) -> str:
        place = msgspec.json.decode(entry.place, type=Place)
        text = messages.sent_again(entry.text) if entry.is_doubtful else entry.text
        if not entry.message_id:
            key = await to_thread.run_sync(self._outbox.key_of, entry.id)
            message = OutgoingMessage(text, key, self._hooks.choices(entry.id))
            return await platform.say(place, message)
        if self._limits.can_edit:
            await platform.edit(place, entry.message_id, text)
        return entry.message_id

    async def _settle_failure(self, entry: OutboxEntry, error: PlatformError) -> None:
        now = self._clock.now()
        self.failures += 1
        has_asked = error.retry_after_s > 0
        if error.is_permanent or (entry.attempts >= MAX_ATTEMPTS and not has_asked):
            await to_thread.run_sync(self._outbox.fail, entry.number, error.reason, now)
            return
        wait_s = error.retry_after_s or BACKOFF_S[min(entry.attempts, len(BACKOFF_S) - 1)]
        if has_asked:
            self._rate.close(self._clock.monotonic() + wait_s)
        in_doubt = error.may_have_arrived and not entry.message_id and not self._limits.repeats_safely_s
        await to_thread.run_sync(
            lambda: self._outbox.retry(entry.number, now + wait_s, error.reason, in_doubt=in_doubt)
        )
