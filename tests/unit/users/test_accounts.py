"""Accounts, their tokens and subjects, and the file that keeps them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from msgspec import structs

from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.users.accounts import (
    Account,
    Accounts,
    AccountsFile,
    Subject,
    account_of,
    add_account,
    link_subject,
    remove_account,
    revoke_tokens,
)
from hermes_acp.users.personal_tokens import add_token, find_token, looks_personal, make_token

ALICE = Account("alice", "alice")
THERE = Subject("https://login.example", "00u1")


def known(*accounts: Account) -> Accounts:
    found: Accounts = {}
    for account in accounts:
        found = add_account(found, account)
    return found


def test_the_file_is_private_and_contains_no_token(tmp_path: Path) -> None:
    file, made = AccountsFile(tmp_path), make_token("laptop", ("acp",), 90)
    assert not file.read()
    file.change(lambda accounts: add_account(accounts, ALICE))
    file.change(lambda accounts: add_token(accounts, "alice", made.token))
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert made.secret not in file.path.read_text()
    assert made.secret.rpartition("_")[2] not in file.path.read_text()
    assert find_token(AccountsFile(tmp_path).read(), made.secret, time.time()) is not None


def test_a_damaged_file_is_reported_and_admits_nobody(tmp_path: Path) -> None:
    file = AccountsFile(tmp_path)
    file.path.write_text('{"users": [{"name": ')
    with pytest.raises(StorageError, match="cannot be parsed"):
        file.read()


@pytest.mark.parametrize(
    "other",
    [
        Account("alice", "other"),
        Account("bob", "alice"),
        Account("Bob", "bob"),
        Account("../bob", "bob"),
        Account("", "bob"),
    ],
)
def test_names_and_profiles_are_unique(other: Account) -> None:
    with pytest.raises(BadRequest):
        add_account(known(ALICE), other)


def test_the_same_profile_name_of_another_os_user_is_another_home() -> None:
    accounts = known(Account("alice", "default", "alice"), Account("bob", "default", "bob"))
    assert set(accounts) == {"alice", "bob"}


def test_a_subject_belongs_to_one_account_and_to_its_issuer() -> None:
    accounts = link_subject(known(ALICE, Account("bob", "bob")), "alice", THERE)
    assert account_of(accounts, THERE) == accounts["alice"]
    assert account_of(accounts, Subject("https://other.example", THERE.subject)) is None
    assert account_of(accounts, Subject(THERE.issuer, THERE.subject.upper())) is None
    with pytest.raises(BadRequest, match="alice"):
        link_subject(accounts, "bob", THERE)


def test_strings_that_match_no_token() -> None:
    made = make_token("", ("acp",), 1)
    accounts = add_token(known(ALICE), "alice", made.token)
    now = time.time()
    found = find_token(accounts, made.secret, now)
    assert found is not None
    assert found[0].name == "alice"
    other = make_token("", ("acp",), 1).secret
    for wrong in (
        "",
        made.secret[:-1],
        made.secret + "A",
        made.secret.upper(),
        made.token.digest,
        f"hermes_pat_{made.token.id}_{other.rpartition('_')[2]}",
        other,
        f" {made.secret}",
        f"{made.secret}\n",
    ):
        assert find_token(accounts, wrong, now) is None
    assert find_token(accounts, made.secret, now + 2 * 86_400) is None
    assert looks_personal(made.secret)
    assert not looks_personal("eyJhbGciOiJub25lIn0.e30.")


def test_a_revoked_token_or_user_is_not_accepted() -> None:
    one, two = make_token("", ("acp",), 1), make_token("", ("acp",), None)
    accounts = add_token(add_token(known(ALICE), "alice", one.token), "alice", two.token)
    accounts = revoke_tokens(accounts, "alice", one.token.id)
    now = time.time()
    assert find_token(accounts, one.secret, now) is None
    assert find_token(accounts, two.secret, now) is not None
    assert find_token(revoke_tokens(accounts, "alice"), two.secret, now) is None
    assert find_token(remove_account(accounts, "alice"), two.secret, now) is None
    late = structs.replace(accounts["alice"], valid_from=now + 1)
    assert find_token({"alice": late}, two.secret, now) is None
    with pytest.raises(BadRequest, match="no token"):
        revoke_tokens(accounts, "alice", one.token.id)


def test_a_later_field_of_the_file_does_not_stop_this_version(tmp_path: Path) -> None:
    file = AccountsFile(tmp_path)
    file.change(lambda accounts: add_account(accounts, ALICE))
    stored = json.loads(file.path.read_text())
    stored["users"][0]["later"] = 1
    file.path.write_text(json.dumps(stored))
    assert set(file.read()) == {"alice"}
