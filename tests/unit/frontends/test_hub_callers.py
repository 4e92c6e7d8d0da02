"""Admission to a hub: what ends a credential also ends its connections."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hermes_acp.frontends.hub.authentication import AccountsCache, Authenticator, Caller, Refusal
from hermes_acp.frontends.hub.web_sessions import WebSessions
from hermes_acp.users.accounts import Account, AccountsFile, add_account, remove_account, revoke_tokens
from hermes_acp.users.personal_tokens import add_token, make_token

pytestmark = pytest.mark.anyio


class Stage:
    """A hub's users and web sessions."""

    def __init__(self, folder: Path) -> None:
        self.file = AccountsFile(folder)
        self.sessions = WebSessions(hours=1)
        self.authenticator = Authenticator(AccountsCache(self.file), None, self.sessions)
        self.add("anna")

    def add(self, name: str) -> None:
        self.file.change(lambda accounts: add_account(accounts, Account(name, name)))

    def remove(self, name: str) -> None:
        self.file.change(lambda accounts: remove_account(accounts, name))

    async def signed_in(self) -> tuple[str, Caller]:
        secret = self.sessions.begin("anna", time.time())[1]
        return secret, await self.authenticator.caller_of(secret)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def test_signing_out_ends_open_connections(stage: Stage) -> None:
    secret, caller = await stage.signed_in()
    other = (await stage.signed_in())[1]
    assert await stage.authenticator.is_valid(caller)
    stage.sessions.end(secret)
    assert not await stage.authenticator.is_valid(caller)
    assert await stage.authenticator.is_valid(other)


async def test_a_new_user_of_the_same_name_inherits_no_web_session(stage: Stage) -> None:
    secret, caller = await stage.signed_in()
    stage.remove("anna")
    stage.add("anna")
    with pytest.raises(Refusal):
        await stage.authenticator.caller_of(secret)
    assert not await stage.authenticator.is_valid(caller)


async def test_a_new_user_of_the_same_name_inherits_no_open_connection(stage: Stage) -> None:
    made = make_token("laptop", ("acp",), None)
    stage.file.change(lambda accounts: add_token(accounts, "anna", made.token))
    caller = await stage.authenticator.caller_of(made.secret)
    assert await stage.authenticator.is_valid(caller)
    stage.remove("anna")
    stage.add("anna")
    stage.file.change(lambda accounts: add_token(accounts, "anna", made.token))
    assert not await stage.authenticator.is_valid(caller)


async def test_revoking_everything_ends_web_sessions(stage: Stage) -> None:
    secret, caller = await stage.signed_in()
    stage.file.change(lambda accounts: revoke_tokens(accounts, "anna"))
    with pytest.raises(Refusal):
        await stage.authenticator.caller_of(secret)
    assert not await stage.authenticator.is_valid(caller)


@pytest.mark.parametrize("secret", ["", "hermes_web_", "hermes_web_" + "A" * 43, "hermes_pat_", "a.b.c"])
async def test_nothing_else_admits_anybody(stage: Stage, secret: str) -> None:
    await stage.signed_in()
    with pytest.raises(Refusal):
        await stage.authenticator.caller_of(secret)
