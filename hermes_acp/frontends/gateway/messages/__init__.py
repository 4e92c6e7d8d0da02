"""Messages of the gateway for people on platforms."""

from collections.abc import Sequence
from typing import Final

from hermes_acp.core.untrusted_text import plain
from hermes_acp.frontends.command_line.profile_flag import command_for

# On platforms
MAX_REASON: Final = 200
CONNECTION_ENDED: Final = "The connection ended."
NO_SERVICE: Final = "Nobody has written in this conversation yet, so Teams has not reported its address."
TEAMS_DIRECT_ONLY: Final = "Teams takes files and larger pictures only in direct conversations."
TEAMS_NO_PLACE: Final = "Teams did not provide an upload address."
TWILIO_NOT_FETCHED: Final = (
    "Twilio did not fetch it. The operator's web server must forward the URLs below `webhook_url`."
)
NO_NUMBER: Final = "No number is set for this kind of message."
REFUSED_TOKEN: Final = "The platform does not accept the token."
NO_MESSAGE_CONTENT: Final = "The bot may not read messages. Switch on its Message Content Intent."
NO_EDITS: Final = "A message cannot be changed here."
NO_ANSWER_IN_TIME: Final = "The platform did not answer in time."
NO_FILES: Final = "Messages cannot contain files here."
FILE_GONE: Final = "It is no longer on this machine."
FLOODED: Final = "Too many messages arrived at once."
IRC_BUSY: Final = "Other messages are still being sent."
IRC_LINE_TOO_LONG: Final = "The server sent a line that is too long."
IRC_NO_SASL: Final = "The server does not offer SASL. Set `login` to nickserv or server."
XMPP_FILE_HOST: Final = "Files are not fetched from that server. The operator can add it to `file_hosts`."
XMPP_LOGIN_REFUSED: Final = "The server refused the address or the password."
XMPP_NO_UPLOADS: Final = "The server stores no files."
XMPP_BAD_SLOT: Final = "The server offers only unencrypted URLs for files."
XMPP_NOT_ENCRYPTED: Final = "The server offers no encrypted connection."
SENT_AGAIN: Final = "(Sent again, because the first attempt may not have arrived.)"
STOPPED: Final = "Stopped."
NOTHING_TO_STOP: Final = "Nothing is running."
NEW_SESSION: Final = "Your next message starts a new session."
NO_ANSWER: Final = "(Done, without a text answer.)"
CANCELLED: Final = "(Stopped.)"
NO_FOLDER: Final = "No folder is set for this conversation. Ask the operator to set `gateway.workspace`."
NOT_ALLOWED: Final = "You cannot answer this question."
EXPIRED: Final = "That question has expired. Nobody answered it, so the answer was no."
STILL_WAITS: Final = "That question has expired here. It can still be answered elsewhere."
UNKNOWN_CODE: Final = "No open question here has that code."
UNKNOWN_PRESS: Final = "That question is no longer open."
MODEL_NEEDS_APPROVER: Final = "Only an approver can change the model in a room."
TOO_LARGE: Final = "too large"
NOT_FETCHED: Final = "the platform did not provide it"
NOT_READABLE: Final = "files of this type cannot be read here"
SANDBOX_OFF: Final = "This room is closed, because the sandbox is switched off in its profile."
ALLOW: Final = "Allow once"
REFUSE: Final = "Refuse"
WHOLE_TEXT_TOO_LONG: Final = "The text to approve is too long to show here, so you can only refuse it."
NO_APPROVER: Final = "nobody, because there is no approver; the operator can add one"
HELP: Final = "\n".join(
    (
        "Commands start with / or !:",
        "/stop stops what is running.",
        "/status shows the session and what it is doing.",
        "/model shows the models; /model NAME chooses one.",
        "/new starts a new session.",
    )
)


def sent_again(text: str) -> str:
    """Mark a message that may already have been delivered."""
    return f"{SENT_AGAIN}\n{text}"


def pairing_code(code: str, profile: str) -> str:
    """Tell an unknown person how to be admitted."""
    pair = command_for(profile, f"gateway pair {code} --name YOUR_NAME")
    return (
        f"You do not have access yet. Give this code to the person who runs this agent: {code}\n"
        f"It is valid for one hour. The operator runs: {pair}"
    )


def unknown_command(name: str) -> str:
    """Say that a command does not exist."""
    return f"There is no command {name} here.\n{HELP}"


def failed(reason: str) -> str:
    """Say that a turn failed."""
    return f"That failed: {reason}"


def who_must_agree(names: Sequence[str]) -> str:
    """Name the people who must agree."""
    return " and ".join(names)


def question(title: str, reason: str, *, who: str, until: str, answers: Sequence[str]) -> str:
    """Ask a question with fixed answers, such as whether a call may run."""
    lines = (f"❓ {title}", reason, f"Answer (by {who}, until {until} UTC; no answer means no):", *answers)
    return "\n".join(line for line in lines if line)


def answer_line(word: str, code: str, meaning: str) -> str:
    """Say what to type for an answer."""
    return f"{word} {code} → {meaning}"


def free_question(text: str, code: str) -> str:
    """Ask a question with a free-text answer."""
    return f"❓ {text}\nAnswer with: answer {code} YOUR TEXT"


def asked_elsewhere(asker: str) -> str:
    """Tell an approver who made the request."""
    return f"{asker} asked for this."


def waits_for(names: Sequence[str]) -> str:
    """Say who still has to agree."""
    return f"Noted. Approval is still needed from {who_must_agree(names)}."


def answered(title: str, label: str, name: str) -> str:
    """Say who answered a question."""
    return f"✔ {title}\n{label} ({name})"


def closed(title: str, *, has_expired: bool, stays_open: bool = False) -> str:
    """Say that a question is no longer open."""
    expired = STILL_WAITS if stays_open else EXPIRED
    return f"✖ {title}\n{expired if has_expired else UNKNOWN_PRESS}"


def code_needed(codes: Sequence[str]) -> str:
    """Say that the answer must include the code of its question."""
    return f"Add the code of the question to your answer: {' or '.join(codes)}."


def diff_cut(lines: int, address: str) -> str:
    """Say how much of a diff is not shown, and where to find the full diff."""
    where = f" The full diff: {address}" if address else ""
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
    """Describe the activity of a conversation."""
    parts = ["A turn is running" if is_running else "Idle"]
    if queued:
        parts.append(f"{queued} {'message' if queued == 1 else 'messages'} waiting")
    if questions:
        parts.append(f"{questions} {'question' if questions == 1 else 'questions'} open")
    return ", ".join(parts) + "."


def models(current: str, values: Sequence[str]) -> str:
    """List the models to choose from."""
    shown = "\n".join(f"{'* ' if value == current else '- '}{value}" for value in values)
    return f"{shown}\nChoose one with /model NAME." if shown else "No model can be chosen here."


def model_changed(name: str) -> str:
    """Say that the model was changed."""
    return f"The model is now {name}."


def no_such_model(name: str) -> str:
    """Say that a model is unknown."""
    return f"There is no model {name} here. /model lists them."


def file_refused(name: str, reason: str) -> str:
    """Say why a file was not read."""
    return f"{name} ({reason})"


def file_not_sent(name: str, reason: str) -> str:
    """Say that a file of an answer was not sent."""
    return f"The file {name} was not sent: {reason}"


def file_not_given(reason: str) -> str:
    """Say that a file could not be sent although the person accepted it."""
    return f"The file was not sent ({reason.rstrip('.')}). Ask for it again."


def files_cannot_be_sent(paths: Sequence[str], address: str) -> str:
    """Say where to find the files of an answer on a platform that cannot send files."""
    where = f" The web page opens the session: {address}" if address else ""
    return f"Files cannot be sent here. They are in the session's folder: {', '.join(paths)}.{where}"


def twilio_refused(code: int | None) -> str:
    """Say that Twilio accepted a message, but could not deliver it."""
    return f"Twilio could not deliver it (error {code})." if code else "Twilio could not deliver it."


def server_refused(reason: str) -> str:
    """Say that a server refused a request, quoting its reason."""
    return f"The server refused: {reason}"


def irc_absent(account: str) -> str:
    """Say that a person cannot be reached."""
    return f"{account} is not on the server, or shares no channel with the agent."


def xmpp_not_trusted(reason: str) -> str:
    """Say that a server's certificate was not accepted."""
    return f"The server's certificate is not trusted: {reason}"


def xmpp_not_in_room(room: str) -> str:
    """Say that a room could not be joined yet."""
    return f"The agent could not join {room}. It tries again every minute."


def no_such_room(to: str) -> str:
    """Say that a room is not configured."""
    return f"{to} is not one of the rooms in the gateway's settings."


def not_written_yet(name: str) -> str:
    """Say that a person has no known conversation."""
    return f"There is no conversation with {name} yet. {name} must message the agent first."


def connected(platform: str) -> str:
    """Say that a platform is connected."""
    return f"{platform} is connected."


def room_not_joined(room: str, reason: str) -> str:
    """Name a room that could not be joined, and why."""
    return f"{room}: {plain(reason, MAX_REASON).rstrip('.')}"


def rooms_not_joined(rooms: Sequence[str]) -> str:
    """Say which rooms a connected platform could not join."""
    return f"Connected, but not in these rooms ({'; '.join(rooms)}). The agent retries every minute."


def in_rooms(platform: str, not_joined: str) -> str:
    """Report a change in which rooms of a platform cannot be joined."""
    return f"{platform}: {not_joined or 'All rooms are joined.'}"


def lost(platform: str, reason: str, wait_s: float) -> str:
    """Say that a platform will be reconnected."""
    return f"{platform}: {reason} Trying again in {wait_s:g} s."


def bug(platform: str, kind: str) -> str:
    """Name an unexpected exception."""
    return f"Unexpected {kind} in {platform}."


def closed_by_platform(code: int) -> str:
    """Say that a platform has closed the connection."""
    return f"The platform closed the connection with code {code}."


def unreachable(reason: str) -> str:
    """Say that a platform's server cannot be reached."""
    return f"The server cannot be reached: {reason}."


def unknown_person(name: str) -> str:
    """Say that no person with this name is admitted."""
    return f"Nobody is admitted under the name {name}."
