"""Store notifications for their targets, and send them.

The work being reported never waits for sending: failures are only stored in the ledger. All blocking work is done in
worker threads; at most four notifications are sent at a time, each with a time limit.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
from anyio import CapacityLimiter, to_thread
from msgspec import Struct

from hermes_acp.config.sections.notification_settings import GATEWAY
from hermes_acp.core.errors import NotificationError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.notification_ports import (
    Destination,
    Notification,
    NotificationKind,
    NotificationSender,
)
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.notifications.delivery_ledger import Delivery, DeliveryLedger
from hermes_acp.notifications.message_texts import message_of, sent_again

SERVICES: Final = "hermes_acp.notifications.services"
SEND_TIMEOUT_S: Final = 30.0
LEASE_S: Final = 60.0
"""The time in seconds after which an attempt counts as abandoned; longer than any attempt of a live process takes."""
MAX_WAIT_S: Final = 300.0
MAX_AT_ONCE: Final = 4
MAX_POSTED: Final = 1_000
CHOICE_POLL_S: Final = 2.0


class NotificationTarget(Struct, frozen=True):
    """A notification target: its name, its service, its destination, and the events to report to it."""

    name: str
    service: str
    destination: Destination
    kinds: frozenset[NotificationKind]


class NotificationPlan(Struct, frozen=True):
    """The current targets, and how to mask secrets."""

    targets: Sequence[NotificationTarget]
    clean: Callable[[str], str]


class NotificationTimes(Struct, frozen=True):
    """Time limits for an attempt, in seconds: when it is aborted, and when other processes treat it as abandoned."""

    send_timeout_s: float = SEND_TIMEOUT_S
    lease_s: float = LEASE_S


class NotificationService:
    """The notifications of a home folder. Several processes may use them concurrently."""

    def __init__(
        self,
        home: Path,
        read_plan: Callable[[], NotificationPlan],
        clock: Clock,
        *,
        times: NotificationTimes | None = None,
    ) -> None:
        """Store the arguments; nothing is opened until first use. `read_plan` blocks and raises ConfigError."""
        self.ledger = DeliveryLedger(home)
        self._home = home
        self._read_plan = read_plan
        self._clock = clock
        self._posted: deque[Notification] = deque(maxlen=MAX_POSTED)
        self._times = times or NotificationTimes()
        self._limiter: CapacityLimiter | None = None
        self._is_sending = False
        self._has_news = anyio.Event()

    def post(self, notification: Notification) -> None:
        """Queue a notification for `keep`, which stores and sends it. Never blocks or raises."""
        self._posted.append(notification)
        self._has_news.set()

    async def notify(self, notification: Notification, only: str = "", *, chosen: Sequence[str] = ()) -> int:
        """Store a notification for its targets, or for `only` one of them; return how many targets did not have it yet.

        If targets were `chosen`, only they receive it.

        Raises ConfigError or StorageError.
        """
        plan = await to_thread.run_sync(self._read_plan)
        names = list(chosen) or [
            target.name
            for target in plan.targets
            if target.name == (only or target.name) and notification.kind in target.kinds
        ]
        if not names:
            return 0
        message, now = message_of(notification, plan.clean), self._clock.now()
        added = await to_thread.run_sync(self.ledger.add, notification, message, names, now)
        self._has_news.set()
        return added

    async def send_all(self) -> None:
        """Send until nothing is left, waiting for retries. Raises ConfigError or StorageError."""
        if self._is_sending:
            return
        self._is_sending = True
        try:
            while True:
                self._has_news = anyio.Event()
                while self._posted:
                    await self.notify(self._posted[0])
                    self._posted.popleft()
                await self.send_due()
                due_at = await to_thread.run_sync(self.ledger.next_due)
                if due_at is None:
                    return
                with anyio.move_on_after(min(max(0.05, due_at - self._clock.now()), MAX_WAIT_S)):
                    await self._has_news.wait()
        finally:
            self._is_sending = False

    async def keep(self) -> None:
        """Store queued notifications and send stored ones, until cancelled. Raises ConfigError or StorageError."""
        while True:
            await self.send_all()
            await self._has_news.wait()

    async def has_pending(self) -> bool:
        """Return whether any notifications are still to be sent. Raises StorageError."""
        return await to_thread.run_sync(self.ledger.next_due) is not None

    async def has_targets(self) -> bool:
        """Return whether the settings contain any targets. Raises ConfigError."""
        return bool((await to_thread.run_sync(self._read_plan)).targets)

    async def chosen(self, source: str) -> tuple[Sequence[str], float]:
        """Return the targets that were chosen for a source, and when. Raises StorageError."""
        return await to_thread.run_sync(self.ledger.chosen, source)

    async def choose(self, source: str, targets: Sequence[str]) -> None:
        """Send reports about a source only to these targets. Raises StorageError."""
        await to_thread.run_sync(self.ledger.choose, source, targets, self._clock.now())

    async def has_choices(self) -> bool:
        """Return whether targets have ever been chosen for anything. Raises StorageError."""
        return await to_thread.run_sync(self.ledger.has_choices)

    async def wait_for_choice(self) -> None:
        """Wait until targets have been chosen for anything. Raises StorageError."""
        while not await self.has_choices():
            await anyio.sleep(CHOICE_POLL_S)

    async def position(self, source: str) -> int | None:
        """Return the position up to which a source's changes have been reported, or None. Raises StorageError."""
        return await to_thread.run_sync(self.ledger.position, source)

    async def advance(self, source: str, position: int) -> None:
        """Store the position up to which a source's changes have been reported. Raises StorageError."""
        await to_thread.run_sync(self.ledger.advance, source, position)

    async def send_due(self) -> int:
        """Attempt the deliveries that are due; return the number of attempts. Raises ConfigError or StorageError."""
        plan = await to_thread.run_sync(self._read_plan)
        targets = {target.name: target for target in plan.targets}
        claimed = await to_thread.run_sync(self.ledger.claim, self._clock.now(), self._times.lease_s)
        async with anyio.create_task_group() as tasks:
            for delivery in claimed:
                tasks.start_soon(self._attempt, delivery, targets)
        return len(claimed)

    async def _attempt(self, delivery: Delivery, targets: Mapping[str, NotificationTarget]) -> None:
        error, retryable, in_doubt = "", False, False
        try:
            with anyio.fail_after(self._times.send_timeout_s):
                await self._send(delivery, targets.get(delivery.target) or self._ad_hoc(delivery.target))
        except NotificationError as failure:
            error, retryable = failure.message, failure.retryable
        except TimeoutError:
            error, retryable, in_doubt = "The service did not answer in time.", True, True

        def settle() -> None:
            self.ledger.settle(delivery, self._clock.now(), error, retryable=retryable, in_doubt=in_doubt)

        await to_thread.run_sync(settle)

    def _ad_hoc(self, name: str) -> NotificationTarget | None:
        """Return a target for a gateway destination that was named without being in the settings."""
        service, _, to = name.partition(":")
        is_place = service == GATEWAY and bool(to)
        return (
            NotificationTarget(name, service, Destination(self._home, to=to), frozenset())
            if is_place
            else None
        )

    async def _send(self, delivery: Delivery, target: NotificationTarget | None) -> None:
        if target is None:
            raise NotificationError("The target is no longer in the settings.")
        sender = sender_of(target.service)
        message = sent_again(delivery.message) if delivery.is_doubtful else delivery.message
        if self._limiter is None:
            self._limiter = CapacityLimiter(MAX_AT_ONCE)
        await to_thread.run_sync(
            sender.send,
            target.destination,
            message,
            self._times.send_timeout_s,
            abandon_on_cancel=True,
            limiter=self._limiter,
        )


def sender_of(service: str) -> NotificationSender:
    """Return the plugin for a service. Raises KeyError for an unknown name."""
    senders: PluginFolder[NotificationSender] = PluginFolder(SERVICES, "SERVICE")
    return senders.open(service)
