"""Messages that only the full-screen chat has.

`tests/golden/messages/chat.full_screen.txt` lists them.
"""

from collections.abc import Sequence
from typing import Final, Literal

PLACEHOLDER: Final = "Ask anything · / for commands · @ for files"
AGENT_LOST: Final = "The agent is not running."
NO_SESSION: Final = "The agent is starting."

# The status line

HELP_KEY: Final = "F1 keys"
ANSWER_KEY: Final = "F2 answers the question"
MOUSE_OFF: Final = "The terminal selects text now. F6 returns the mouse to the chat."
MOUSE_ON: Final = "The mouse scrolls and selects in the chat again."
COPIED: Final = "Copied."
QUESTION_FIRST: Final = "Answer the question first (F2) or stop the turn (Esc). Your text is kept."
NOT_READY: Final = "The chat is busy with your last command. Your text is kept."

# The question panel

LINE_HINT: Final = "Enter sends · Esc goes back"


def key_choices(keys: Sequence[str]) -> str:
    """List the keys that answer a question, and how to reach it."""
    return f"F2, then {' '.join(keys)} · Esc returns to the input"


# The changes pane

CHANGES_TITLE: Final = "Changes"
ASKED_CHANGES: Final = "Waiting for your approval"
MADE_CHANGES: Final = "Made without asking"
CHANGES_ASKED_KEYS: Final = "y accept · n reject · e edit · a/d whole file · s submit · Esc back"
CHANGES_MADE_KEYS: Final = "y keep · n revert · a/d whole file · Esc close"
NO_CHANGES: Final = "Nothing to review."
EDITOR_FAILED: Final = "The editor failed. The hunk is unchanged."
NO_REVIEWS: Final = "This agent does not keep edits for review."


def hunks_without_verdict(count: int) -> str:
    """Say that a proposal cannot be submitted yet."""
    return f"Accept or reject every hunk first: {count} left."


def verdict_given(count: int, verdict: Literal["accepted", "rejected"]) -> str:
    """Confirm that edits made earlier were kept or reverted."""
    hunks = "1 hunk" if count == 1 else f"{count} hunks"
    return f"Kept {hunks}." if verdict == "accepted" else f"Reverted {hunks}."


# The sessions pane

SESSIONS_TITLE: Final = "Sessions"
SESSIONS_KEYS: Final = "Enter open · n new · f copy · r rename · / search · Esc close"
SEARCH_FIELD: Final = "Search the text of all sessions"
RENAME_FIELD: Final = "New title"
NO_SESSIONS: Final = "No sessions."
NO_TITLE: Final = "(untitled)"
BUSY: Final = "Stop the turn first (Esc)."

# The pane of running work

ACTIVITY_TITLE: Final = "Running now"
QUEUE_TITLE: Final = "Messages in the queue"
WAITING_QUESTION: Final = "A question is waiting for you (F2)"
MODEL_WORKS: Final = "The model is working."
NOTHING_RUNS: Final = "Nothing is running."

# Keys

KEYS_TITLE: Final = "Keys"
KEYS: Final = """| key | what it does |
| --- | --- |
| Enter | send the prompt |
| Shift+Enter, Alt+Enter, Ctrl+J | start a new line |
| Ctrl+G | write the prompt in your editor |
| Ctrl+T | speak: start and stop the recording; Esc discards it |
| `/`, `@`, Tab | complete commands and files |
| Up, Down | earlier prompts |
| PgUp, PgDn | scroll the conversation |
| F2 | go to the question; then its keys answer it |
| F3, F4, F5 | changes, sessions, running work |
| F7 | go to the conversation: Up, Down, Enter or Ctrl+O unfold |
| Ctrl+O | unfold the last entry, fold it again |
| Shift+Tab | next mode |
| Esc | go back; in the input, stop the turn |
| F6 | give the mouse to the terminal, to select text there |
| Ctrl+C | copy the selection; else stop, clear, or press twice to quit |
| Ctrl+D | quit |

In a list, Up and Down (or k and j) move, Enter opens, and Esc closes."""
