"""Send one platform's messages from the outbox, in order within a conversation and as fast as the platform allows."""

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
    FilePlatform,
    Limits,
    OutgoingFile,
    OutgoingMessage,
    Place,
    Platform,
    PlatformError,
)
from hermes_acp.storage.gateway.outbox import BACKOFF_S, Outbox, OutboxEntry, OutgoingPart
from hermes_acp.storage.gateway.outgoing_files import PREFIX, OutgoingFiles, StoredFile

MAX_ATTEMPTS: Final = 20
SEND_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.5
"""The interval at which the sender checks for messages that another process has stored."""
ERASE_INTERVAL_S: Final = 60.0


class SenderHooks(Struct, frozen=True):
    """A sender's callbacks to the rest of the gateway.

    `choices` returns the buttons for our ID of a message. `delivered` is called with our ID and the platform's ID of a
    sent message. `report` is called with exceptions that a platform should not raise.
    """

    choices: Callable[[str], tuple[Choice, ...]]
    delivered: Callable[[str, str], None]
    report: Callable[[BaseException], None]


class SenderQueue(Struct, frozen=True):
    """The messages to send, and the contents of the files among them."""

    outbox: Outbox
    files: OutgoingFiles


class MessageSender:
    """Sends the messages of one platform while it is connected."""

    def __init__(
        self, name: str, limits: Limits, queue: SenderQueue, clock: Clock, hooks: SenderHooks
    ) -> None:
        self._name = name
        self._limits = limits
        self._outbox = queue.outbox
        self._files = queue.files
        self._clock = clock
        self._hooks = hooks
        self._rate = RateLimit(limits, clock.monotonic())
        self._busy: set[str] = set()
        self._news = anyio.Event()
        self.failures = 0

    def wake(self) -> None:
        """Make the sender check the outbox again."""
        self._news.set()

    async def run(self, platform: Platform, changes: Callable[[], Awaitable[bool]]) -> None:
        """Send until cancelled; `changes` returns whether another process changed the outbox. Raises StorageError."""
        safe_since = self._clock.now() - self._limits.repeats_safely_s
        await to_thread.run_sync(self._outbox.recover, self._name, safe_since)
        self._busy.clear()
        next_erasure = 0.0
        async with anyio.create_task_group() as tasks:
            while True:
                self._news = anyio.Event()
                wait_s = await self._start_due(platform, tasks)
                if self._clock.monotonic() >= next_erasure:
                    next_erasure = self._clock.monotonic() + ERASE_INTERVAL_S
                    await to_thread.run_sync(self._outbox.erase, self._clock.now())
                await self._wait(wait_s, changes)

    async def _wait(self, wait_s: float, changes: Callable[[], Awaitable[bool]]) -> None:
        """Wait for a wake-up, for another process's messages, or until something is due."""
        ends_at = self._clock.monotonic() + wait_s
        while (left_s := ends_at - self._clock.monotonic()) > 0:
            with anyio.move_on_after(min(left_s, POLL_S)):
                await self._news.wait()
                return
            if await changes():
                return

    async def _start_due(self, platform: Platform, tasks: anyio.abc.TaskGroup) -> float:
        """Start sending the first message of each conversation; return how long to wait before the next check."""
        wait_s, seen = ERASE_INTERVAL_S, set(self._busy)
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
                if not isinstance(error, OSError):
                    self._hooks.report(error)
                reason = PlatformError(type(error).__name__, may_have_arrived=True)
                await self._settle_failure(entry, reason)
            else:
                now = self._clock.now()
                await to_thread.run_sync(self._outbox.delivered, entry.number, message_id, entry.text, now)
                self.failures = 0
                if entry.id.startswith(PREFIX):
                    await to_thread.run_sync(self._files.forget, entry.id)
                self._hooks.delivered(entry.id, message_id)
        finally:
            self._busy.discard(entry.conversation)
            self._news.set()

    async def _deliver(self, platform: Platform, entry: OutboxEntry) -> str:
        place = msgspec.json.decode(entry.place, type=Place)
        if entry.id.startswith(PREFIX):
            return entry.message_id or await self._deliver_file(platform, place, entry)
        text = messages.sent_again(entry.text) if entry.is_doubtful else entry.text
        if not entry.message_id:
            key = await to_thread.run_sync(self._outbox.key_of, entry.id)
            message = OutgoingMessage(text, key, self._hooks.choices(entry.id))
            return await platform.say(place, message)
        if self._limits.can_edit:
            await platform.edit(place, entry.message_id, text)
        return entry.message_id

    async def _deliver_file(self, platform: Platform, place: Place, entry: OutboxEntry) -> str:
        file = msgspec.json.decode(entry.text, type=StoredFile)
        content = await to_thread.run_sync(self._files.read, entry.id)
        if content is None:
            raise PlatformError(messages.FILE_GONE, is_permanent=True)
        if not isinstance(platform, FilePlatform):
            raise PlatformError(messages.NO_FILES, is_permanent=True)
        if entry.is_doubtful:
            again = await to_thread.run_sync(self._outbox.key_of, f"again:{entry.id}")
            await platform.say(place, OutgoingMessage(messages.sent_again(file.name), again))
        key = await to_thread.run_sync(self._outbox.key_of, entry.id)
        return await platform.send_file(place, OutgoingFile(file.name, file.mime_type, content, key))

    async def _give_up_file(self, entry: OutboxEntry, reason: str, now: float) -> None:
        """Tell people that a file will not arrive."""
        file = msgspec.json.decode(entry.text, type=StoredFile)
        await to_thread.run_sync(self._files.forget, entry.id)
        text = messages.file_not_sent(file.name, reason)
        part = OutgoingPart(f"no-{entry.id}", entry.platform, entry.conversation, entry.place, text)
        await to_thread.run_sync(self._outbox.put, part, now)

    async def _settle_failure(self, entry: OutboxEntry, error: PlatformError) -> None:
        now = self._clock.now()
        self.failures += 1
        has_asked = error.retry_after_s > 0
        if error.is_permanent or (entry.attempts >= MAX_ATTEMPTS and not has_asked):
            await to_thread.run_sync(self._outbox.fail, entry.number, error.reason, now)
            if entry.id.startswith(PREFIX):
                await self._give_up_file(entry, error.reason, now)
            return
        wait_s = error.retry_after_s or BACKOFF_S[min(entry.attempts, len(BACKOFF_S) - 1)]
        if has_asked:
            self._rate.close(self._clock.monotonic() + wait_s)
        in_doubt = error.may_have_arrived and not entry.message_id and wait_s > self._limits.repeats_safely_s
        await to_thread.run_sync(
            lambda: self._outbox.retry(entry.number, now + wait_s, error.reason, in_doubt=in_doubt)
        )
