"""Messages of `hermes-acp runs`."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.core.ports.run_ports import RunState

START_HELP: Final = "start a run, which continues without a client"
PEOPLE_ONLY: Final = "Only a person can do this, and this command was started by an agent."
LIST_HELP: Final = "list runs, newest first; with --all, also those that have ended"
SHOW_HELP: Final = "show a run, with the full question if it is waiting for you"
WATCH_HELP: Final = "print each change of a run, or of all runs, as it happens"
ANSWER_HELP: Final = "answer a run's question; the run then continues"
STOP_HELP: Final = "end a run"
RETRY_HELP: Final = "queue a failed or parked run again"
ID_HELP: Final = "the run: its ID, or the beginning of it"
WORDS_HELP: Final = "the prompt"
PROMPT_HELP: Final = "the prompt"
CWD_HELP: Final = "the folder to work in (default: the current one)"
NEW_ID_HELP: Final = "the ID of the run; if a run with this ID exists, nothing happens (default: a new one)"
SESSION_HELP: Final = "continue this session: its ID, or the beginning of it (default: a new session)"
CREATE_SESSION_HELP: Final = "with --session: create the session if there is none with this ID"
MODE_HELP: Final = "the permission mode (default: as configured)"
BACKEND_HELP: Final = "where commands run (default: as configured)"
MODEL_HELP: Final = "the model (default: as configured)"
MAX_STEPS_HELP: Final = "stop after this many model calls"
MAX_TOKENS_HELP: Final = "stop after this many tokens"
MAX_COST_HELP: Final = "stop at this cost, in US dollars"
TIMEOUT_HELP: Final = "stop each stretch of work after this many seconds"
DELIVER_HELP: Final = (
    "report there instead of to all targets: a notification target, or a person or room of the gateway; "
    "can be repeated"
)
DESTINATION_HINT: Final = (
    "Name a target of `notifications.targets`, a person whom the gateway admitted, or a room such as "
    "matrix:!id:server."
)
PRIORITY_HELP: Final = "1 (first) to 5 (last); default: 3"
WAIT_HELP: Final = (
    "wait until the run ends or asks something, and print its answer; "
    "work on it here if no other process does"
)
HERE_HELP: Final = "work on the run in this process, even if another one could"
ALL_HELP: Final = "also list runs that have ended"
LIMIT_HELP: Final = "how many to list"
ANSWER_WORDS_HELP: Final = (
    "allow, deny, or text: an answer to the agent's question, or what it should do instead"
)
COMMENT_HELP: Final = "a reason, which is also sent to the agent"
CALL_HELP: Final = "the call, if several questions are open"
NO_RUNS: Final = 'No runs. Start one: hermes-acp runs start "…"'
NO_OPEN_RUNS: Final = "No runs are open. List those that have ended: hermes-acp runs list --all"
EMPTY_PROMPT: Final = "The prompt is empty."
FOLDER_HINT: Final = "Name a folder for the run to work in."
PROMPT_HINT: Final = 'Pass it: hermes-acp runs start "…"'
NOBODY_DRIVES: Final = (
    "No process is running that can work on it. Start `hermes-acp daemon` or `serve`, or use --wait."
)
STATES: Final[Mapping[RunState, str]] = MappingProxyType(
    {
        "queued": "queued",
        "running": "running",
        "input_required": "waiting for you",
        "done": "done",
        "failed": "failed",
        "stopped": "stopped",
        "parked": "parked",
    }
)
ANSWER: Final = "The agent's last message"
ALLOW_OR_DENY: Final = "allow|deny"
TEXT: Final = '"…"'


def session_hint(similar: Sequence[str]) -> str:
    """Return the hint for a session ID that does not exist."""
    meant = "".join(f"Did you mean {each!r}? " for each in similar)
    return f"{meant}List the sessions: hermes-acp sessions list. --create-session creates one with this ID."


def started(run: str, state: RunState) -> str:
    """Confirm a new run."""
    return f"{run}  {STATES[state]}"


def rests(run: str, state: RunState, sentence: str) -> str:
    """Say that a run has ended or waits for an answer."""
    return f"Run {run}: {STATES[state]}.{f' {sentence}' if sentence else ''}"


def answered(run: str, *, is_driven: bool) -> str:
    """Confirm an answer."""
    return f"Answered. Run {run} continues." if is_driven else f"Answered. {NOBODY_DRIVES}"


def stopping(run: str, state: RunState) -> str:
    """Confirm that a run was stopped or is being stopped."""
    return f"Run {run} is being stopped." if state == "running" else f"Run {run} was stopped."


def queued_again(run: str) -> str:
    """Confirm a retry."""
    return f"Run {run} is queued."


def question(title: str) -> str:
    """Return the heading of a question."""
    return f"Question: {title}" if title else "Question"


def how_to_answer(run: str, choice: str) -> str:
    """Say how to answer the question."""
    return f"Answer: hermes-acp runs answer {run} {choice}"


def why_asked(why: str) -> str:
    """Say why approval is needed."""
    return f"Asked because: {why}"


def facts(
    *, session: str, cwd: str, mode: str, model: str, priority: int, origin: str, attempts: str
) -> Mapping[str, str]:
    """Return the facts about a run, each with its label."""
    named = {
        "Session": session,
        "Folder": cwd,
        "Mode": mode,
        "Model": model,
        "Priority": str(priority),
        "Started by": origin,
        "Attempts": attempts,
    }
    return {name: value for name, value in named.items() if value}


def attempts(epoch: int, crashes: int, lapses: int) -> str:
    """Say how often a run was attempted, and why."""
    again = [f"{number} {what}" for number, what in ((crashes, "killed"), (lapses, "taken over")) if number]
    more = f" ({', '.join(again)})" if again else ""
    return f"{epoch}{more}" if epoch else ""


def not_a_folder(path: str) -> str:
    """Refuse a folder that does not exist."""
    return f"{path!r} is not a folder."


def bad_destination(named: str) -> str:
    """Return the error for a report destination that does not exist."""
    return f"Reports cannot go to {named!r}."
