"""The `hermes-acp users` command: manage the users of a hub, their profiles, tokens and quotas."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hermes_acp.config.environment import environment_of_profile
from hermes_acp.config.home_folders import DEFAULT_PROFILE, profile_home, profile_names
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import escaped, exact_time, local_time, note, print_json
from hermes_acp.frontends.cli.messages import command_messages
from hermes_acp.frontends.cli.users import messages as user_messages
from hermes_acp.users.scopes import DEFAULT_DAYS, SCOPES

if TYPE_CHECKING:
    from hermes_acp.users.accounts import Account, Accounts, AccountsFile, Quota, Subject

LIMITS: Final = (
    ("tokens_per_day", int),
    ("tokens_per_month", int),
    ("usd_per_day", float),
    ("usd_per_month", float),
    ("runs_per_day", int),
    ("runs_per_month", int),
    ("sessions", int),
    ("turns", int),
)


def add_users(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, about: str) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=about)
        if name != "list":
            made.add_argument("name", metavar="NAME", help=user_messages.NAME_HELP)
        return made

    add = action("add", user_messages.ADD_HELP)
    add.add_argument("--profile-name", metavar="PROFILE", default="", help=user_messages.PROFILE_HELP)
    add.add_argument("--os-user", metavar="USER", default="", help=user_messages.OS_USER_HELP)
    listing = action("list", user_messages.LIST_HELP)
    show = action("show", user_messages.SHOW_HELP)
    link = action("link", user_messages.LINK_HELP)
    for each in (add, link):
        each.add_argument("--issuer", metavar="URL", default="", help=user_messages.ISSUER_HELP)
        each.add_argument(
            "--subject", metavar="ID", default="", required=each is link, help=user_messages.SUBJECT_HELP
        )
    for each in (add, action("quota", user_messages.QUOTA_HELP)):
        for name, kind in LIMITS:
            flag = f"--{name.replace('_', '-')}"
            each.add_argument(flag, metavar="N", type=_limit(kind), help=user_messages.QUOTA_VALUE_HELP)
    action("remove", user_messages.REMOVE_HELP)
    _add_tokens(action("token", user_messages.TOKEN_HELP), action("revoke", user_messages.REVOKE_HELP))
    for each in (listing, show):
        each.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def _add_tokens(token: argparse.ArgumentParser, revoke: argparse.ArgumentParser) -> None:
    token.add_argument("--label", metavar="TEXT", default="", help=user_messages.LABEL_HELP)
    ends = token.add_mutually_exclusive_group()
    days_help = user_messages.DAYS_HELP.format(default=DEFAULT_DAYS)
    ends.add_argument("--days", type=float, metavar="N", default=float(DEFAULT_DAYS), help=days_help)
    ends.add_argument("--no-expiry", action="store_true", help=user_messages.NO_EXPIRY_HELP)
    token.add_argument("--scope", action="append", choices=SCOPES, help=user_messages.SCOPE_HELP)
    which = revoke.add_mutually_exclusive_group()
    which.add_argument("token", nargs="?", metavar="TOKEN", default="", help=user_messages.TOKEN_ID_HELP)
    which.add_argument("--all", action="store_true", help=user_messages.ALL_HELP)


def run_users(options: argparse.Namespace) -> int:
    """Run the subcommand; return the exit code. Raises BadRequest, ConfigError or StorageError."""
    from hermes_acp.users.accounts import HUB_FOLDER, AccountsFile

    actions: dict[str, Callable[[AccountsFile, argparse.Namespace], None]] = {
        "add": _add,
        "list": _list,
        "show": _show,
        "link": _link,
        "quota": _change_quota,
        "remove": _remove,
        "token": _make_token,
        "revoke": _revoke,
    }
    actions[options.action](AccountsFile(environment_of_profile(DEFAULT_PROFILE).home / HUB_FOLDER), options)
    return 0


def _add(file: "AccountsFile", options: argparse.Namespace) -> None:
    from hermes_acp.users.accounts import Account, add_account

    default = DEFAULT_PROFILE if options.os_user else options.name
    account = Account(
        options.name,
        options.profile_name or default,
        options.os_user,
        (_subject(file.folder, options),) if options.subject else (),
        quota=_quota(options, None),
    )
    add_account(file.read(), account)
    home = _home_for(account)
    file.change(lambda accounts: add_account(accounts, account))
    _log(file.folder, "user_added", account.name)
    print(user_messages.added(account.name, home))
    flag = "" if account.profile == DEFAULT_PROFILE else f"--profile {account.profile} "
    print(user_messages.next_steps(account.name, flag, account.os_user))
    if not account.os_user:
        note(user_messages.SHARED_OS_USER)


def _home_for(account: "Account") -> str:
    """Return the profile's home folder; create it if it belongs to the hub's own user.

    Raises BadRequest, ConfigError or StorageError.
    """
    from hermes_acp.storage.profile_folders import create_profile
    from hermes_acp.users.profile_places import os_entry

    if account.os_user:
        return f"{os_entry(account.os_user).pw_dir}/.hermes"
    base = environment_of_profile(DEFAULT_PROFILE).home
    if account.profile in profile_names(str(base)):
        return profile_home(str(base), account.profile)
    if account.profile == DEFAULT_PROFILE:
        raise BadRequest(user_messages.DEFAULT_IS_THE_HUBS, hint=user_messages.OTHER_PROFILE_HINT)
    return str(create_profile(base, account.profile))


def _list(file: "AccountsFile", options: argparse.Namespace) -> None:
    accounts = file.read()
    if options.json:
        print_json([_facts(file.folder, account) for account in accounts.values()])
        return
    if not accounts:
        print(user_messages.NO_USERS)
    for account in accounts.values():
        place = f"{account.os_user}:{account.profile}" if account.os_user else account.profile
        print(f"{account.name:<20}  {place:<24}  {len(account.tokens)} tokens  {_quota_words(account.quota)}")


def _show(file: "AccountsFile", options: argparse.Namespace) -> None:
    from hermes_acp.users.accounts import known_account

    account = known_account(file.read(), options.name)
    facts = _facts(file.folder, account)
    if options.json:
        print_json(facts)
        return
    print(
        f"{user_messages.PROFILE:<10} {account.profile}"
        + (f" of {account.os_user}" if account.os_user else "")
    )
    for each in account.subjects:
        print(f"{user_messages.SIGNS_IN:<10} {escaped(each.subject)} at {escaped(each.issuer)}")
    for token in account.tokens:
        label = f"  {escaped(token.name)}" if token.name else ""
        print(
            f"{user_messages.TOKEN:<10} {token.id}  {','.join(token.scopes)}  {_until(token.expires_at)}{label}"
        )
    print(f"{user_messages.QUOTA:<10} {_quota_words(account.quota)}")
    for period, used in facts["used"].items():
        amounts = f"{used['tokens']:,} tokens, ${used['usd']:.4f}, {used['runs']} runs"
        print(f"{user_messages.USED:<10} this {period}: {amounts}")


def _link(file: "AccountsFile", options: argparse.Namespace) -> None:
    from hermes_acp.users.accounts import link_subject

    subject = _subject(file.folder, options)
    file.change(lambda accounts: link_subject(accounts, options.name, subject))
    _log(file.folder, "identity_linked", options.name)
    print(user_messages.linked(options.name, escaped(subject.subject), escaped(subject.issuer)))


def _change_quota(file: "AccountsFile", options: argparse.Namespace) -> None:
    from hermes_acp.users.accounts import known_account, with_account

    def change(accounts: "Accounts") -> "Accounts":
        account = known_account(accounts, options.name)
        return with_account(accounts, msgspec.structs.replace(account, quota=_quota(options, account.quota)))

    account = file.change(change)[options.name]
    _log(file.folder, "quota_changed", options.name)
    print(user_messages.quota_changed(options.name, _quota_words(account.quota)))


def _remove(file: "AccountsFile", options: argparse.Namespace) -> None:
    from hermes_acp.users.accounts import known_account, remove_account

    account = known_account(file.read(), options.name)
    file.change(lambda accounts: remove_account(accounts, options.name))
    _log(file.folder, "user_removed", options.name)
    print(user_messages.removed(options.name, account.profile))


def _make_token(file: "AccountsFile", options: argparse.Namespace) -> None:
    from hermes_acp.users.personal_tokens import add_token, make_token

    scopes = tuple(dict.fromkeys(options.scope or ("acp",)))
    made = make_token(options.label, scopes, None if options.no_expiry else options.days)
    file.change(lambda accounts: add_token(accounts, options.name, made.token))
    _log(file.folder, "token_made", f"{options.name}: {made.token.id}")
    note(user_messages.new_token(made.token.id, _until(made.token.expires_at)))
    print(made.secret)


def _revoke(file: "AccountsFile", options: argparse.Namespace) -> None:
    from hermes_acp.users.accounts import revoke_tokens

    if not (options.token or options.all):
        raise BadRequest(user_messages.NEITHER_TOKEN_NOR_ALL)
    file.change(lambda accounts: revoke_tokens(accounts, options.name, options.token))
    _log(file.folder, "token_revoked", f"{options.name}: {options.token or 'all'}")
    said = user_messages.revoked(options.name, options.token)
    print(said if options.token else user_messages.revoked_all(options.name))


def _log(folder: Path, what: str, about: str) -> None:
    from hermes_acp.users.audit_log import AuditLog, entry
    from hermes_acp.users.profile_places import current_os_user

    AuditLog(folder).append(
        entry(what, "done", who=current_os_user(), source=user_messages.COMMAND_LINE, about=about)
    )


def _subject(folder: Path, options: argparse.Namespace) -> "Subject":
    from hermes_acp.users.accounts import Subject
    from hermes_acp.users.hub_settings import load_hub_settings

    issuer = options.issuer or load_hub_settings(folder).oidc.issuer
    if not issuer:
        raise BadRequest(user_messages.NO_ISSUER)
    return Subject(issuer, options.subject)


def _facts(folder: Path, account: "Account") -> dict[str, Any]:
    """Describe a user for programs, without the digests of tokens."""
    import time

    from hermes_acp.users.usage_ledger import UsageLedger

    ledger, now = UsageLedger(folder), time.time()
    tokens = [
        {
            "id": token.id,
            "label": token.name,
            "scopes": token.scopes,
            "expires_at": exact_time(token.expires_at) if token.expires_at else None,
        }
        for token in account.tokens
    ]
    facts = {
        "name": account.name,
        "profile": account.profile,
        "os_user": account.os_user,
        "subjects": account.subjects,
        "tokens": tokens,
        "quota": account.quota,
        "used": {
            period: msgspec.structs.asdict(ledger.used(account.name, period, now))
            for period in ("day", "month")
        },
    }
    ledger.close()
    return facts


def _quota(options: argparse.Namespace, current: "Quota | None") -> "Quota":
    from hermes_acp.users.accounts import Quota

    given = {name: getattr(options, name) for name, _ in LIMITS if getattr(options, name) is not None}
    return msgspec.structs.replace(
        current or Quota(), **{name: None if limit == 0 else limit for name, limit in given.items()}
    )


def _limit(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    """Return a parser for limits, which returns 0 for no limit."""

    def parse(text: str) -> int | float:
        if text == "none":
            return 0
        try:
            limit = kind(text)
        except ValueError:
            limit = kind(0)
        if not 0 < limit < float("inf"):
            raise argparse.ArgumentTypeError(user_messages.not_a_limit(text))
        return limit

    return parse


def _quota_words(quota: "Quota") -> str:
    limits: Sequence[str] = [
        f"{name.replace('_', ' ')}: {getattr(quota, name):,}"
        for name, _ in LIMITS
        if getattr(quota, name) is not None
    ]
    return "; ".join(limits) or user_messages.NO_QUOTA


def _until(expires_at: float) -> str:
    import time

    if not expires_at:
        return user_messages.NEVER
    return (
        user_messages.EXPIRED if expires_at <= time.time() else user_messages.expires(local_time(expires_at))
    )
