"""All messages of `hermes-acp lsp` to people: in their editor, on the command line, in the editor's log.

Texts for the model are in `model_text.py` and `actions`. `tests/golden/messages/lsp.txt` lists everything here.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.core.event_types import WarningKind

# The command line

COMMAND_DESCRIPTION: Final = (
    "Serve an editor over the Language Server Protocol: code actions, edits to approve, inline completion. "
    "The editor starts this command and talks to it over standard input and output."
)
FLAG_STDIO: Final = "has no effect; accepted because some editors add it"
FLAG_ALLOW_BYPASS: Final = "allow the mode `bypass`, which never asks"


def fatal(reason: str) -> str:
    """Report on standard error why the server cannot start."""
    return f"hermes-acp: {reason}"


def standard_streams_closed(reason: str) -> str:
    """Report that standard input or output is closed."""
    return f"Standard input or output is closed: {reason}. Start it with both open."


# The editor's log


def log_entry(text: str) -> str:
    """Prefix a line of the editor's log with our name."""
    return f"hermes-acp lsp: {text}"


def internal_error_logged(trace: str, path: str) -> str:
    """Say where an internal error is described."""
    return f"internal error {trace}, described in {path}"


def failed_notification(error: str) -> str:
    """Report an error that occurred outside a request."""
    return f"{error} while processing a notification"


def rejected_message(reason: str) -> str:
    """Report a message that was answered with an error."""
    return f"rejected a message: {reason}"


def ignored_notification(method: str, reason: str) -> str:
    """Report a notification that had no effect."""
    return f"ignored {method}: {reason}"


# Errors of the protocol

NO_CONTENT_LENGTH: Final = "The header has no Content-Length."
NOT_JSON_RPC: Final = 'The message must be an object with "jsonrpc": "2.0".'
METHOD_NOT_STRING: Final = "`method` must be a string."
ID_MALFORMED: Final = "`id` must be a string or an integer."
SHUT_DOWN: Final = "The server is shut down; it only accepts exit."
ALREADY_INITIALIZED: Final = "The server is already initialized."
NOT_INITIALIZED: Final = "The first request must be initialize."
PARAMETERS_MISMATCH: Final = "they do not match the protocol."
CANCEL_WITHOUT_ID: Final = "it names no request"
CANCELLED: Final = "The request was cancelled."


def message_too_long(limit: int) -> str:
    """Report a message beyond the size limit."""
    return f"The message is larger than {limit:,} bytes."


def not_json(reason: str) -> str:
    """Report a message that cannot be decoded."""
    return f"The message is not valid JSON: {reason}."


def malformed_response(reason: str) -> str:
    """Report an editor's answer that cannot be read."""
    return f"Malformed response: {reason}"


def invalid_parameters(method: str, reason: str) -> str:
    """Report parameters that cannot be read."""
    return f"Invalid parameters for {method}: {reason}"


def invalid_notification(reason: str) -> str:
    """Say why a notification is ignored."""
    return f"invalid parameters: {reason}"


def internal_error(trace: str) -> str:
    """Report one of our bugs without its details."""
    return f"Internal error in hermes-acp ({trace}). logs/bugs.log in its home folder has the details."


def request_rejected(method: str, reason: str) -> str:
    """Report a request to the editor that failed."""
    return f"The editor rejected {method}: {reason}."


# Settings

SETTINGS_HINT: Final = "The previous settings stay in effect."
BYPASS_NOT_ALLOWED: Final = "The mode bypass is not allowed here, because it never asks."
BYPASS_HINT: Final = "Allow it with `allow_bypass: true` on a machine where nothing can be lost."
COMPLETION_NEEDS_RESTART: Final = (
    "This editor accepts inline completion only at startup. Restart the language server to enable it."
)


def invalid_settings(reason: str) -> str:
    """Report settings that were not applied."""
    return f"Invalid settings for hermes-acp: {reason}."


# Actions

ACTION_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "continue_writing": "Continue here",
        "explain": "Explain",
        "fix": "Fix",
        "refactor": "Refactor",
        "write_tests": "Write tests",
    }
)
ONE_ARGUMENT: Final = "The command takes one argument: an object with `uri` and `range`."
NOT_OPEN_HINT: Final = "Open the document first."
NOT_A_FILE_HINT: Final = "Save it first."
DOCUMENT_CHANGED: Final = "The document has changed since this action was offered. Choose the action again."
WAITING_FOR_ACTION: Final = "Waiting for another action to finish"
WAITING_FOR_REVIEW: Final = "Waiting for you to review the changes"
ANSWERING: Final = "Writing the answer"
DONE: Final = "done"
STOPPED: Final = "stopped"


def action_label(title: str) -> str:
    """Name an action in menus and progress bars."""
    return f"Hermes: {title}"


def unknown_command(command: str) -> str:
    """Report a command that does not exist."""
    return f"Unknown command {command!r}."


def available_commands(names: Sequence[str]) -> str:
    """List the available commands."""
    return f"Available commands: {', '.join(names)}."


def invalid_argument(reason: str) -> str:
    """Report a command's argument that cannot be read."""
    return f"Invalid command argument: {reason}."


def not_open(uri: str) -> str:
    """Report a document that the editor does not have open."""
    return f"{uri} is not open."


def not_a_file(uri: str) -> str:
    """Report a document without a file."""
    return f"{uri} is not a file on this machine."


def cannot_write(path: str, reason: str) -> str:
    """Report that a file of hermes-acp could not be written."""
    return f"Cannot write {path}: {reason}."


def answer_elsewhere(first_line: str, path: str) -> str:
    """Show the start of an answer in an editor that cannot open documents."""
    return f"{first_line}\nFull answer: {path}"


# Proposed changes

APPLY: Final = "Apply"
DISCARD: Final = "Discard"
SHOW_DIFF: Final = "Show the diff"
DELETED: Final = "deleted"
CHANGED_MEANWHILE: Final = "it changed in the meantime"
CANNOT_DELETE: Final = "this editor does not let the server delete files"
CANNOT_EDIT: Final = "this editor does not let the server edit files"
DISCARDED: Final = "you discarded the change"
STOPPED_EARLY: Final = "the action stopped first"


def hover(diff: str) -> str:
    """Show a proposed change of one line, in Markdown."""
    return f"Hermes proposes:\n```diff\n{diff}\n```"


def lines_changed(added: int, removed: int) -> str:
    """Count the lines of a change."""
    return f"+{added} -{removed}"


def changed_file(path: str, change: str) -> str:
    """Name a file with its change."""
    return f"{path} ({change})"


def apply_changes(label: str, files: Sequence[str], more: int) -> str:
    """Ask whether to apply a proposal."""
    return f"{label}: {', '.join(files)}{f', and {more} more' if more > 0 else ''}"


def unapplied_file(path: str, reason: str) -> str:
    """Name a file whose change was not applied, and why."""
    return f"{path}: {reason}"


def not_applied(files: Sequence[str]) -> str:
    """Report files whose changes were not applied."""
    return f"Hermes did not apply every change. {'; '.join(files)}."


# Permission questions

ALLOW_ONCE: Final = "Allow once"
REJECT: Final = "Reject"
OPEN_PAGE: Final = "Open the page"
DECLINE: Final = "No"


WARNINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "deletes": "it deletes files",
        "publishes": "it publishes or changes something elsewhere",
        "reaches": "it contacts other machines",
    }
)


def approve(call: str, text: str, reasons: Sequence[str]) -> str:
    """Ask whether a call may run, and show the full text of what it would run or write."""
    parts = [f"Hermes needs your approval: {call}", text]
    parts += [f"Asked because {'; '.join(reasons)}."] if reasons else []
    return "\n".join(part for part in parts if part)


def text_opened(name: str) -> str:
    """Say where the text to be approved is shown."""
    return f"The full text is open as {name}."


def effect_reason(kind: WarningKind, targets: Sequence[str]) -> str:
    """Return the reason for asking that warns of an effect."""
    return f"{WARNINGS[kind]}{': ' if targets else ''}{', '.join(targets)}"


def visit(question: str, url: str) -> str:
    """Ask whether to open a page."""
    return f"{question}\n{url}"


def allow_in_session(scope: str, manner: str = "") -> str:
    """Name the option that allows such calls until the session ends."""
    return f"Allow {scope} for this session{manner}"


def allow_in_folder(scope: str, manner: str = "") -> str:
    """Name the option that allows such calls permanently in the folder."""
    return f"Always allow {scope} in this folder{manner}"


def reject_in_session(scope: str) -> str:
    """Name the option that rejects such calls until the session ends."""
    return f"Reject {scope} for this session"
