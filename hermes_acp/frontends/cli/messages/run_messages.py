"""What `hermes-acp run` says."""

from types import MappingProxyType
from typing import Final

EXIT_CODES: Final = """exit codes:
  0    done
  1    the agent failed or gave up
  2    wrong usage or configuration
  3    model or network error
  4    storage error
  5    an approval was required, and was refused or not possible
  124  timed out
  130  interrupted"""
PROMPT_HELP: Final = "the prompt; @FILE reads a file, - reads standard input (the default)"
CWD_HELP: Final = "the working directory (default: the current folder)"
FORMAT_HELP: Final = "default: text"
MODE_HELP: Final = (
    "what runs without a question (default: `mode` of config.yaml, else ask). Nobody can be asked here, so `ask` only "
    "reads; `accept_edits` edits files in the working directory; `plan` only reads; `auto` edits, and runs commands "
    "that stay inside the sandbox; `bypass` runs everything: use it only where nothing can be lost"
)
ALLOW_BYPASS_HELP: Final = "permit `--mode bypass`"
TRUST_HELP: Final = "for this run, trust the MCP servers and rules that the working directory contains"
BACKEND_HELP: Final = "where commands run: local, docker, ssh, … (default: `backend` of config.yaml)"
MAX_STEPS_HELP: Final = "stop after N steps"
MAX_TOKENS_HELP: Final = "stop after N tokens, input and output together"
MAX_COST_HELP: Final = "stop at this cost, if the prices of the model are known"
TIMEOUT_HELP: Final = "stop after S seconds, with exit code 124"
SESSION_HELP: Final = "continue session ID, or start a new one with this ID"
RESUME_HELP: Final = "continue session ID, which must exist; without a prompt, resume its interrupted turn"

CLOSED_HINT: Final = "Open both; /dev/null is enough."
NO_PROMPT: Final = "There is no prompt."
EMPTY_PROMPT: Final = "The prompt is empty."
PROMPT_HINT: Final = "Pass one with -p, or pipe it in."
BYPASS_NOT_ALLOWED: Final = "The mode `bypass` asks no questions, so it needs a flag of its own."
BYPASS_HINT: Final = "Add --allow-bypass, but only where nothing can be lost."
RECORDED_HINT: Final = "The session is recorded anyway."

CALL_STATUS: Final = MappingProxyType({"completed": "done", "failed": "failed", "cancelled": "stopped"})
APPROVAL_MISSED: Final = "warning: A tool call needed approval, and nobody can be asked here (see --mode)."
APPROVAL_IMPOSSIBLE: Final = "A tool call needed approval, and nobody can be asked here."


def streams_closed(reason: str) -> str:
    """Return the error of a process without standard input or output."""
    return f"Standard input or output is closed: {reason}."


def prompt_unreadable(path: str, reason: str) -> str:
    """Return the error of a prompt file that cannot be read."""
    return f"The prompt file {path!r} cannot be read: {reason}."


def prompt_not_utf8(path: str) -> str:
    """Return the error of a prompt file that is not text."""
    return f"The prompt file {path!r} is not UTF-8."


def output_unwritable(reason: str) -> str:
    """Return the error of a standard output that cannot be written."""
    return f"Standard output cannot be written: {reason}."


def conversation_compacted(tokens_before: int, tokens_after: int) -> str:
    """Return the line for a compaction."""
    return (
        "info: The older part of the conversation was summarised, "
        f"from about {tokens_before:,} to about {tokens_after:,} tokens."
    )


def compaction_failed(error: str) -> str:
    """Return the line for a failed compaction."""
    return f"warning: {error}"


def call_ended(title: str, status: str, reason: str = "") -> str:
    """Return the line for a finished tool call."""
    return f"· {title}: {status}: {reason}" if reason else f"· {title}: {status}"


def child_ended(title: str, outcome: str) -> str:
    """Return the line for a finished child agent."""
    return f"· child agent {title!r}: {outcome}"


def run_failed(error: str) -> str:
    """Return the last line of a run that failed."""
    return f"hermes-acp: {error}"
