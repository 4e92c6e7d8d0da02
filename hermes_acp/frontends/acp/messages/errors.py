"""Errors for users and client authors: what happened, with which value, and what to do next."""

from typing import Final

MAX_QUOTED: Final = 80
"""The maximum number of characters quoted from a client's value."""

# Prompts
EMPTY_PROMPT: Final = "The prompt is empty."
NO_BRANCH: Final = "This card has no branch of its own."
EMPTY_PROMPT_HINT: Final = "Write something first."
UNKNOWN_BLOCK: Final = "The prompt contains content of an unknown type."
WRITE_TEXT_HINT: Final = "Write the prompt as text."
AUDIO_NOT_BASE64: Final = "The audio data is not valid base64."
RECORD_AGAIN_HINT: Final = "Record it again, or write the prompt as text."
IMAGE_NOT_BASE64: Final = "The image data is not valid base64."
IMAGE_DAMAGED: Final = "The image is incomplete or damaged."
ATTACH_AGAIN_HINT: Final = "Attach the image again."
ATTACH_SMALLER_HINT: Final = "Attach a smaller copy."
PROMPT_CANCELLED: Final = "The prompt was cancelled before it was added to the conversation."
INTERNAL_ERROR: Final = "internal error"

BYPASS_NOT_ALLOWED: Final = "The mode 'bypass', which never asks, is not allowed here."
BYPASS_HINT: Final = "Start hermes-acp with --allow-bypass, but only where nothing can be lost."

# Sessions
NO_SESSION_HINT: Final = "Load it, or start a new one."
BAD_CURSOR: Final = "The cursor is not valid."
BAD_CURSOR_HINT: Final = "List the sessions again from the start."
EMPTY_TITLE: Final = "The title is empty."
EMPTY_TITLE_HINT: Final = "Enter a title."
BAD_REPLAY_START: Final = "A session cannot be replayed from this position."
BAD_REPLAY_START_HINT: Final = "Replay it from the start."
EMPTY_SYSTEM_PROMPT: Final = "A system prompt must be text and must not be empty."
BUSY_ELSEWHERE_HINT: Final = "Close it there first."
ATTACH_HINT: Final = "Load or resume it to attach this client to it."
OBSERVERS_ONLY_WATCH: Final = "This client is attached as an observer and can only watch."
HISTORY_POLICIES_HINT: Final = "Use `full`, `pending_only`, `none` or `after_message`."
NO_AFTER_MESSAGE: Final = "`after_message` needs the ID of a message in `afterMessageId`."
ROLES_HINT: Final = "Use `controller` or `observer`."
OBSERVER_HINT: Final = "Load the session without the role `observer` to act in it."

# MCP servers; each text follows "The MCP server … cannot be used:"
MCP_SERVER_HINT: Final = "Change it in the editor."
BAD_MCP_COMMAND: Final = (
    "its command is empty, or its command, arguments or variables contain a NUL character"
)
BAD_MCP_VARIABLE: Final = "an environment variable has an invalid name"
BAD_MCP_URL: Final = "its URL must start with http:// or https://"
BAD_MCP_HEADER: Final = "a header contains characters that HTTP headers cannot have"
NO_MCP_OVER_ACP: Final = "MCP over ACP needs HERMES_ACP_UNSTABLE=1"
UNKNOWN_MCP_TYPE: Final = "servers of this type are not supported"

# Protocol
NO_SUCH_METHOD: Final = "no such method"
NOT_INITIALIZED: Final = "initialize must come first"
ALREADY_INITIALIZED: Final = "initialize was already called"


def not_audio(mime_type: str) -> str:
    """Refuse a recording whose type is not an audio type."""
    return f"{mime_type[:MAX_QUOTED]!r} is not an audio type."


def unsupported_image(mime_type: str) -> str:
    """Refuse an image of a type that models cannot read."""
    return f"Images of type {mime_type[:MAX_QUOTED]!r} are not supported."


def image_types_hint(types: str) -> str:
    """List the supported image types."""
    return f"Supported types: {types}."


def not_an_image(mime_type: str) -> str:
    """Refuse bytes that do not match their declared type."""
    return f"The attachment declared as {mime_type} is not an image."


def image_too_long(size_bytes: int, max_bytes: int) -> str:
    """Report an image that has too many bytes."""
    return f"The image has {size_bytes:,} bytes; the maximum is {max_bytes:,}."


def image_too_large(size: str) -> str:
    """Report an image with dimensions that are too large."""
    return f"The image is too large: {size}."


def no_open_session(session_id: str) -> str:
    """Name a session that is not open here."""
    return f"There is no open session {session_id[:MAX_QUOTED]!r}."


def open_elsewhere(session_id: str) -> str:
    """Name a session that another client has open."""
    return f"Session {session_id[:MAX_QUOTED]!r} is open in another client."


def unknown_role(role: str) -> str:
    """Report an unknown client role."""
    return f"There is no role {role[:MAX_QUOTED]!r}."


def not_attachable(session_id: str) -> str:
    """Refuse to attach to a session that is not open."""
    return f"Session {session_id[:MAX_QUOTED]!r} is not open. `session/load` opens a stored one."


def unknown_history_policy(policy: str) -> str:
    """Report an unknown history policy."""
    return f"There is no history policy {policy[:MAX_QUOTED]!r}."


def bad_client_id(longest: int) -> str:
    """Report an invalid client ID."""
    return f"`clientId` must have 1 to {longest} printable characters."


def bad_archived_filter(value: str) -> str:
    """Report an invalid filter for archived sessions."""
    return f"The filter for archived sessions must be exclude, include or only, not {value[:MAX_QUOTED]!r}."


def bad_system_prompt_mode(mode: str) -> str:
    """Report an unsupported system prompt mode."""
    return f"The system prompt mode {mode[:MAX_QUOTED]!r} is not supported."


def no_option(option: str) -> str:
    """Report an unknown option."""
    return f"There is no option {option[:MAX_QUOTED]!r}."


def options_hint(options: str) -> str:
    """List the options."""
    return f"The options are: {options}."


def not_a_switch(option: str) -> str:
    """Refuse a boolean for an option with named values."""
    return f"The option {option[:MAX_QUOTED]!r} does not take true or false."


def no_option_value(option: str, value: str) -> str:
    """Report an invalid value of an option."""
    return f"The option {option[:MAX_QUOTED]!r} has no value {value[:MAX_QUOTED]!r}."


def no_model(name: str) -> str:
    """Refuse a model that is not offered."""
    return f"There is no model {name[:MAX_QUOTED]!r}."


def models_hint(names: str, count: int) -> str:
    """List the models to choose from; `count` is their total number, even if the list was cut."""
    if not names:
        return "The endpoint lists no models."
    shown = names.count(", ") + 1
    return f"Choose one of: {names}{f' … ({count} in all)' if count > shown else ''}."


def unknown_value_type(type_name: str) -> str:
    """Refuse a value of a type that no option has."""
    return f"No option takes values of type {type_name[:MAX_QUOTED]!r}."


def no_mode(mode: str) -> str:
    """Report an unknown mode."""
    return f"There is no mode {mode[:MAX_QUOTED]!r}."


def modes_hint(modes: str) -> str:
    """List the modes."""
    return f"The modes are: {modes}."


def no_auth_method(method: str) -> str:
    """Report an unknown auth method."""
    return f"There is no auth method {method[:MAX_QUOTED]!r}."


def auth_method_hint(method: str) -> str:
    """Name the auth method that works."""
    return f"Use {method!r}."


def wrong_provider_protocol(provider: str, protocol: str) -> str:
    """Refuse a protocol that a provider does not speak."""
    return f"Provider {provider!r} only speaks {protocol!r}."


def no_running_call(call_id: str) -> str:
    """Name a call that is not running."""
    return f"No tool call {call_id[:MAX_QUOTED]!r} is running in this session."


def no_running_terminal(terminal_id: str) -> str:
    """Report a terminal that is not running."""
    return f"No terminal {terminal_id[:MAX_QUOTED]!r} is running in this session."


def unusable_mcp_server(name: str, reason: str) -> str:
    """Report an MCP server that cannot be used."""
    return f"The MCP server {name[:MAX_QUOTED]!r} cannot be used: {reason}."


def bad_parameters(method: str, reason: str) -> str:
    """Report a call with invalid parameters."""
    return f"the parameters of {method} are invalid: {reason}"


def not_carried_out(method: str) -> str:
    """Name a method that failed because the process ran out of file descriptors."""
    return f"{method} was not carried out"


def unknown_schedule(name: str) -> str:
    """Say that there is no such schedule."""
    return f"There is no schedule {name!r}."


def folder_missing(path: str) -> str:
    """Say that a folder cannot be used."""
    return f"{path!r} is not the absolute path of a folder on this machine."
