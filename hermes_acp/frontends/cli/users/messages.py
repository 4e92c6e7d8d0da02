"""Messages of `hermes-acp users` and `hermes-acp audit`."""

from typing import Final

ADD_HELP: Final = "add a user, with a profile of their own"
LIST_HELP: Final = "list the users"
SHOW_HELP: Final = "show one user: identities, tokens, quota and usage"
LINK_HELP: Final = "let a user sign in with an identity provider"
QUOTA_HELP: Final = "change a user's quota"
REMOVE_HELP: Final = "remove a user; the profile stays"
TOKEN_HELP: Final = "create a personal token; it is shown once"
REVOKE_HELP: Final = "revoke one token of a user, or everything"
NAME_HELP: Final = "the user's name: up to 32 lower-case letters, digits, - and _"
PROFILE_HELP: Final = "the user's profile; it is created if it does not exist (default: the user's name)"
OS_USER_HELP: Final = "the operating system user that runs the profile's process, in that user's home"
ISSUER_HELP: Final = (
    "the identity provider's issuer, such as https://login.example (default: the one in the settings)"
)
SUBJECT_HELP: Final = "the ID (`sub`) by which the identity provider knows the user"
LABEL_HELP: Final = "what the token is for, such as `laptop`"
DAYS_HELP: Final = "days until the token expires (default: {default})"
NO_EXPIRY_HELP: Final = "create a token that never expires"
SCOPE_HELP: Final = "what the token may do: acp (work in sessions) or metrics; repeatable (default: acp)"
TOKEN_ID_HELP: Final = "the token's ID"
ALL_HELP: Final = "revoke all tokens and end all web sessions"
QUOTA_VALUE_HELP: Final = "`none` removes the limit"
SINCE_HELP: Final = "entries since this time: a date, `2d`, or words such as `last monday`"
USER_HELP: Final = "entries of one user"
LIMIT_HELP: Final = "how many of the newest entries to show (default: 50)"
AUDIT_SHOW_HELP: Final = "show who did what, when and from where"
AUDIT_VERIFY_HELP: Final = "check that no entry was changed, removed or inserted"
HEAD_HELP: Final = "a hash that you noted earlier; check that the log still contains its entry"
COMMAND_LINE: Final = "command line"
PROFILE: Final = "Profile:"
SIGNS_IN: Final = "Signs in:"
TOKEN: Final = "Token:"
QUOTA: Final = "Quota:"
USED: Final = "Used:"
NO_USERS: Final = "There are no users yet. Add one: hermes-acp users add NAME"
NO_ISSUER: Final = "Which identity provider? Name it with --issuer, or set `oidc.issuer` in hub.yaml."
NEITHER_TOKEN_NOR_ALL: Final = "Give the ID of a token, or pass --all."
DEFAULT_IS_THE_HUBS: Final = "The default profile belongs to the user who runs the hub."
OTHER_PROFILE_HINT: Final = "Name another profile with --profile-name."
NO_QUOTA: Final = "no limits"
EXPIRED: Final = "expired"
NEVER: Final = "never expires"
SHARED_OS_USER: Final = (
    "This profile shares its operating system user with the hub. Settings, keys and sessions are separate, but "
    "a command that this user approves can read what the hub can read. To separate them, run the hub as root and add "
    "users with --os-user."
)


def added(name: str, home: str) -> str:
    """Confirm a new user."""
    return f"Added {name}. The profile is in {home}."


def next_steps(name: str, profile_flag: str, os_user: str) -> str:
    """List the next steps for a new user; with `os_user`, the profile belongs to that operating system user."""
    run_as = f"sudo -iu {os_user} " if os_user else ""
    return (
        f"Set up a model:   {run_as}hermes-acp {profile_flag}setup\n"
        f"Create a token:   hermes-acp users token {name}\n"
        f"Or let them sign in with your identity provider: hermes-acp users link {name} --subject …"
    )


def linked(name: str, subject: str, issuer: str) -> str:
    """Confirm a new identity."""
    return f"{name} signs in as {subject} at {issuer}."


def removed(name: str, profile: str) -> str:
    """Confirm that a user was removed."""
    return f"Removed {name}. The profile {profile!r} and its files are still there."


def new_token(token_id: str, until: str) -> str:
    """Return the line above a new token."""
    return f"Token {token_id}, {until}. It is shown only now:"


def expires(when: str) -> str:
    """Say when a token expires."""
    return f"expires {when}"


def revoked(name: str, token_id: str) -> str:
    """Confirm that a token was revoked."""
    return f"Revoked token {token_id} of {name}. Its connections end within seconds."


def revoked_all(name: str) -> str:
    """Confirm that everything was revoked."""
    return f"Revoked all tokens of {name}, and ended the web sessions. Their connections end within seconds."


def quota_changed(name: str, quota: str) -> str:
    """Describe a user's new quota."""
    return f"{name}: {quota}. This applies at once."


def not_a_limit(text: str) -> str:
    """Return the error for an invalid quota value."""
    return f"must be a positive number or `none`, not {text}"


def intact(entries: int, head: str) -> str:
    """Report an intact log."""
    if not entries:
        return "The audit log is empty."
    kept = "keep a copy on another machine, to pass as --head next time."
    return f"{entries} entries, none changed. The last hash is {head}: {kept}"


def broken(entries: int, problem: str) -> str:
    """Report a log that was changed."""
    return f"The audit log was damaged or changed: {problem}. The first {entries} entries are intact."
