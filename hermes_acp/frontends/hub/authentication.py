"""Authenticate requests by a personal token, a web session, or a token of the identity provider."""

import time
from typing import Final

import anyio.to_thread
from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.frontends.hub import messages
from hermes_acp.frontends.hub.web_sessions import PREFIX, WebSession, WebSessions
from hermes_acp.users.accounts import Account, Accounts, AccountsFile, account_of
from hermes_acp.users.identity_provider import IdentityProvider, ProviderUnavailable
from hermes_acp.users.identity_tokens import TokenRefused
from hermes_acp.users.personal_tokens import find_token, looks_personal

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
UNAVAILABLE: Final = 503


class Refusal(Exception):
    """The refusal of a request; `reason` is for the sender, `detail` for the audit log."""

    def __init__(self, status: int, reason: str, detail: str = "", wait_s: float = 0.0) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.detail = detail
        self.wait_s = wait_s


class Caller(Struct, frozen=True):
    """The authenticated sender of a request, with the credential and its scopes.

    `expires_at` is in seconds since the epoch; 0 means that the credential never expires.
    """

    account: Account
    via: str
    scopes: tuple[str, ...] = ("acp",)
    expires_at: float = 0.0
    created_at: float = 0.0
    token_id: str = ""
    web_session: WebSession | None = None


class AccountsCache:
    """Caches the accounts; the file is read again only after it was replaced."""

    def __init__(self, file: AccountsFile) -> None:
        """Prepare without reading anything."""
        self._file = file
        self._stamp: tuple[int, int, int] | None = None
        self._accounts: Accounts = {}

    async def read(self) -> Accounts:
        """Return the current accounts by name. Raises Refusal if the file cannot be read."""
        try:
            return await anyio.to_thread.run_sync(self._read)
        except StorageError as error:
            raise Refusal(UNAVAILABLE, messages.ACCOUNTS_UNREADABLE, error.sentence()) from error

    def _read(self) -> Accounts:
        try:
            found = self._file.path.stat()
        except FileNotFoundError:
            self._stamp, self._accounts = None, {}
            return self._accounts
        except OSError:
            return self._file.read()
        stamp = found.st_ino, found.st_mtime_ns, found.st_size
        if stamp != self._stamp:
            self._accounts = self._file.read()
            self._stamp = stamp
        return self._accounts


class Authenticator:
    """Authenticates the senders of requests."""

    def __init__(
        self, accounts: AccountsCache, provider: IdentityProvider | None, sessions: WebSessions
    ) -> None:
        """Prepare with the places in which callers are looked up."""
        self._accounts = accounts
        self._provider = provider
        self._sessions = sessions

    async def caller_of(self, secret: str) -> Caller:
        """Return the caller that a secret authenticates. Raises Refusal."""
        accounts, now = await self._accounts.read(), time.time()
        if looks_personal(secret):
            if found := find_token(accounts, secret, now):
                account, token = found
                return Caller(
                    account,
                    messages.by_token(token.id),
                    token.scopes,
                    token.expires_at,
                    token.created_at,
                    token.id,
                )
        elif secret.startswith(PREFIX):
            session = self._sessions.find(secret, now)
            account = accounts.get(session.user) if session else None
            since = max(account.valid_from, account.created_at) if account else 0.0
            if session and account and session.created_at >= since:
                times = session.expires_at, session.created_at
                via = messages.by_web_session(session.id)
                return Caller(account, via, ("acp",), *times, web_session=session)
        elif self._provider:
            return await self._with_identity(self._provider, secret, accounts)
        raise Refusal(UNAUTHORIZED, messages.REFUSED, messages.UNKNOWN_TOKEN)

    async def is_valid(self, caller: Caller) -> bool:
        """Return whether an authenticated caller still has access."""
        account = (await self._accounts.read()).get(caller.account.name)
        if account is None or account.created_at != caller.account.created_at:
            return False  # the account was removed, or now belongs to another person with the same name
        if 0 < caller.expires_at <= time.time() or caller.created_at < account.valid_from:
            return False
        if caller.web_session:
            return self._sessions.has(caller.web_session)
        return not caller.token_id or account.token(caller.token_id) is not None

    async def _with_identity(self, provider: IdentityProvider, secret: str, accounts: Accounts) -> Caller:
        try:
            identity = await provider.identity_of(secret)
        except ProviderUnavailable as error:
            raise Refusal(UNAVAILABLE, messages.PROVIDER_UNAVAILABLE, str(error)) from error
        except TokenRefused as error:
            raise Refusal(UNAUTHORIZED, messages.REFUSED, str(error)) from error
        account = account_of(accounts, identity.subject)
        if account is None:
            raise Refusal(FORBIDDEN, messages.NO_ACCOUNT, messages.not_linked(identity.subject.subject))
        if identity.issued_at < account.valid_from:
            raise Refusal(UNAUTHORIZED, messages.REFUSED, messages.REVOKED)
        return Caller(account, messages.IDENTITY_TOKEN, ("acp",), identity.expires_at, identity.issued_at)
