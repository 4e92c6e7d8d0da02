"""Messages of `hermes-acp scan`; the findings come from the scanner."""

from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

EXIT_CODES: Final = (
    "exit codes: 0 nothing to block, 1 something is blocked, 2 wrong usage or a file that cannot be read, "
    "4 storage error"
)
FILES_HELP: Final = "files and folders to check; - reads standard input"
ALL_HELP: Final = "check every text file in a folder, not only those that agents read as instructions"
JSONL_HELP: Final = (
    "read lines {id, text} from standard input and answer each with {id, verdict, categories, findings}"
)
ALLOW_HELP: Final = "accept these files as they are, until they change"
FORBID_HELP: Final = "withdraw an earlier --allow"
NO_FILE: Final = "No file was named."
NO_FILE_HINT: Final = "Try `hermes-acp scan AGENTS.md`, or name a folder."
JSONL_TAKES_NO_FILES: Final = "--jsonl reads standard input and takes no files."


def folder_checked(folder: str, checked: int, blocked: int, warned: int, unread: int) -> str:
    """Summarise the scan of a folder; the numbers count files."""
    skipped = f", {unread:,} not checked" if unread else ""
    return f"{folder}: {counted(checked, 'file')} checked, {blocked:,} blocked, {warned:,} with warnings{skipped}."


def more_findings(file: str, number: int) -> str:
    """Say how many findings are not listed."""
    return f"{file}: {number:,} more not shown."


def accepted_by_you(file: str) -> str:
    """Say that a person has accepted this text."""
    return f"{file}: you accepted this text as it is."


def passages_removed(file: str) -> str:
    """Say what happens to a blocked text, and how to accept it."""
    return (
        f"{file}: the agent does not see the blocked passages. To accept the file as it is: "
        f"hermes-acp scan --allow {file}"
    )


def allowed(file: str, digest: str) -> str:
    """Confirm `--allow`."""
    return f"{file}: accepted as it is now (sha256 {digest}…). If it changes, it is checked again."


def forbidden(file: str) -> str:
    """Confirm `--forbid`."""
    return f"{file}: no longer accepted. It is checked like any other text."


def no_such_file(file: str) -> str:
    """Return the error for a file that does not exist."""
    return f"There is no file {file!r}."


def file_unreadable(file: str, reason: str) -> str:
    """Return the error for a file that cannot be read."""
    return f"The file {file!r} cannot be read: {reason}."


def file_not_checked(file: str, reason: str) -> str:
    """Say why a file of a folder was skipped."""
    return f"{file} was not checked: {reason}"


def bad_line(reason: str) -> str:
    """Say why a line of `--jsonl` is not a request."""
    return f"The line is not a JSON object with `id` and `text`: {reason}"
