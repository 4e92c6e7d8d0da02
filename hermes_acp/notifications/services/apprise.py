"""Send through Apprise: mail, chats, phones and more than a hundred other services, each addressed by a URL.

The library takes most of a second to load, so it is imported for the first message. Source: the documentation of
Apprise, "Development API".
"""

import logging
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from hermes_acp.core.errors import NotificationError
from hermes_acp.core.ports.notification_ports import Destination, OutgoingMessage

NOT_AN_ADDRESS: Final = "The address is not a URL that Apprise supports."
REFUSED: Final = "The service could not be reached, or refused the message."


class AppriseSender:
    """Sends messages through the Apprise library."""

    needs_address = True

    def fault(self, address: str) -> str:
        """Return why an address cannot be used, or an empty string."""
        if find_spec("apprise") is None:
            from hermes_acp.config.installation import extra_hint

            return f"Apprise is not installed. {extra_hint('notify')}"
        return "" if self._instance(address, 1.0) else NOT_AN_ADDRESS

    def send(self, destination: Destination, message: OutgoingMessage, timeout_s: float) -> None:
        """Send a message; each connection and each response gets a share of the time limit."""
        address = destination.address
        if fault := self.fault(address):
            raise NotificationError(fault)
        wait_s, began = timeout_s / 3, time.monotonic()
        library: Any = import_module("apprise")
        sender = library.Apprise(self._instance(address, wait_s))  # catches exceptions from plugins
        is_sent = bool(sender.notify(title=message.title, body=message.body, body_format="text"))
        if not is_sent and time.monotonic() - began >= wait_s:
            raise TimeoutError  # the library does not distinguish a missing response from a refusal
        if not is_sent:
            raise NotificationError(REFUSED, retryable=True)

    @staticmethod
    def _instance(address: str, timeout_s: float) -> Any:
        # The library logs to standard error, and its log can contain parts of addresses.
        logger = logging.getLogger("apprise")
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        library: Any = import_module("apprise")
        asset = library.AppriseAsset(
            app_id="hermes-acp", app_desc="hermes-acp", app_url="", async_mode=False, secure_logging=True
        )
        instance = library.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
        if instance is not None:
            instance.socket_connect_timeout = instance.socket_read_timeout = timeout_s
        return instance


SERVICE = AppriseSender()
