"""Everything the gateway says to people: on platforms, and on the command line."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

# On platforms
COMMAND_MARK: Final = "!"
CONNECTION_ENDED: Final = "The connection ended."
NO_ANSWER_IN_TIME: Final = "The platform did not answer in time."
SENT_AGAIN: Final = "(Sent again: it is not certain that this arrived before.)"
STOPPED: Final = "Stopped."
NOTHING_TO_STOP: Final = "Nothing is running."
NEW_SESSION: Final = "Your next message begins a new session."
NO_ANSWER: Final = "(Done, without a text.)"
CANCELLED: Final = "(Stopped.)"
NO_FOLDER: Final = "No folder is set for this conversation. The operator sets `gateway.workspace`."
NOT_ALLOWED: Final = "You cannot answer this question."
EXPIRED: Final = "That question has expired. Nobody answered it, so the answer was no."
UNKNOWN_CODE: Final = "No open question here has that code."
UNKNOWN_PRESS: Final = "That question is no longer open."
NO_PROOF: Final = "The sender of this message is not proven, so nothing was done."
MODEL_NEEDS_APPROVER: Final = "Only an approver can change the model in a room."
TOO_LARGE: Final = "too large"
NOT_READABLE: Final = "not a kind of file that can be read here"
SANDBOX_OFF: Final = "This room is closed: its profile has switched the sandbox off."
ALLOW: Final = "Allow once"
REFUSE: Final = "Refuse"
WHOLE_TEXT_TOO_LONG: Final = (
    "The text to be approved is too long to be shown here, so it can only be refused here."
)
NOT_PERMITTED_HERE: Final = (
    "The agent asks something that can only be answered in an editor or in the web page."
)
AN_APPROVER: Final = "an approver"
NO_APPROVER: Final = "nobody, because no approver is known; the operator adds one"
HELP: Final = "\n".join(
    (
        "Commands, which begin with / or !:",
        "/stop stops what is running.",
        "/status shows the session and what it is doing.",
        "/model shows the models; /model NAME chooses one.",
        "/new begins a new session.",
    )
)


def sent_again(text: str) -> str:
    """Mark a message that may be there already."""
    return f"{SENT_AGAIN}\n{text}"


def pairing_code(code: str) -> str:
    """Tell a stranger how to be admitted."""
    return (
        f"You are not known here. Give this code to the operator of this agent: {code}\n"
        f"It is valid for one hour. The operator runs: hermes-acp gateway pair {code} --name YOUR_NAME"
    )


def unknown_command(name: str) -> str:
    """Tell that there is no such command."""
    return f"There is no command {name} here.\n{HELP}"


def failed(reason: str) -> str:
    """Tell that a turn failed."""
    return f"That failed: {reason}"


def who_must_agree(names: Sequence[str]) -> str:
    """Name the people whose yes is needed."""
    return " and ".join(names)


def question(title: str, reason: str, *, who: str, until: str, answers: Sequence[str]) -> str:
    """Ask whether a call may run, or something else that has fixed answers."""
    lines = (f"❓ {title}", reason, f"Answer (by {who}, until {until} UTC; no answer means no):", *answers)
    return "\n".join(line for line in lines if line)


def answer_line(word: str, code: str, meaning: str) -> str:
    """Say what to type for an answer."""
    return f"{word} {code} → {meaning}"


def free_question(text: str, code: str) -> str:
    """Ask a question that is answered in one's own words."""
    return f"❓ {text}\nAnswer with: answer {code} YOUR TEXT"


def asked_elsewhere(asker: str) -> str:
    """Tell an approver who asked for what is to be approved."""
    return f"{asker} asked for this."


def waits_for(names: Sequence[str]) -> str:
    """Tell whose yes is still missing."""
    return f"Noted. Still needed: the yes of {who_must_agree(names)}."


def answered(title: str, label: str, name: str) -> str:
    """Say who answered a question."""
    return f"✔ {title}\n{label} ({name})"


def closed(title: str, *, has_expired: bool) -> str:
    """Say that a question is no longer open."""
    return f"✖ {title}\n{EXPIRED if has_expired else UNKNOWN_PRESS}"


def code_needed(codes: Sequence[str]) -> str:
    """Tell that an answer needs its code."""
    return f"An answer needs the code of its question: {' or '.join(codes)}."


def diff_cut(lines: int, address: str) -> str:
    """Say how much of a diff is not shown, and where all of it is."""
    where = f" All of it: {address}" if address else ""
    return f"… {lines} more lines.{where}"


def status(profile: str, folder: str, session_id: str, *, model: str, mode: str, doing: str) -> str:
    """Describe a conversation."""
    lines = (
        f"Profile {profile}, folder {folder}",
        f"Session {session_id}" if session_id else "No session yet",
        f"Model {model}" if model else "",
        f"Mode {mode}" if mode else "",
        doing,
    )
    return "\n".join(line for line in lines if line)


def doing(*, is_running: bool, queued: int, questions: int) -> str:
    """Say what a conversation is doing."""
    parts = ["A turn is running" if is_running else "Idle"]
    if queued:
        parts.append(f"{queued} messages waiting")
    if questions:
        parts.append(f"{questions} questions open")
    return ", ".join(parts) + "."


def models(current: str, values: Sequence[str]) -> str:
    """List the models to choose from."""
    shown = "\n".join(f"{'* ' if value == current else '- '}{value}" for value in values)
    return f"{shown}\nChoose one with /model NAME." if shown else "No model can be chosen here."


def model_changed(name: str) -> str:
    """Tell that another model is used."""
    return f"Model {name} is used from now on."


def no_such_model(name: str) -> str:
    """Tell that a model is unknown."""
    return f"There is no model {name} here. /model lists them."


def file_refused(name: str, reason: str) -> str:
    """Say why a file was not read."""
    return f"{name} ({reason})"


# On the command line
DESCRIPTION: Final = "Reach the agent from chat platforms, and be asked and notified there."
ACTION_HELP: Final[Mapping[str, str]] = MappingProxyType(
    {
        "setup": "write the settings of a platform",
        "status": "show platforms, people and messages that wait",
        "run": "run the gateway here, without the resident process starting it",
        "pair": "admit the person who was given a code",
        "remove": "forget a person",
    }
)
PLATFORM_HELP: Final = "platform to set up"
CODE_HELP: Final = "code that the person was given"
NAME_HELP: Final = "name under which the model and others know the person"
APPROVER_HELP: Final = "let the person approve what others ask for"
PROFILE_HELP: Final = "profile in which the person works; default: the gateway's own"
SHARED_HELP: Final = "admit a further person to a profile, where each finds what others left"
PERSON_HELP: Final = "name of the person"
JSON_HELP: Final = "print JSON"
NO_PLATFORMS: Final = "No platform is set up. Run `hermes-acp gateway setup PLATFORM`."
CONNECTED: Final = "connected"
SET_UP: Final = "set up"
FOLDER: Final = "folder in which the agent works, an absolute path"
OPTIONAL: Final = "optional"
SECRET: Final = "kept in .env"
BAD_SECRET: Final = "A secret cannot contain quotes, backslashes or line breaks."
ALREADY_RUNNING: Final = "Another gateway of this home is running."
ALREADY_HINT: Final = "Stop it, or let the resident process run it."
WRONG_CODE: Final = "No person has that code, or it has expired."
LOCKED: Final = "Too many wrong codes were entered. All codes are void, and new ones are given in an hour."
BAD_NAME: Final = "A name has letters, digits, - and _, and at most 32 of them."
NO_PEOPLE: Final = (
    "Nobody is admitted. Send the bot a direct message, then run `hermes-acp gateway pair CODE --name NAME`."
)
RUNNING: Final = "The gateway is running."
NOT_RUNNING: Final = "The gateway is not running. `hermes-acp daemon start` runs it."
FILE_NOT_WRITTEN: Final = "The settings were not changed."


def platform_line(name: str, state: str, counts: str) -> str:
    """Describe a platform."""
    return f"{name}: {state}{f', {counts}' if counts else ''}"


def person_line(name: str, role: str, profile: str, platforms: Sequence[str]) -> str:
    """Describe a person."""
    return f"{name}: {role}, profile {profile}, on {', '.join(platforms) or 'no platform'}"


def waiting_codes(number: int) -> str:
    """Say how many codes wait to be entered."""
    return f"{number} pairing {'code waits' if number == 1 else 'codes wait'} to be entered."


def paired(name: str, platform: str, role: str, profile: str) -> str:
    """Tell that a person was admitted."""
    return f"{name} is admitted on {platform} as {role}, in profile {profile}."


def name_taken(name: str, role: str, profile: str) -> str:
    """Tell that a name has another role or profile."""
    return f"{name} is already admitted as {role} in profile {profile}. Use the same role and profile, or another name."


def profile_taken(profile: str, name: str) -> str:
    """Tell that sharing a profile must be an explicit choice."""
    return (
        f"{name} works in profile {profile}. A second person there would find {name}'s sessions and memory. "
        "Choose another profile with --as-profile, or confirm with --shared."
    )


def no_profile(name: str) -> str:
    """Tell that there is no such profile."""
    return f"There is no profile {name}. Create it with `hermes-acp profiles create {name}`."


def removed(name: str) -> str:
    """Tell that a person was forgotten."""
    return f"{name} is no longer admitted."


def unknown_person(name: str) -> str:
    """Tell that nobody has that name."""
    return f"Nobody is admitted under the name {name}."


def missing_package(platform: str, package: str) -> str:
    """Tell that a platform's library is not installed."""
    return f"Platform {platform} needs {package}, which is not installed."


def missing_secret(variable: str) -> str:
    """Tell which variable is missing."""
    return f"{variable} is not set in .env."


def connected(platform: str) -> str:
    """Tell that a platform is connected."""
    return f"{platform} is connected."


def lost(platform: str, reason: str, wait_s: float) -> str:
    """Tell that a platform is tried again."""
    return f"{platform}: {reason} Trying again in {wait_s:g} s."


def bug(platform: str, kind: str) -> str:
    """Name an unexpected exception."""
    return f"Unexpected {kind} in {platform}."


def settings_written(path: str, variables: Sequence[str]) -> str:
    """Say what is left to do after the settings were written."""
    named = ", ".join(variables)
    secrets = f" Put {named} into .env beside it." if named else ""
    return f"Written to {path}.{secrets} Then run `hermes-acp daemon restart`."


def setting_prompt(name: str, meaning: str) -> str:
    """Ask for a setting's value."""
    return f"{name} ({meaning}): " if meaning else f"{name}: "


def already_set_up(platform: str, path: str) -> str:
    """Tell that a platform has settings already."""
    return f"{platform} is set up in {path} already. Change it there."


def add_by_hand(file: str, text: str) -> str:
    """Show what to write where settings exist already."""
    return f"{file} has a `gateway` section already. Replace it by:\n{text}"


def value_missing(name: str) -> str:
    """Tell that a setting has no value."""
    return f"{name} needs a value. {FILE_NOT_WRITTEN}"


def log_line(line: str) -> str:
    """Say in a log who speaks."""
    return f"hermes-acp gateway: {line}"
