"""Send through the gateway's chat platforms: to a room in which it answers, or to a person it has admitted.

The message is stored in the gateway's database under its ID, so it is sent only once, however often it is stored. It
counts as delivered once the platform has accepted it.
"""

import time
from typing import Final

from hermes_acp.core.errors import NotificationError
from hermes_acp.core.ports.notification_ports import Destination, OutgoingMessage
from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.notices import Notice, Notices

POLL_S: Final = 0.2
MAX_WAIT_S: Final = 15.0
NOT_SENT_YET: Final = "The gateway has not sent it yet: it is not running or not connected."
FAILED: Final = "The gateway could not send it: {reason}"


class GatewaySender:
    """Passes messages to the gateway of the same home folder."""

    needs_address = False

    def fault(self, address: str) -> str:
        """Return an empty string, because only the gateway knows whom it can reach."""
        return ""

    def send(self, destination: Destination, message: OutgoingMessage, timeout_s: float) -> None:
        """Pass a message to the gateway, and wait until it has been sent."""
        database = GatewayDatabase(destination.home)
        notices = Notices(database)
        notice = Notice(
            message.id,
            destination.to,
            f"{message.title}\n{message.body}",
            message.session_id,
            asks=message.kind == "input_required" and bool(message.session_id),
        )
        ends_at = time.monotonic() + min(timeout_s / 2, MAX_WAIT_S)
        try:
            notices.add(notice, time.time())
            while (outcome := notices.outcome(notice))[0] == "waiting":
                if time.monotonic() >= ends_at:
                    raise NotificationError(NOT_SENT_YET, retryable=True)
                time.sleep(POLL_S)
        finally:
            database.close()
        if outcome[0] == "failed":
            raise NotificationError(FAILED.format(reason=outcome[1]))


SERVICE = GatewaySender()
