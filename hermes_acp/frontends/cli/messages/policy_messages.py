"""Messages of `hermes-acp policy`; the reasons come from `policy/`."""

from types import MappingProxyType
from typing import Final

CHECK_HELP: Final = "check many commands, one JSON object per line"
CHECK_EPILOG: Final = (
    'Input: {"id": …, "cmd": "…"}. Output: {"id", "decision": "allow" | "ask" | "deny", "effects", "why"}.'
)
JSONL_HELP: Final = "read and write lines of JSON"
EXPLAIN_HELP: Final = "explain the decision about one command"
COMMAND_HELP: Final = "the command line, in quotes"
MODE_HELP: Final = "default: ask"
LIST_HELP: Final = "list the permanent answers by folder"
FORGET_HELP: Final = "delete the permanent answers for a folder"
FORGET_ALL_HELP: Final = "delete them for all folders"

DECISIONS: Final = MappingProxyType(
    {
        "allow": "It runs without asking.",
        "ask": "You are asked before it runs.",
        "deny": "It never runs.",
    }
)
CONFINEMENTS: Final = MappingProxyType(
    {
        "usual": "",
        "must": "It runs in the sandbox.",
        "read_only": "It runs in the sandbox, with the workspace read-only.",
    }
)
ACCESSES: Final = MappingProxyType(
    {"reads": "reads", "writes": "writes", "deletes": "deletes", "hosts": "connects to"}
)
ALLOWED: Final = "allow"
DENIED: Final = "deny"
NO_ANSWERS: Final = "There are no permanent answers."
NO_ANSWERS_ANYWHERE: Final = "There are no permanent answers for any folder."
EMPTY_COMMAND: Final = "The command is empty or contains NUL characters."
EMPTY_COMMAND_HINT: Final = "Pass a shell command in quotes."
EMPTY_COMMAND_REASON: Final = "the command is empty or contains NUL characters"
THIS_COMMAND: Final = "exactly this command"


def permanent_answer(answer: str, subject: str, *, is_bound: bool) -> str:
    """Return one line of the list of answers."""
    return f"{answer} {subject} (until what it runs changes)" if is_bound else f"{answer} {subject}"


def forgotten(folder: str) -> str:
    """Return the confirmation for one folder."""
    return f"Deleted the answers for {folder}."


def nothing_to_forget(folder: str) -> str:
    """Return the note for a folder without answers."""
    return f"There are no permanent answers for {folder}."


def bad_line(reason: str) -> str:
    """Say why a line of `check` is not a request."""
    return f'the line is not a JSON object with a string "cmd": {reason}'


def decision(decision: str, sentence: str, confinement: str = "") -> str:
    """Return the decision about a command."""
    return f"{decision}: {sentence} {confinement}" if confinement else f"{decision}: {sentence}"


def reason(why: str) -> str:
    """State the reason for a decision; `why` is a clause."""
    return f"Reason: {why}."


def always_remembers(subject: str, *, is_bound: bool) -> str:
    """Describe what the answer "always" would store."""
    until = ", until what it runs changes" if is_bound else ""
    return f'"Always" would remember {subject}{until}.'


def no_sandbox(reason: str) -> str:
    """Say that the check assumed no sandbox."""
    return f"Checked without a sandbox: {reason}"


def sandbox(mechanism: str) -> str:
    """Say which sandbox the check assumed."""
    return f"Checked for the sandbox of this machine ({mechanism})."


def more_paths(access: str, number: int) -> str:
    """Say how many paths are not listed."""
    return f"{access} {number:,} more"


def depends_on(path: str) -> str:
    """Name a file whose content the answer depends on."""
    return f"depends on {path}"


def rule(decision: str, source: str) -> str:
    """Name the rule that decided."""
    return f"rule: {decision}, {source}"
