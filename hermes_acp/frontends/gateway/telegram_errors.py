"""Convert the Telegram library's exceptions to PlatformError."""

from logging import LogRecord
from typing import Any, Final

from hermes_acp.frontends.gateway.port.platform_port import PlatformError

WAIT: Final = "_retry_after"
"""The private attribute with the wait time; the public one warns that its type will change."""
NOT_SENT: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""The exceptions that httpx raises before anything has reached the server."""


class TelegramErrors:
    """Converts the library's exceptions, some of which contain the token."""

    def __init__(self, library: Any, token: str) -> None:
        self.library = library
        self.base = library.error.TelegramError
        self.bad_request = library.error.BadRequest
        self.moved = library.error.ChatMigrated
        self.secret = token.rpartition(":")[2]

    def is_without_token(self, record: LogRecord) -> bool:
        """Return whether a log record does not contain the token."""
        return self.secret not in record.getMessage()

    def found(self, error: Exception) -> PlatformError:
        """Convert an exception to a PlatformError."""
        kinds = self.library.error
        reason = str(error).replace(self.secret, "…") or type(error).__name__
        if isinstance(error, kinds.RetryAfter):
            wait: Any = getattr(error, WAIT)
            return PlatformError(reason, retry_after_s=wait.total_seconds())
        if isinstance(error, (kinds.BadRequest, kinds.Forbidden)):
            return PlatformError(reason, is_permanent=True)
        is_sent = type(error.__cause__).__name__ not in NOT_SENT
        return PlatformError(reason, may_have_arrived=isinstance(error, kinds.NetworkError) and is_sent)
