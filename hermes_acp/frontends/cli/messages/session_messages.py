"""What `hermes-acp sessions` says."""

from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

SEARCH_HELP: Final = "search the text of all sessions"
SEARCH_EPILOG: Final = (
    'Every word must occur in a session. Use quotes for "a phrase", a star for the start of a word (begin*), '
    "and a OR b for either."
)
QUERY_HELP: Final = "words to search for"
BY_MEANING_HELP: Final = "also find text with a similar meaning, if `recall.embeddings` is set"
LIST_HELP: Final = "list the sessions, newest first (the default)"
ARCHIVED_HELP: Final = "include archived sessions"
WORKSPACE_HELP: Final = "only sessions of this working directory"
SHOW_HELP: Final = "show one session from the beginning"
ID_HELP: Final = "the ID of the session, as `list` prints it"
ARCHIVED: Final = "archived"
NO_SESSIONS: Final = "There are no sessions here yet."
LIST_HINT: Final = "Run `hermes-acp sessions list` to see all sessions."


def limit_help(default: int) -> str:
    """Return the help of `--limit`."""
    return f"show at most N results, 1 to 1000 (default: {default})"


def sessions_unread(number: int) -> str:
    """Return the note on sessions that the search could not read."""
    missed = "it" if number == 1 else "them"
    return f"{counted(number, 'session')} could not be read, so the search does not cover {missed}."


def sessions_not_embedded(number: int) -> str:
    """Return the note on sessions that the search by meaning does not cover yet."""
    return f"{counted(number, 'session')} not indexed by meaning yet. Search again to include more."


def no_session(session_id: str) -> str:
    """Return the error for an unknown session."""
    return f"There is no session {session_id!r}."


def record_unreadable(path: str, reason: str) -> str:
    """Return the error of a record that cannot be read."""
    return f"The session record {path} cannot be read: {reason}."
