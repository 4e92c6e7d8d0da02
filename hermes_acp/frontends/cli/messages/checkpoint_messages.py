"""Messages of `hermes-acp checkpoints` and `hermes-acp undo`."""

from typing import Final

LIST_HELP: Final = "list the files that each turn of a session changed, newest turn first (the default)"
DIFF_HELP: Final = "show the changes made in one turn as a patch for `git apply`"
RESTORE_HELP: Final = "undo the changes of one turn, or undo an undo"
DIFF_ID_HELP: Final = "a checkpoint (default: the last one)"
RESTORE_ID_HELP: Final = "a checkpoint"
FILES_HELP: Final = "only these files"
COUNT_HELP: Final = "number of turns to undo (default: 1)"
REDO_HELP: Final = "undo the last undo instead"
SESSION_HELP: Final = "the session (default: the last one that changed files in --cwd)"
FORCE_HELP: Final = "also restore files that were changed since then"

SESSION_HINT: Final = "Name a session with --session ID."
UNDONE: Final = "undone"
UNFINISHED: Final = "not finished"
UNDO_TITLE: Final = "Undo"
NOT_KEPT: Final = "not kept"


def no_changes_in(folder: str) -> str:
    """Return the error for a folder in which no session has changed anything."""
    return f"No session has changed a file in {folder!r} yet."


def no_checkpoint(session_id: str) -> str:
    """Return the error for a session without checkpoints."""
    return f"Session {session_id!r} has no checkpoint."


def session_heading(session_id: str) -> str:
    """Return the first line of a list."""
    return f"Session {session_id}"


def patch_of(folder: str) -> str:
    """Introduce the patch for one of several folders."""
    return f"The following patch is for {folder}."


def conflict(path: str, reason: str) -> str:
    """Say why a file was not restored."""
    return f"{path}: {reason}"


def flags_of_commands(answer: str) -> str:
    """Replace the slash commands in an answer of `/undo` with the flags of the command line."""
    for slash_command, flag in (
        ("`/undo force`", "--force"),
        ("`/redo force`", "--force"),
        ("`/redo`", "`hermes-acp undo --redo`"),
    ):
        answer = answer.replace(slash_command, flag)
    return answer
