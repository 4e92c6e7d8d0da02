"""Track open connections, and end each soon after its user has lost access."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import anyio

from hermes_acp.frontends.hub import messages
from hermes_acp.frontends.hub.authentication import UNAUTHORIZED, Authenticator, Caller, Refusal

RECHECK_S: Final = 2.0
"""The interval at which it is checked whether users still have access."""


class OpenConnections:
    """The open requests and WebSockets, with their callers."""

    def __init__(self, authenticator: Authenticator) -> None:
        """Start without any connections."""
        self._authenticator = authenticator
        self._callers: dict[anyio.CancelScope, Caller] = {}
        self._has_some = anyio.Event()

    @contextmanager
    def held_by(self, caller: Caller) -> Generator[None]:
        """Track a connection while it is open. Raises Refusal once its user loses access."""
        scope = anyio.CancelScope()
        self._callers[scope] = caller
        self._has_some.set()
        try:
            with scope:
                yield
        finally:
            del self._callers[scope]
        if scope.cancelled_caught:
            raise Refusal(
                UNAUTHORIZED, messages.REFUSED, messages.no_longer_valid(caller.account.name, caller.via)
            )

    async def keep(self) -> None:
        """Recheck the open connections periodically until cancelled."""
        while True:
            if not self._callers:
                self._has_some = anyio.Event()
                await self._has_some.wait()
            await anyio.sleep(RECHECK_S)
            for scope, caller in tuple(self._callers.items()):
                try:
                    is_valid = await self._authenticator.is_valid(caller)
                except Refusal:
                    continue  # the accounts cannot be read at the moment, so new requests are refused anyway
                if not is_valid:
                    scope.cancel()
