"""Messages of `hermes-acp hooks`, and of `hermes-acp doctor` about hooks."""

from collections.abc import Sequence
from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

LIST_HELP: Final = "list your hooks and those of the folder's project (the default)"
TEST_HELP: Final = "run an event's hooks on an example call, and show their results"
EVENT_HELP: Final = "the event"
TOOL_HELP: Final = "the tool of the example call (default: edit_file)"
PATH_HELP: Final = "a file of the example call; repeatable"
CWD_HELP: Final = "the folder (default: the current folder)"
NAME_HELP: Final = "only the hook with this name"
IMPORT_HELP: Final = "copy your own hooks for Claude Code and Codex to your settings, after showing them"
AGENT_HELP: Final = "claude or codex (default: both)"
YES_HELP: Final = "copy them without asking"
KNOWN: Final = "already in your settings"
NOTHING_TO_IMPORT: Final = "There are no new hooks to copy."
NOTHING_IMPORTED: Final = "Nothing was copied."
IMPORT_NEEDS_YES: Final = "Copying hooks needs your approval, but there is no terminal to ask in."
IMPORT_HINT: Final = "Check them, then add --yes."
NO_HOOKS: Final = (
    "There are no hooks here. Yours go into `config.yaml` under `hooks`; docs/hooks.md explains them."
)
YOURS: Final = "yours"
OF_THE_PROJECT: Final = "the project's, in the sandbox"
OFF: Final = "off"
NOT_TRUSTED: Final = "not trusted"
NOTHING: Final = "succeeded without output"
NOT_APPLICABLE: Final = "does not apply to this call"


def heading(name: str, whose: str, states: str) -> str:
    """Return the heading of a hook; `states` is empty if the hook is ready."""
    return f"{name} ({whose})" + (f": {states}" if states else "")


def found_hook(name: str, file: str, state: str) -> str:
    """Return the heading of another agent's hook; a `state` says why it is not copied."""
    return f"{name} ({file})" + (f": not copied: {state}" if state else "")


def may_import(number: int, file: str) -> str:
    """Ask whether to copy hooks."""
    return f"Copy {counted(number, 'hook')} to {file}? They run as you, without a sandbox. [y/N] "


def imported(number: int, file: str) -> str:
    """Say that hooks were copied."""
    return f"{counted(number, 'hook')} copied to {file}. `hermes-acp hooks test EVENT` tries them."


def occasion(event: str, patterns: str) -> str:
    """Say when a hook runs."""
    return f"{event}, for {patterns}" if patterns else event


def broken(fault: str) -> str:
    """Say why a hook cannot work."""
    return f"BROKEN: {fault}."


def broken_hook(name: str, fault: str) -> str:
    """Return the doctor's finding about a hook."""
    return f"The {name} cannot work: {fault}. `hermes-acp hooks` lists all hooks."


def no_hooks_for(event: str) -> str:
    """Say that no hook was tried."""
    return f"No hook for {event} may run here."


def tried(name: str, outcome: str) -> str:
    """Report the outcome of one trial."""
    return f"{name}: {outcome}"


def refused(reason: str) -> str:
    """Say that a hook refused."""
    return f"refuses: {reason}"


def said(text: str) -> str:
    """Quote what the model would read, before the text is scanned."""
    return f"tells the model:\n{text}"


def failed(why: str) -> str:
    """Say how a hook failed."""
    return f"FAILED: {why}."


def unknown_event(event: str) -> str:
    """Return the error for an event that does not exist."""
    return f"{event!r} is not a hook event."


def events(names: Sequence[str]) -> str:
    """List the events."""
    return f"Use {', '.join(names[:-1])} or {names[-1]}."
