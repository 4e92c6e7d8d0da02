"""Messages of `hermes-acp gateway`, and of its log."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.command_line.profile_flag import command_for

DESCRIPTION: Final = "Reach the agent from chat platforms: answer its questions and get notifications there."
ACTION_HELP: Final[Mapping[str, str]] = MappingProxyType(
    {
        "setup": "write the settings of a platform",
        "status": "show platforms, people and queued messages",
        "run": "run the gateway in the foreground",
        "pair": "admit the person who was given a code",
        "remove": "remove a person",
    }
)
CODE_HELP: Final = "code that the person was given"
NAME_HELP: Final = "name by which the model and other people know this person"
APPROVER_HELP: Final = "let the person approve what others ask for"
PROFILE_HELP: Final = "profile in which the person works; default: the gateway's own"
SHARED_HELP: Final = (
    "admit another person to a profile in use; they will see each other's sessions and memory"
)
PERSON_HELP: Final = "name of the person"
JSON_HELP: Final = "print JSON"
CONNECTED: Final = "connected"
SET_UP: Final = "set up"
SECRET: Final = "not shown, kept in .env; Enter skips"
SKIPPED: Final = "Enter skips"
SEVERAL: Final = "separated by commas; Enter skips"
BAD_SECRET: Final = "A secret cannot contain quotes, backslashes or line breaks."
ALREADY_RUNNING: Final = "Another gateway is already running for this home folder."
ALREADY_HINT: Final = "Stop it, or let the resident process run it."
WRONG_CODE: Final = "No person has that code, or it has expired."
LOCKED: Final = (
    "Too many wrong codes were entered. All codes are now invalid; new ones are issued in an hour."
)
BAD_NAME: Final = "A name can have up to 32 letters, digits, - and _."
RUNNING: Final = "The gateway is running."
FILE_NOT_WRITTEN: Final = "The settings were not changed."


def platform_help(names: Sequence[str]) -> str:
    """Say which platforms can be set up."""
    return f"the platform to set up: {', '.join(names)}"


def no_platforms(profile: str) -> str:
    """Say how to set up the first platform."""
    return f"No platform is set up. Run `{command_for(profile, 'gateway setup PLATFORM')}`."


def no_people(profile: str) -> str:
    """Say how to admit the first person."""
    pair = command_for(profile, "gateway pair CODE --name NAME")
    return f"Nobody is admitted. Send the bot a direct message, then run `{pair}`."


def not_running(profile: str, *, is_kept: bool) -> str:
    """Say that the gateway is not running, and how to start it. `is_kept`: the resident process restarts it."""
    if not is_kept:
        return f"The gateway is not running. `{command_for(profile, 'daemon start')}` runs it."
    return (
        "The gateway is not running. The resident process keeps trying to start it. Once the cause is fixed, "
        f"`{command_for(profile, 'daemon restart')}` starts it at once."
    )


def last_error(reason: str) -> str:
    """Say why the gateway is not running."""
    return f"It last ended with an error: {reason}"


def crashed(kind: str) -> str:
    """Name the exception that ended the gateway."""
    return f"Unexpected {kind}."


def platform_line(name: str, state: str, counts: str) -> str:
    """Describe a platform."""
    return f"{name}: {state}{f', {counts}' if counts else ''}"


def person_line(name: str, role: str, profile: str, platforms: Sequence[str]) -> str:
    """Describe a person."""
    return f"{name}: {role}, profile {profile}, on {', '.join(platforms) or 'no platform'}"


def waiting_codes(number: int) -> str:
    """Count the pairing codes that have not been entered yet."""
    return f"{number} pairing {'code has' if number == 1 else 'codes have'} not been entered yet."


def paired(name: str, platform: str, role: str, profile: str) -> str:
    """Say that a person was admitted."""
    return f"{name} is admitted on {platform} as {role}, in profile {profile}."


def name_taken(name: str, role: str, profile: str) -> str:
    """Say that a name has another role or profile."""
    return f"{name} is already admitted as {role} in profile {profile}. Use the same role and profile, or another name."


def profile_taken(profile: str, name: str) -> str:
    """Say that a profile is in use, and how to share it."""
    return (
        f"{name} works in profile {profile}. A second person there would find {name}'s sessions and memory. "
        "Choose another profile with --as-profile, or confirm with --shared."
    )


def no_profile(name: str) -> str:
    """Say that a profile does not exist."""
    return f"There is no profile {name}. Create it with `hermes-acp profiles create {name}`."


def removed(name: str) -> str:
    """Say that a person was removed."""
    return f"{name} is no longer admitted."


def missing_package(platform: str, package: str) -> str:
    """Say that a platform's library is not installed."""
    return f"Platform {platform} needs {package}, which is not installed."


def missing_secret(variable: str) -> str:
    """Say which variable is missing."""
    return f"{variable} is not set in .env."


def settings_written(path: str, variables: Sequence[str], profile: str) -> str:
    """Say what to do after the settings were written."""
    named = ", ".join(variables)
    secrets = f" Put {named} into .env beside it." if named else ""
    return (
        f"\nWritten to {path}.{secrets} Then run `{command_for(profile, 'daemon restart')}` and write to the agent. "
        "It answers with a code and says how to admit you."
    )


def setting_prompt(name: str, meaning: str, default: str | float | None, *, is_required: bool) -> str:
    """Ask for the value of a setting; an optional one without a default may be skipped."""
    has_default = default is not None and default != ""
    shown = f" [{default}]" if has_default else "" if is_required else f" ({SKIPPED})"
    return f"\n{meaning}\n{name}{shown}: "


def list_prompt(name: str, meaning: str) -> str:
    """Ask for the values of a setting that is a list."""
    return f"\n{meaning}\n{name} ({SEVERAL}): "


def secret_prompt(name: str) -> str:
    """Ask for a secret."""
    return f"\n{name} ({SECRET}): "


def already_set_up(platform: str, path: str) -> str:
    """Say that a platform is already configured."""
    return f"{platform} is already set up in {path}. Change it there."


def value_missing(name: str) -> str:
    """Say that a setting has no value."""
    return f"{name} needs a value."


def log_line(line: str) -> str:
    """Prefix a log line with its source."""
    return f"hermes-acp gateway: {line}"
