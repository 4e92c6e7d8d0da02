"""Messages of `hermes-acp tools`; the faults and abilities of a tool are worded in `tools/custom`."""

from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

LIST_HELP: Final = "list each tool with its state (the default)"
CHECK_HELP: Final = "check whether a file is a valid tool; if not, say why"
FILE_HELP: Final = "a Python file; it is read, never run"
ALLOW_HELP: Final = "trust a tool as it is now; enable a disabled one again"
HISTORY_HELP: Final = "list the versions of a tool: who made them, when and why"
ROLLBACK_HELP: Final = "restore an earlier version of a tool, even of an archived one"
NAME_HELP: Final = "the tool"
VERSION_HELP: Final = "a number from its history (default: the version before the current one)"
CWD_HELP: Final = "the folder whose tools are included (default: the current folder)"

YOURS: Final = "yours"
OF_THE_WORKSPACE: Final = "this workspace"
DISABLED: Final = "disabled"
READY: Final = "ready"
LIST_HINT: Final = "Run `hermes-acp tools` to see all tools."
ROLLED_BACK: Final = "rolled back on the command line"


def no_tools(home: str, workspace: str) -> str:
    """Say that there is nothing to list."""
    return f"There are no custom tools in {home} or in {workspace}."


def failures(number: int, last_error: str) -> str:
    """Say how often a tool failed."""
    return f"failed {counted(number, 'time')} in a row, last: {last_error}"


def invalid(reason: str) -> str:
    """Return the state of a file that is not a tool."""
    return f"not a valid tool: {reason}"


def not_trusted(name: str) -> str:
    """Return the state of a tool that nobody approved."""
    return f"not trusted (`hermes-acp tools allow {name}` trusts it as it is now)"


def file_unreadable(path: str, reason: str) -> str:
    """Return the error for a file that cannot be read."""
    return f"{path} cannot be read: {reason}."


def valid(path: str, abilities: str) -> str:
    """Say that a file is a valid tool, and what it may do."""
    return f"{path} is a valid tool: {abilities}."


def no_tool(name: str) -> str:
    """Return the error for an unknown tool."""
    return f"There is no tool {name!r}."


def trusted(path: str, abilities: str) -> str:
    """Confirm that a tool is trusted."""
    return f"{path} is trusted until it changes: {abilities}."


def no_version(name: str) -> str:
    """Return the error for a tool without versions."""
    return f"There are no stored versions of a tool {name!r}."


def version_line(
    number: int, when: str, author: str, why: str, session_id: str = "", *, is_archived: bool
) -> str:
    """Describe one version of a tool."""
    archived = " (archived)" if is_archived else ""
    session = f", session {session_id}" if session_id else ""
    return f"{number}{archived}  {when}  {author}{session}: {why}"
