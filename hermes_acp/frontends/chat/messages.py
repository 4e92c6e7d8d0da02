"""All messages of the chat, except names that a person types, such as `on` and `off`.
Messages contain no indentation and no terminal markup. `tests/golden/messages/chat.txt` lists them all.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

# The command line

COMMAND_DESCRIPTION: Final = (
    "Talk to the agent in a terminal. In a pipe, every line of standard input is a prompt."
)
FLAG_CWD: Final = "the working directory (default: the current one)"
FLAG_MODEL: Final = "the model to start with"
FLAG_MODE: Final = "what runs without asking (default: from your configuration)"
FLAG_ALLOW_BYPASS: Final = "allow the mode `bypass`, which never asks"
FLAG_PRIVATE: Final = "do not save what you type in the history"
FLAG_PLAIN: Final = "print plain lines, as in a pipe"
FLAG_FULL: Final = "use the full screen, with panes for changes, sessions and running work (extra: tui)"
FLAG_PROMPT: Final = "the first prompt"
FLAG_RESUME: Final = "resume session ID; without an ID, choose one of this folder's sessions"
RESUME_WHICH: Final = "--resume needs a session ID if the chat is not interactive."
RESUME_WHICH_HINT: Final = "`hermes-acp sessions list` shows the IDs; --continue resumes the latest session."
FLAG_CONTINUE: Final = "resume the latest session of this folder"
NOT_A_FOLDER_HINT: Final = "Name an existing folder with --cwd."
OFFER_SETUP: Final = "Set up a model now? [Y/n] "
OFFER_MENDING: Final = "Repair the settings now? [Y/n] "
MISSING_PACKAGES_HINT: Final = (
    "Reinstall hermes-acp with its dependencies: run `pip install .` in a clone of it."
)
FULL_NEEDS_TEXTUAL: Final = "The full-screen chat needs the package textual, which is not installed."
FULL_NEEDS_TERMINAL: Final = "The full-screen chat needs a terminal for input and output."
FULL_NEEDS_TERMINAL_HINT: Final = "Leave out --full in a pipe or if TERM is dumb."


def not_a_folder(path: str) -> str:
    """Report a working directory that does not exist."""
    return f"{path!r} is not a folder."


def missing_packages(names: Sequence[str]) -> str:
    """Report missing packages that the chat needs."""
    return f"The chat needs packages that are not installed: {', '.join(names)}."


def fatal(reason: str) -> str:
    """Report on standard error why the chat ended."""
    return f"hermes-acp: {reason}"


# Start and end

PRODUCT: Final = "Hermes"
GREETING_HINT: Final = "/help for commands and keys"
STARTING: Final = "starting the agent…"
RESTARTING: Final = "restarting the agent…"
RESTARTED: Final = (
    "The agent stopped unexpectedly and was restarted. Nothing is lost. "
    "If it does not go on by itself, type “go on”."
)
QUIT_HINT: Final = "Press Ctrl+C again, or Ctrl+D, to quit."
STOPPING_HINT: Final = "Stopping… Press Ctrl+C again to quit."


def profile_in_use(name: str) -> str:
    """Name the profile at the start of a chat."""
    return f"profile {name}"


def answered_elsewhere(client: str) -> str:
    """Name the client in which a question was answered first."""
    return f"Answered in {client}."


def resumed(session: str) -> str:
    """Report that an earlier session is open."""
    return f"Resumed session: {session}"


def how_to_resume(session_id: str) -> str:
    """Say how to return to the session that was open."""
    return f"Resume with: hermes-acp chat --resume {session_id}"


# The prompt and the status line

IDLE_PLACEHOLDER: Final = "Ask anything · / for commands · @ for files"
STEERING_PLACEHOLDER: Final = "Your message steers this turn · Esc to stop"
QUEUEING_PLACEHOLDER: Final = "Your message waits for this turn · Esc to stop"
QUESTION_WAITS: Final = "Press Tab to answer the question above. Your text is kept."
NO_EDITOR_HINT: Final = "Set VISUAL or EDITOR to the command of your text editor."
RECORDING: Final = "● Recording. Press Ctrl+T when you are done, or Esc to discard it."
TRANSCRIBING: Final = "Transcribing… Press Esc to discard the recording."
NO_TRANSCRIPTION: Final = "Speech cannot be transcribed here. `hermes-acp voice` explains why."
NO_RECORDER: Final = (
    "No program to record with was found. Install pw-record, parecord, arecord, SoX or ffmpeg."
)
RECORDER_FAILED: Final = "{program} cannot record: {complaint}"
NOTHING_RECORDED: Final = "Nothing was recorded."
STEERING: Final = "steering"
QUEUED: Final = "queued"
WORKING: Final = "working"


def more_queued(count: int) -> str:
    """Count the queued messages that are not shown."""
    return f"… {count} more"


def effort(level: str) -> str:
    """Name the reasoning effort in the status line."""
    return f"effort {level}"


def pasted(lines: int, characters: int, number: int) -> str:
    """Return the marker for a long pasted text in the input line; `number` distinguishes texts of the same size."""
    size = _counted(lines, "line") if lines > 1 else _counted(characters, "character")
    return f"[{size} pasted{f' #{number}' if number > 1 else ''}]"


def context_used(percent: int, size: str) -> str:
    """Show how full the model's context is."""
    return f"context {percent}% of {size}"


def missing_file(name: str) -> str:
    """Warn of a mention that names no file."""
    return f"There is no file {name}. Press Enter again to send this anyway."


def linked_only(name: str, size_bytes: int) -> str:
    """Report a file that is too large to be sent with the prompt."""
    return f"{name} is too large to send ({size_bytes:,} bytes). The prompt contains a link to it instead."


def of_another_profile(name: str) -> str:
    """Report a file that is not sent because another profile owns it."""
    return f"{name} belongs to another profile, so it is not sent."


def not_readable(name: str, reason: str) -> str:
    """Report a file that could not be read."""
    return f"Could not read {name}: {reason}. The prompt contains a link to it instead."


# Turns

STOP_REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cancelled": "Stopped.",
        "refusal": "The prompt was refused.",
        "max_tokens": "The answer was cut off because it reached the model's output limit.",
        "max_turn_requests": "The turn reached its budget. Type “continue” to go on.",
    }
)
COMPACTING: Final = "Summarising the earlier conversation…"
COMPACTED: Final = "Summarised the earlier conversation for the model."
ATTACHED_TEXT: Final = "[attached text]"
NEW_FILE: Final = "(new)"


def compaction_failed(reason: str = "") -> str:
    """Report that the conversation could not be summarised."""
    return f"Could not summarise the conversation. {reason}".rstrip()


def changed_without_asking(count: int) -> str:
    """Report files that a turn changed without a question."""
    return f"{_counted(count, 'file')} changed without asking. /review to check, /undo to revert."


def rejected_unattended(title: str) -> str:
    """Report a call that was not run because nobody was available to approve it."""
    return f"Not run, because nobody is available to approve it: {title}"


def attached_image(mime_type: str) -> str:
    """Return the placeholder for an image, which is not drawn."""
    return f"[image: {mime_type}]"


def attached_audio(mime_type: str) -> str:
    """Return the placeholder for audio, which is not played."""
    return f"[audio: {mime_type}]"


def more_lines(count: int) -> str:
    """Count the lines below that are not shown."""
    return f"… {_counted(count, 'more line')}"


def more_characters(count: int) -> str:
    """Count the characters of a long line that are not shown."""
    return f"… {count:,} more characters"


def more_lines_above(count: int) -> str:
    """Count the lines of output above that are not shown."""
    return f"… {_counted(count, 'more line')} above"


def more_lines_of_thought(count: int) -> str:
    """Count the lines of a thought that are not shown."""
    return f"… {_counted(count, 'more line')}: /thoughts"


# Permission questions

YOUR_ANSWER: Final = "Your answer:"
YES_OR_NO: Final = "yes or no"
REJECT_AND_SAY_WHY: Final = "reject and say why"
REVIEW_BY_HUNK: Final = "review hunk by hunk"
FULL_DIFF: Final = "full diff"
WHY_NOT: Final = "Why not? (Enter to send, Ctrl+C to go back)"
REJECTED: Final = "Rejected"
EDITOR_FAILED: Final = "Your editor failed, so this hunk was left out."


def rejected_because(comment: str) -> str:
    """Confirm a rejection that carries a comment."""
    return f"Rejected: {comment}"


def accept_hunk(number: int, count: int, *, can_edit: bool) -> str:
    """Ask about one hunk of an edit that is not applied yet."""
    edit = " · e edit" if can_edit else ""
    return f"Accept hunk {number} of {count}? y yes · n no{edit} · a accept the rest · d reject the rest · q back"


def hunks_accepted(accepted: int, count: int) -> str:
    """Confirm which part of an edit is applied."""
    return "Allowed" if accepted == count else f"Allowed in part: {accepted} of {_counted(count, 'change')}"


# Forms and links

OPEN_LINK: Final = "Open this link in a browser. y done · n decline"
OR_OWN_WORDS: Final = "or your own words"
OPTIONAL_FIELD: Final = "(Enter to skip)"
WANT_YES_OR_NO: Final = "Answer yes or no."
WANT_INTEGER: Final = "Enter a whole number."
WANT_NUMBER: Final = "Enter a number."
WANT_TEXT: Final = "This field is required."


def want_choice(count: int) -> str:
    """Say which number a field accepts."""
    return f"Enter a number from 1 to {count}."


def want_choices(count: int) -> str:
    """Say which numbers a field with several choices accepts."""
    return f"Enter numbers from 1 to {count}, separated by commas."


# Slash commands

DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "clear": "Start a new session, as /new does",
        "copy": "Copy the last answer to the clipboard",
        "diff": "Show which files this session has changed, and how",
        "effort": "Choose how much the model reasons",
        "fork": "Continue in a copy of this session",
        "help": "Show commands and keys",
        "mode": "Choose what the agent asks about",
        "model": "Choose the model",
        "new": "Start a new session",
        "options": "Show all options, or set one",
        "output": "Show the full output of the last tool call",
        "quit": "Quit; you can resume the session later",
        "rename": "Give this session another title",
        "resume": "Resume a stored session",
        "review": "Review edits made without asking, hunk by hunk",
        "rewind": "Go back to one of your earlier prompts",
        "sessions": "List the sessions of this folder; resume or copy one",
        "thoughts": "Show the model's last thoughts in full",
    }
)
HINT_VALUE: Final = "name or number"
HINT_OPTION: Final = "name value"
HINT_SESSION: Final = "number or ID"
HINT_PROMPT: Final = "number"
HINT_ALL: Final = "all"
HINT_TITLE: Final = "title"
HINT_FILE: Final = "file"
HELP_CHAT: Final = "**Chat**"
HELP_AGENT: Final = "**Agent**"
HELP_KEYS: Final = """**Keys**

- Enter sends; Ctrl+J or Alt+Enter starts a new line
- Tab completes; `/` lists commands, `@` names a file, `!` runs a command
- Esc stops the turn; so does Ctrl+C, which quits when pressed twice; Ctrl+D quits
- Shift+Tab switches the mode; Ctrl+G opens your editor; Ctrl+T records what you say; Ctrl+O shows full output
- Ctrl+R searches your earlier prompts; Ctrl+Z suspends the chat until `fg`
- `?` alone shows this help
- A message sent during a turn waits for it or steers it (`/options during_turn`)"""
PICK_NUMBER: Final = "Which number? (Enter to keep it)"
NO_OPTIONS: Final = "This session has no options."
NO_OUTPUT: Final = "No tool call has printed anything yet."
NO_THOUGHTS: Final = "The model has shown no thoughts yet."
NO_SESSIONS: Final = "There are no sessions yet."
NOTHING_TO_REWIND: Final = "There is no prompt to go back to."
PICK_PROMPT: Final = "Go back to which prompt? (number · Enter to stay)"
REWOUND: Final = (
    "This is a copy of the session up to that prompt. Files were not changed; "
    "/undo in the earlier session reverts them."
)
NEW_SESSION: Final = "New session."
NO_ANSWER: Final = "There is no answer to copy yet."
COPIED: Final = "Sent the last answer to your terminal's clipboard."
NO_CLIPBOARD: Final = "This terminal has no clipboard that the chat can use."
NO_TITLE: Final = "(untitled)"
OPEN_NOW: Final = "open"
PICK_SESSION: Final = "Which session? (number to resume · f number to copy · Enter to stay)"
PICK_TO_RESUME: Final = "Which session? (number · Enter to stay)"
PICK_AT_START: Final = "Which session? (number · Enter for a new one)"
NO_SESSIONS_HERE: Final = "There are no sessions in this folder yet."
WHICH_TITLE: Final = "Enter /rename followed by the new title."
NOTHING_CHANGED: Final = "This session has changed no files."
BINARY_FILE: Final = "binary"
DELETED_FILE: Final = "(deleted)"
NO_REVIEWS: Final = "This agent does not keep edits for review."
NOTHING_TO_REVIEW: Final = "Nothing to review."


def unknown_command(name: str, meant: str) -> str:
    """Report a slash command that neither the chat nor the agent has."""
    return f"Unknown command /{name}. " + (
        f"Did you mean /{meant}?" if meant else "/help lists the commands."
    )


def not_during_turn(command: str) -> str:
    """Refuse a command while the agent works."""
    return f"/{command} is not available during a turn. Press Esc to stop the turn."


def session_not_opened(reason: str) -> str:
    """Report that another session could not be opened."""
    return f"Could not open that session. {reason}"


def unknown_option(name: str) -> str:
    """Report an option that the session does not have."""
    return f"There is no option {name!r}. /options lists them."


def option_heading(name: str, value: str) -> str:
    """Return the heading of the list of an option's values."""
    return f"**{name}** is `{value}`"


def option_set(name: str, value: str) -> str:
    """Confirm an option's new value."""
    return f"{name}: {value}"


def not_listed(number: str, count: int) -> str:
    """Report a number that is not in the list of sessions."""
    return f"{number!r} is not in the list. Enter a number from 1 to {count}."


def renamed(title: str) -> str:
    """Confirm a session's new title."""
    return f"This session is now called {title}."


def not_changed_here(path: str) -> str:
    """Report a file that the session has not changed."""
    return f"This session has not changed {path}."


def not_stored(count: int) -> str:
    """Count the files whose state before the session was not stored."""
    return f"{_counted(count, 'changed file')} not shown: too large, or not stored."


def keep_hunk(number: int, count: int) -> str:
    """Ask about one hunk of an edit that is already applied."""
    return (
        f"Keep hunk {number} of {count}? "
        "y yes · n revert it · s later · a keep the rest · d revert the rest · q quit"
    )


def hunks_kept(kept: int, count: int) -> str:
    """Confirm which part of a file's edits was kept."""
    return f"Kept {kept} of {_counted(count, 'hunk')}"


def hunks_reverted(reverted: int, count: int) -> str:
    """Confirm which part of a file's edits was reverted."""
    return f"Reverted {reverted} of {_counted(count, 'hunk')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
