"""The accounts of a hub, in one file that is replaced as a whole.

An account belongs to one profile. A user who signs in is identified by the issuer and subject that the identity
provider asserts, never by a name or address, which can be reassigned. Functions that read or write block.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import Struct, structs

from hermes_acp.config.home_folders import is_profile_name
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import storage_error, write_private_text

HUB_FOLDER: Final = "hub"
FILE: Final = "users.json"
LOCK: Final = "users.lock"
NAME_HINT: Final = "Use up to 32 lower-case letters, digits, - and _."
LIST_HINT: Final = "List the users: hermes-acp users list"


class Subject(Struct, frozen=True):
    """A person as identified by an identity provider: the issuer's URL, and an ID that it never reuses."""

    issuer: str
    subject: str


class Quota(Struct, frozen=True, omit_defaults=True):
    """The quota of a user; None means no limit. Days and months are in UTC."""

    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    usd_per_day: float | None = None
    usd_per_month: float | None = None
    runs_per_day: int | None = None
    runs_per_month: int | None = None
    sessions: int | None = None
    """The maximum number of concurrently open sessions."""
    turns: int | None = None
    """The maximum number of concurrent turns."""


class PersonalToken(Struct, frozen=True, omit_defaults=True):
    """The data about a user's token, without the token itself. `expires_at` is 0 if it never expires."""

    id: str
    digest: str
    name: str = ""
    scopes: tuple[str, ...] = ("acp",)
    created_at: float = 0.0
    expires_at: float = 0.0


class Account(Struct, frozen=True, omit_defaults=True):
    """A user account.

    With `os_user`, the profile belongs to that operating system user, otherwise to the hub's. Anything issued before
    `valid_from` is no longer accepted.
    """

    name: str
    profile: str
    os_user: str = ""
    subjects: tuple[Subject, ...] = ()
    tokens: tuple[PersonalToken, ...] = ()
    quota: Quota = Quota()
    created_at: float = 0.0
    valid_from: float = 0.0

    def token(self, token_id: str) -> PersonalToken | None:
        """Return a token by its ID."""
        return next((token for token in self.tokens if token.id == token_id), None)


class _Stored(Struct, frozen=True):
    users: tuple[Account, ...] = ()
    version: int = 1


Accounts = Mapping[str, Account]


class AccountsFile:
    """The file of all accounts."""

    def __init__(self, folder: Path) -> None:
        """Initialise without reading anything; `folder` is the hub's folder."""
        self.folder = folder
        self.path = folder / FILE

    def read(self) -> Accounts:
        """Return the accounts by name. Raises StorageError for a file that cannot be read or understood."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return MappingProxyType({})
        except OSError as error:
            raise storage_error("read", self.path, error) from error
        try:
            stored = msgspec.json.decode(content, type=_Stored)
        except msgspec.MsgspecError as error:
            raise StorageError(
                f"{self.path} cannot be parsed: {error}.", hint="Restore it from a backup, or repair it."
            ) from error
        return MappingProxyType({account.name: account for account in stored.users})

    def change(self, change: Callable[[Accounts], Accounts]) -> Accounts:
        """Replace the accounts with the result of `change` and return it.

        Raises StorageError, and whatever `change` raises.
        """
        with file_lock(self.folder / LOCK):
            accounts = change(self.read())
            encoded = msgspec.json.encode(_Stored(tuple(accounts.values())))
            write_private_text(self.path, msgspec.json.format(encoded, indent=2).decode() + "\n")
        return accounts


def with_account(accounts: Accounts, account: Account) -> Accounts:
    """Return the accounts with one added or replaced."""
    return MappingProxyType({**accounts, account.name: account})


def known_account(accounts: Accounts, name: str) -> Account:
    """Return the account with the given name. Raises BadRequest."""
    if account := accounts.get(name):
        return account
    raise BadRequest(f"There is no user {name!r}.", hint=LIST_HINT)


def account_of(accounts: Accounts, subject: Subject) -> Account | None:
    """Return the account that belongs to an identity provider's subject."""
    return next((account for account in accounts.values() if subject in account.subjects), None)


def add_account(accounts: Accounts, account: Account) -> Accounts:
    """Return the accounts with a new one. Raises BadRequest for a bad or taken name, profile or subject."""
    if not is_profile_name(account.name):
        raise BadRequest(f"{account.name!r} is not a valid user name.", hint=NAME_HINT)
    if account.name in accounts:
        raise BadRequest(f"The user {account.name!r} already exists.", hint=LIST_HINT)
    if holder := next((each for each in accounts.values() if _home(each) == _home(account)), None):
        raise BadRequest(
            f"The profile {account.profile!r} already belongs to {holder.name!r}.",
            hint="Each user needs a profile of their own: name another one with --profile-name.",
        )
    for subject in account.subjects:
        _refuse_taken(accounts, subject)
    return with_account(accounts, structs.replace(account, created_at=time.time()))


def link_subject(accounts: Accounts, name: str, subject: Subject) -> Accounts:
    """Return the accounts with a subject added to one. Raises BadRequest."""
    account = known_account(accounts, name)
    _refuse_taken(accounts, subject)
    return with_account(accounts, structs.replace(account, subjects=(*account.subjects, subject)))


def remove_account(accounts: Accounts, name: str) -> Accounts:
    """Return the accounts without one. Raises BadRequest."""
    known_account(accounts, name)
    return MappingProxyType({key: each for key, each in accounts.items() if key != name})


def revoke_tokens(accounts: Accounts, name: str, token_id: str = "") -> Accounts:
    """Return the accounts with one token removed, or with everything issued to the user so far revoked.

    Raises BadRequest for an unknown user or token.
    """
    account = known_account(accounts, name)
    if not token_id:
        return with_account(accounts, structs.replace(account, tokens=(), valid_from=time.time()))
    if account.token(token_id) is None:
        raise BadRequest(
            f"{name!r} has no token {token_id!r}.", hint=f"List the tokens: hermes-acp users show {name}"
        )
    kept = tuple(token for token in account.tokens if token.id != token_id)
    return with_account(accounts, structs.replace(account, tokens=kept))


def _refuse_taken(accounts: Accounts, subject: Subject) -> None:
    if holder := account_of(accounts, subject):
        raise BadRequest(f"This subject already signs in as {holder.name!r}.", hint=LIST_HINT)


def _home(account: Account) -> tuple[str, str]:
    return account.os_user, account.profile
