"""Messages about an editor's failures (files, terminals, diagnostics, MCP servers), for people and for the model."""

from typing import Final

FILE_STATE_UNKNOWN_HINT: Final = (
    "Nothing was changed, because the editor may hold unsaved changes. Save or close the file there."
)
COMMAND_UNKNOWN_HINT: Final = "It may be running anyway: check before running it again."
OUTPUT_CUT: Final = "[… the beginning is omitted …]\n"
NO_ANSWER: Final = "no answer"
UNNAMED_SIGNAL: Final = "a signal"
MCP_EDITOR_GONE: Final = "the editor disconnected"
MCP_WITHDRAWN: Final = "the editor no longer offers it"
MCP_BAD_ANSWER: Final = "its answer has an invalid format"
MCP_EMPTY_ANSWER: Final = "its answer contains neither a result nor an error"


def file_state_unknown(path: str, reason: str) -> str:
    """Say that a file could not be read from the editor."""
    return f"The editor did not return the contents of {path}: {reason}."


def not_written(path: str, reason: str) -> str:
    """Say that the editor refused a write."""
    return f"The editor did not write {path}: {reason}."


def write_timed_out(path: str, seconds: float) -> str:
    """Say that the editor did not confirm a write."""
    return f"The editor did not confirm writing {path} within {seconds:.0f} s."


def not_started(reason: str) -> str:
    """Say that the editor did not start a terminal."""
    return f"The editor did not start the command: {reason}."


def command_lost(reason: str) -> str:
    """Say that the editor cannot tell how a command ended."""
    return f"The editor lost the command: {reason}."


def no_output(reason: str) -> str:
    """Return the placeholder for the output of a command."""
    return f"[The editor did not return the output: {reason}.]"


def no_diagnostics(reason: str) -> str:
    """Say that the editor returned no diagnostics."""
    return f"The editor did not return diagnostics: {reason}."


def misshapen_answer(method: str) -> str:
    """Return the clause that says that an editor's answer could not be read."""
    return f"its answer to {method} has an invalid format"
