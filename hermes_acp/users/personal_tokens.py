"""Personal tokens, which consist of an ID for lookup and 256 random bits.

Only a digest is stored. A fast digest suffices, because random bits cannot be guessed.
"""

import hmac
import re
import secrets
import time
from hashlib import sha256
from typing import Final

from msgspec import Struct, structs

from hermes_acp.users.accounts import Account, Accounts, PersonalToken, known_account, with_account

FORM: Final = re.compile(r"hermes_pat_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
DAY_S: Final = 86_400.0


class NewToken(Struct, frozen=True):
    """A newly created token; `secret` is shown once and never stored."""

    token: PersonalToken
    secret: str


def looks_personal(secret: str) -> bool:
    """Return whether a string has the form of a personal token."""
    return FORM.fullmatch(secret) is not None


def make_token(name: str, scopes: tuple[str, ...], days: float | None) -> NewToken:
    """Return a new token, which expires after the given number of days, or never."""
    token_id, now = secrets.token_hex(6), time.time()
    secret = f"hermes_pat_{token_id}_{secrets.token_urlsafe(32)}"
    expires_at = 0.0 if days is None else now + days * DAY_S
    return NewToken(PersonalToken(token_id, _digest(secret), name, scopes, now, expires_at), secret)


def add_token(accounts: Accounts, name: str, token: PersonalToken) -> Accounts:
    """Return the accounts with a token added to one. Raises BadRequest."""
    account = known_account(accounts, name)
    return with_account(accounts, structs.replace(account, tokens=(*account.tokens, token)))


def find_token(accounts: Accounts, secret: str, now: float) -> tuple[Account, PersonalToken] | None:
    """Return the account and token that a string belongs to, or None if it is unknown, revoked or expired."""
    form = FORM.fullmatch(secret)
    if form is None:
        return None
    for account in accounts.values():
        token = account.token(form[1])
        if token and hmac.compare_digest(token.digest, _digest(secret)):
            return (account, token) if is_valid(account, token, now) else None
    return None


def is_valid(account: Account, token: PersonalToken, now: float) -> bool:
    """Return whether an account's token is valid now."""
    return token.created_at >= account.valid_from and not 0 < token.expires_at <= now


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
