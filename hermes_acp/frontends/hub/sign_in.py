"""Sign in with an identity provider in a browser: to the provider and back, and a web session at the end.

The page receives its session's secret in the fragment of the address, which browsers do not send. A cookie ties the
answer to the browser that began; nothing else is recognised by a cookie, so no other site can use a signed-in browser.
"""

import secrets
import time
from collections import OrderedDict
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
ATTEMPT_S: Final = 600.0
MAX_ATTEMPTS: Final = 10_000


class SignInPath:
    """The paths of signing in and out."""

    BEGIN: Final = "/hub/sign-in"
    CALLBACK: Final = "/hub/callback"
    OUT: Final = "/hub/sign-out"


class SignIn:
    """The sign-ins that are under way."""

    def __init__(
        self, provider: IdentityProvider, accounts: AccountsCache, sessions: WebSessions, origin: str
    ) -> None:
        """Take where to look people up; `origin` is the address that people use."""
        self._provider = provider
        self._accounts = accounts
        self._sessions = sessions
        self._origin = origin
        self._attempts: OrderedDict[str, tuple[float, SignInAttempt]] = OrderedDict()

    async def begin(self) -> Response:
        """Send the browser to the provider. Raises Refusal."""
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
        answer = RedirectResponse(attempt.url, 303)
        is_secure = self._origin.startswith("https:")
        answer.set_cookie(
            COOKIE,
            key,
            int(ATTEMPT_S),
            path=SignInPath.CALLBACK,
            secure=is_secure,
            httponly=True,
            samesite="lax",
        )
        return answer

    async def finish(self, request: Request) -> tuple[Caller, Response]:
        """Return who signed in, and the answer that opens the page. Raises Refusal."""
        began, attempt = self._attempts.pop(request.cookies.get(COOKIE, ""), (-ATTEMPT_S, None))
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
        answer = RedirectResponse(f"/#token={secret}", 303)
        answer.delete_cookie(COOKIE, path=SignInPath.CALLBACK)
        return Caller(account, messages.by_web_session(session.id)), answer
