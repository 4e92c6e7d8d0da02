"""Messages of `hermes-acp run`."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.frontends.command_line.messages import exit_codes

EXIT_CODES: Final = exit_codes()
WORDS_HELP: Final = (
    "the prompt. Text piped in is added to it as context; without a prompt, standard input is the prompt. "
    "- waits for standard input without a time limit"
)
PROMPT_HELP: Final = "the prompt as a flag; @FILE reads a file"
ADD_DIR_HELP: Final = "another folder that the session works in, besides the working directory; repeatable"
MODEL_HELP: Final = (
    "the model of this session (default: the configured one); PROVIDER/MODEL for a fallback's provider"
)
EFFORT_HELP: Final = "how much the model reasons; `default` leaves it to the provider"
APPEND_SYSTEM_PROMPT_HELP: Final = (
    "text to add to the system prompt of a new session; @FILE reads a file. A stored session keeps its own"
)
ALLOW_HELP: Final = (
    "a call that needs no approval in this run, such as edit, 'edit(docs/**)', 'bash(pytest *)', "
    "'web_fetch(docs.python.org)' or mcp__SERVER__TOOL; repeatable, or a list with commas. Nothing is stored. "
    "Denials stay in effect, and commands run in the sandbox"
)
CONTINUE_HELP: Final = (
    "continue the newest session of the working directory; without a prompt, resume its interrupted turn"
)
CWD_HELP: Final = "the working directory (default: the current folder)"
FORMAT_HELP: Final = "default: text"
MODE_HELP: Final = (
    "what runs without asking (default: `mode` in config.yaml, else ask). This command is not interactive, so `ask` "
    "only reads; `accept_edits` edits files in the working directory; `plan` only reads; `auto` edits, and runs "
    "commands that stay inside the sandbox; `bypass` runs everything: use it only where nothing can be lost"
)
ALLOW_BYPASS_HELP: Final = "permit `--mode bypass`"
TRUST_HELP: Final = "for this run, trust the MCP servers and rules that the working directory contains"
BACKEND_HELP: Final = "where commands run: local, docker, ssh, … (default: `backend` in config.yaml)"
MAX_STEPS_HELP: Final = "stop after N steps"
MAX_TOKENS_HELP: Final = "stop after N tokens, input and output together"
MAX_COST_HELP: Final = "stop at this cost, if the model's prices are known"
TIMEOUT_HELP: Final = "stop after S seconds, with exit code 124"
SESSION_HELP: Final = "continue session ID, or start a new one with this ID"
RESUME_HELP: Final = "continue session ID, which must exist; without a prompt, resume its interrupted turn"

CLOSED_HINT: Final = "Open both; /dev/null is enough."
NO_PROMPT: Final = "There is no prompt."
EMPTY_PROMPT: Final = "The prompt is empty."
PROMPT_HINT: Final = 'Pass one: hermes-acp run "…", or pipe it in.'
TWO_PROMPTS_HINT: Final = "Pass the prompt once: as an argument or with -p."
STDIN_BINARY: Final = "Standard input is not text."
STDIN_BINARY_HINT: Final = (
    "Only UTF-8 text can be piped in. For any other file, name it in the prompt instead."
)
AWAIT_HINT: Final = (
    'Pass one: hermes-acp run "…". To wait for standard input as long as it takes: hermes-acp run -'
)
WAITING_FOR_STDIN: Final = "info: Reading standard input to its end…"
EMPTY_SYSTEM_PROMPT: Final = "The text for the system prompt is empty."
NOTHING_TO_CONTINUE_HINT: Final = "Leave out --continue, or name a session with --resume ID."
ALLOW_HINT: Final = (
    "Write edit, 'edit(docs/**)', 'bash(pytest *)', 'web_fetch(docs.python.org)' or mcp__SERVER__TOOL."
)
ALLOW_COMMAND_HINT: Final = (
    "Write the first words of the command: 'bash(pytest *)'. "
    "To run every command in the sandbox: --mode auto."
)
PROMPT_TOO_LONG_HINT: Final = "Save the text in a file and name the file in the prompt."
INTERRUPTED: Final = "Interrupted."
BYPASS_NOT_ALLOWED: Final = "The mode `bypass` asks no questions, so it needs a separate flag."
BYPASS_HINT: Final = "Add --allow-bypass, but only where nothing can be lost."
RECORDED_HINT: Final = "The session is recorded anyway."

CALL_STATUS: Final = MappingProxyType({"completed": "done", "failed": "failed", "cancelled": "stopped"})
WAITS_FOR_APPROVAL: Final = "waits for your approval (hermes-acp memory pending)"
SHOWN_MODELS: Final = 5
APPROVAL_MISSED: Final = (
    "warning: A tool call needed approval, but nobody is available to give it (see --allow and --mode). "
    "A command that writes files needs --allow edit, too."
)
APPROVAL_IMPOSSIBLE: Final = "A tool call needed approval, but nobody is available to give it."


def streams_closed(reason: str) -> str:
    """Return the error for a process without standard input or output."""
    return f"Standard input or output is closed: {reason}."


def prompt_unreadable(path: str, reason: str) -> str:
    """Return the error for a prompt file that cannot be read."""
    return f"The prompt file {path!r} cannot be read: {reason}."


def prompt_not_utf8(path: str) -> str:
    """Return the error for a prompt file that is not text."""
    return f"The prompt file {path!r} is not UTF-8."


def two_prompts(word: str) -> str:
    """Return the error for a prompt that is given twice."""
    return f"There are two prompts: -p and {word!r}."


def no_prompt_arrived(seconds: float) -> str:
    """Return the error for a standard input that is open but stays silent."""
    return f"There is no prompt: standard input is open, but nothing arrived within {seconds:g} s."


def prompt_too_long(most: int) -> str:
    """Return the error for a prompt on standard input that is too long."""
    return f"The prompt on standard input is longer than {most:,} bytes."


def stdin_silent(seconds: float) -> str:
    """Warn about a standard input that is open but stays silent."""
    return (
        f"warning: Nothing arrived on standard input within {seconds:g} s, so the run starts without it. To wait for "
        "it, add - after the prompt; to leave it out, add < /dev/null."
    )


def stdin_cut(size: int, kept: int, most: int) -> str:
    """Warn about piped text that is too long."""
    amount = f"more than {most:,}" if size >= most else f"{size:,}"
    return (
        f"warning: {amount} bytes were piped in; the model sees only the first and the last {kept // 2:,}. "
        "Save them to a file to let it search them."
    )


def timed_out(seconds: float) -> str:
    """Return the error for a run that timed out while reading standard input."""
    return f"Stopped after {seconds:g} s while reading standard input."


def unknown_model(model: str, provider: str) -> str:
    """Return the error for a model that the endpoint does not list."""
    return f"{provider} lists no model {model!r}."


def unknown_model_hint(alike: Sequence[str], listed: Sequence[str]) -> str:
    """Suggest similar model names or, if there are none, some of the available ones."""
    if alike:
        return f"Did you mean {' or '.join(alike)}?"
    more = f" and {len(listed) - SHOWN_MODELS} more" if len(listed) > SHOWN_MODELS else ""
    return f"It lists {', '.join(listed[:SHOWN_MODELS])}{more}."


def nothing_to_continue(folder: str) -> str:
    """Return the error for `--continue` in a folder without stored sessions."""
    return f"There is no session in {folder} to continue."


def bad_allow(entry: str) -> str:
    """Return the error for an entry of `--allow` that cannot be read."""
    return f"--allow {entry!r} cannot be understood."


def bad_allow_because(entry: str, reason: str) -> str:
    """Return the error for an entry of `--allow` whose content is not valid."""
    return f"--allow {entry!r} is not valid: {reason}."


def unknown_tool(tool: str, alike: Sequence[str]) -> str:
    """Return the error for a tool that does not exist."""
    meant = f" Did you mean {' or '.join(alike)}?" if alike else ""
    return f"--allow names {tool!r}, which is not a tool.{meant}"


def allow_names_no_command(entry: str) -> str:
    """Return the error for an entry that would allow every command."""
    return f"--allow {entry!r} names no command."


def allow_cannot_cover(tool: str) -> str:
    """Return the error for a tool whose calls cannot be allowed beforehand."""
    return f"--allow cannot cover {tool!r}: its scripts can run anything."


def session_named(session_id: str) -> str:
    """Return the last line of a run in text format."""
    return f"Session ID: {session_id}; resume with: hermes-acp run --resume {session_id}"


def output_unwritable(reason: str) -> str:
    """Return the error for a standard output that cannot be written."""
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
