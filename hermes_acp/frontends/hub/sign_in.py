"""Sign in through an identity provider in a browser: redirect to the provider and back, then start a web session.

The page receives its session's secret in the URL fragment, which browsers do not send. A cookie ties the response to
the browser that started the sign-in. Nothing else is authenticated by a cookie, so no other site can use a signed-in
browser.
"""

import secrets
import time
from collections import OrderedDict
from types import MappingProxyType
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hermes_acp.frontends.hub import messages
from hermes_acp.frontends.hub.authentication import (
    FORBIDDEN,
    UNAUTHORIZED,
    UNAVAILABLE,
    AccountsCache,
    Caller,
    Refusal,
)
from hermes_acp.frontends.hub.web_sessions import WebSessions
from hermes_acp.users.accounts import account_of
from hermes_acp.users.identity_provider import IdentityProvider, ProviderUnavailable, SignInAttempt
from hermes_acp.users.identity_tokens import TokenRefused

COOKIE: Final = "hermes-sign-in"
HOST_ONLY: Final = "__Host-"
"""A prefix with which browsers accept the cookie only from this host, not from others in its domain."""
NO_STORE: Final = MappingProxyType({"cache-control": "no-store", "referrer-policy": "no-referrer"})
ATTEMPT_S: Final = 600.0
MAX_ATTEMPTS: Final = 10_000


class SignInPath:
    """The URL paths for signing in and out."""

    BEGIN: Final = "/hub/sign-in"
    CALLBACK: Final = "/hub/callback"
    OUT: Final = "/hub/sign-out"


class SignIn:
    """The sign-ins in progress."""

    def __init__(
        self, provider: IdentityProvider, accounts: AccountsCache, sessions: WebSessions, origin: str
    ) -> None:
        """Prepare with the places in which people are looked up. `origin` is that of the public address."""
        self._provider = provider
        self._accounts = accounts
        self._sessions = sessions
        self._origin = origin
        self._is_secure = origin.startswith("https:")
        self._cookie = f"{HOST_ONLY}{COOKIE}" if self._is_secure else COOKIE
        self._attempts: OrderedDict[str, tuple[float, SignInAttempt]] = OrderedDict()

    async def begin(self) -> Response:
        """Redirect the browser to the provider. Raises Refusal."""
        try:
            attempt = await self._provider.begin(self._origin + SignInPath.CALLBACK)
        except TokenRefused as error:
            raise Refusal(UNAVAILABLE, messages.PROVIDER_UNAVAILABLE, str(error)) from error
        key, now = secrets.token_urlsafe(32), time.monotonic()
        while self._attempts and (
            len(self._attempts) >= MAX_ATTEMPTS or next(iter(self._attempts.values()))[0] + ATTEMPT_S < now
        ):
            self._attempts.popitem(last=False)
        self._attempts[key] = now, attempt
        answer = RedirectResponse(attempt.url, 303, NO_STORE)
        answer.set_cookie(
            self._cookie, key, int(ATTEMPT_S), secure=self._is_secure, httponly=True, samesite="lax"
        )
        return answer

    async def finish(self, request: Request) -> tuple[Caller, Response]:
        """Return the user who signed in, and the response that opens the page. Raises Refusal."""
        began, attempt = self._attempts.pop(request.cookies.get(self._cookie, ""), (-ATTEMPT_S, None))
        if attempt is None or began + ATTEMPT_S < time.monotonic():
            raise Refusal(UNAUTHORIZED, messages.SIGN_IN_EXPIRED, messages.NO_SIGN_IN)
        try:
            identity = await self._provider.finish(attempt, dict(request.query_params))
        except ProviderUnavailable as error:
            raise Refusal(UNAVAILABLE, messages.PROVIDER_UNAVAILABLE, str(error)) from error
        except TokenRefused as error:
            raise Refusal(UNAUTHORIZED, messages.SIGN_IN_REFUSED, str(error)) from error
        account = account_of(await self._accounts.read(), identity.subject)
        if account is None:
            raise Refusal(FORBIDDEN, messages.NO_ACCOUNT, messages.not_linked(identity.subject.subject))
        session, secret = self._sessions.begin(account.name, time.time())
        answer = RedirectResponse(f"/#token={secret}", 303, NO_STORE)
        answer.delete_cookie(self._cookie, secure=self._is_secure, httponly=True, samesite="lax")
        return Caller(account, messages.by_web_session(session.id)), answer
