"""Messages of `hermes-acp sessions`."""

from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

SEARCH_HELP: Final = "search the text of all sessions"
SEARCH_EPILOG: Final = (
    'Every word must occur in a session. Use quotes for "a phrase", a star for the start of a word (begin*), '
    "and a OR b for either. Without words, --since and --until list your prompts from that time, newest first."
)
SINCE_HELP: Final = (
    'from this date on: 2026-03-04, 2d, "3 weeks ago", yesterday, "last Tuesday", "last month"'
)
UNTIL_HELP: Final = "up to the end of this date; the same date as --since for just that day, week or month"
NO_SESSIONS_THEN: Final = "There are no sessions from that time."
QUERY_HELP: Final = "words to search for"
BY_MEANING_HELP: Final = "also find text with a similar meaning, if `recall.embeddings` is set"
LIST_HELP: Final = "list the sessions, newest first (the default)"
ARCHIVED_HELP: Final = "include archived sessions"
WORKSPACE_HELP: Final = "only sessions of this working directory"
SHOW_HELP: Final = "show one session from the beginning"
ID_HELP: Final = "the session's ID, as `list` prints it, or a unique beginning of it"
ARCHIVED: Final = "archived"
RENAME_HELP: Final = "set a session's title"
TITLE_HELP: Final = "the title"
ARCHIVE_HELP: Final = "hide sessions from the lists; nothing is deleted"
UNARCHIVE_HELP: Final = "show archived sessions in the lists again"
DELETE_HELP: Final = "delete sessions permanently, with their checkpoints"
YES_HELP: Final = "do not ask"
IDS_HELP: Final = "session IDs, or unique beginnings of them"
EXPORT_TRACES_HELP: Final = "send the traces of a session and its child agents to an OpenTelemetry collector"
NO_COLLECTOR: Final = "No collector is configured."
COLLECTOR_HINT: Final = "Set OTEL_EXPORTER_OTLP_ENDPOINT, for example to http://127.0.0.1:4318."
OTEL_MISSING: Final = "Exporting traces needs OpenTelemetry, which is not installed."
NO_SPANS: Final = "The session has no turns, so there is nothing to send."
OUTPUT_HELP: Final = "the file to write (default: standard output)"
EMPTY_TITLE: Final = "The title is empty."
DELETE_NEEDS_YES: Final = "Deleting sessions needs your approval, but there is no terminal to ask in."
DELETE_HINT: Final = "Add --yes."
NOTHING_DELETED: Final = "Nothing was deleted."
YOU: Final = "You"
AGENT: Final = "Agent"
PICTURE: Final = "[picture]"
CALL_STATUS: Final = MappingProxyType({"completed": "done", "failed": "failed", "cancelled": "stopped"})
NO_SESSIONS: Final = "There are no sessions here yet."
LIST_HINT: Final = "Run `hermes-acp sessions list` to see all sessions."


def limit_help(default: int) -> str:
    """Return the help text of `--limit`."""
    return f"show at most N results, 1 to 1000 (default: {default})"


def sessions_unread(number: int) -> str:
    """Return the note about sessions that the search could not read."""
    missed = "it" if number == 1 else "them"
    return f"{counted(number, 'session')} could not be read, so the search does not cover {missed}."


def sessions_not_embedded(number: int) -> str:
    """Return the note about sessions that the semantic search does not cover yet."""
    return f"{counted(number, 'session')} not in the semantic index yet. Search again to include more."


def more_results(shown: int, total: int, *, is_exact: bool) -> str:
    """Say that there are more results than were shown."""
    return f"{shown:,} of {'' if is_exact else 'at least '}{total:,} results; --limit N shows more."


def no_session(session_id: str) -> str:
    """Return the error for an unknown session."""
    return f"There is no session {session_id!r}."


def record_unreadable(path: str, reason: str) -> str:
    """Return the error for a record that cannot be read."""
    return f"The session record {path} cannot be read: {reason}."


def usage(input_tokens: int, output_tokens: int, cost: str) -> str:
    """Describe a session's usage."""
    return f"{input_tokens:,} tokens in, {output_tokens:,} out{f', {cost}' if cost else ''}"


def turn_stopped(why: str) -> str:
    """Say why a turn ended early."""
    return f"Stopped: {why}"


def turn_times(total_s: float, model_s: float, tools_s: float, waiting_s: float) -> str:
    """Say how the time of a turn was spent."""
    parts = [f"model {model_s:.1f} s"]
    if tools_s:
        parts.append(f"tools {tools_s:.1f} s")
    if waiting_s:
        parts.append(f"waiting for you {waiting_s:.1f} s")
    return f"Turn: {total_s:.1f} s; {', '.join(parts)}"


def first_token(seconds: float) -> str:
    """Return the part of a turn's times about the model's first output."""
    return f", first token after {seconds:.1f} s"


def renamed(session_id: str, title: str) -> str:
    """Confirm a new title."""
    return f"{session_id} is now called {title!r}."


def archived(session_id: str) -> str:
    """Confirm that a session is hidden."""
    return f"{session_id} is archived. `hermes-acp sessions list --archived` shows it."


def restored(session_id: str) -> str:
    """Confirm that a session is listed again."""
    return f"{session_id} is listed again."


PARTIAL_ID_HINT: Final = "Pass the whole ID, or leave out --yes to be asked."


def partial_id(named: str) -> str:
    """Say why the prefix of an ID is refused."""
    return (
        f"{named!r} is only the beginning of a session's ID. With --yes, nobody confirms which session it is."
    )


def may_delete(number: int) -> str:
    """Ask whether to delete sessions."""
    return f"Delete {counted(number, 'session')} permanently? [y/N] "


def deleted(session_id: str) -> str:
    """Confirm that a session is gone."""
    return f"{session_id} is deleted."


def exported(session_id: str, file: str) -> str:
    """Confirm an export."""
    return f"{session_id} is written to {file}."


def export_unwritable(file: str, reason: str) -> str:
    """Return the error for a file that cannot be written."""
    return f"{file} cannot be written: {reason}."


def export_head(title: str, session_id: str, cwd: str, created: str, used: str) -> str:
    """Return the first lines of an exported session."""
    lines = (f"- Session: {session_id}", f"- Folder: {cwd}", f"- Created: {created}")
    return "\n".join((f"# {title}", "", *lines, *([f"- Used: {used}"] if used else ())))


def traces_sent(session_id: str, spans: int) -> str:
    """Confirm that traces were sent."""
    return f"{session_id}: {counted(spans, 'span')} sent."


def traces_not_sent(reasons: str) -> str:
    """Return the error for a collector that did not accept traces."""
    return f"The collector did not accept the spans: {reasons or 'no reason given'}."


def call_heading(title: str, status: str) -> str:
    """Return the heading of a tool call."""
    return f"{title}: {status}"


SANDBOX_LIST_HELP: Final = "list the sandboxes that cloud services keep for sessions (the default)"
SANDBOX_STOP_HELP: Final = "stop a sandbox; its files stay for the session"
SANDBOX_REMOVE_HELP: Final = "delete a sandbox with the files in it"
SANDBOX_SESSION_HELP: Final = "the session whose sandbox it is: its ID, or the beginning of it"
SANDBOX_HINT: Final = "`hermes-acp backends list` lists the sandboxes."
NO_SANDBOXES: Final = "No sandboxes are kept."


def sandbox(service: str, state: str, when: str, cwd: str) -> str:
    """Describe a sandbox; the line continues the one of its session."""
    return f"{service}  {state}  since {when}  for {cwd}"


def cost(usd: float | None) -> str:
    """Describe the cost of a sandbox; empty if the service does not report it."""
    return "" if usd is None else f"${usd:,.4f} so far, estimated by the service"


def no_sandbox(named: str) -> str:
    """Return the error for a session without a sandbox."""
    return f"No sandbox is kept for session {named!r}."


def several_sandboxes(named: str) -> str:
    """Return the error for an ID prefix that matches several sandboxes."""
    return f"Sandboxes are kept for several sessions that begin with {named!r}."


def sandbox_gone(session_id: str, service: str) -> str:
    """Say that a sandbox no longer exists."""
    return f"The sandbox of {session_id} at {service} no longer exists."


def sandbox_stopped(session_id: str, service: str) -> str:
    """Confirm that a sandbox is suspended."""
    return f"The sandbox of {session_id} at {service} is stopped. Its files are kept."


def sandbox_removed(session_id: str, service: str) -> str:
    """Confirm that a sandbox is deleted."""
    return f"The sandbox of {session_id} at {service} is deleted."
