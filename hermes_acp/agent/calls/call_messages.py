"""Messages about calls that did not run or were cut short.

Each note addresses two readers: the user and the model both see its text; only the model sees its advice.
"""

from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import HermesError
from hermes_acp.core.events import CallEnded


class CallNote(Struct, frozen=True):
    """A sentence about a call, with advice for the model."""

    text: str
    advice: str = ""

    def format(self, **values: object) -> "CallNote":
        """Return the note with its placeholders filled in."""
        return CallNote(self.text.format(**values), self.advice.format(**values))


def note_of(error: HermesError) -> CallNote:
    """Convert a failed call's error to a note; the hint is addressed to the model, which made the call."""
    return CallNote(error.message, error.hint)


def is_refused_by_check(ended: CallEnded) -> bool:
    """Return whether a call was refused by one of the user's own checks, such as a hook."""
    return ended.status == "failed" and ended.advice == REFUSED_BY_STAGE.advice


NOT_ALLOWED: Final = CallNote(
    "Not allowed: {why}.", "This is a decision: do not try to get the same result another way."
)
REFUSED_BY_STAGE: Final = CallNote(
    "{why}", "This is a decision of the user's own checks: do not try to get the same result another way."
)
REFUSED: Final = CallNote("The user refused this.", "Ask what they want instead, or continue without it.")
DISMISSED: Final = CallNote(
    "Not run: the question was closed without an answer.",
    "This is not a refusal; ask the user how to continue.",
)
UNANSWERED: Final = CallNote(
    "Not run: this needs approval ({why}), and nobody answered within {seconds:g} s.",
    "This is not a refusal.",
)
UNAVAILABLE: Final = CallNote(
    "Not run: this needs approval ({why}), and nobody answered.",
    "This is not a refusal.",
)

UNREAD: Final = CallNote(
    "{path} was not read in this session, so nothing was changed.", "Read it, then decide on the change."
)
CHANGED_SINCE_READ: Final = CallNote(
    "{path} has changed since it was read, so nothing was changed.",
    "Read it again, then decide on the change.",
)

CUT_OFF: Final = CallNote(
    "Not run: the model's answer was cut off at its length limit, so this call may be incomplete.",
    "Send it again, in smaller parts.",
)
REPEATED: Final = CallNote(
    "Not run again: this step already contains the same call.",
    "The outcome of that call is the outcome of this one.",
)
TOO_MANY: Final = CallNote(
    "Not run: a step may contain at most {most} calls of {name}.",
    "Make this call in a later step.",
)

ENDED: Final = "It was ended and may be half done."
STILL_RUNNING: Final = "Its function cannot be stopped and may still be running."
STOPPED_BEFORE_END: Final = CallNote("The turn was stopped before this call finished.")
CANCELLED: Final = CallNote(
    "Cancelled by the user while it was running. {ending}",
    "The turn continues: check the current state, and do not simply make this call again.",
)
CRASHED: Final = CallNote(
    "The tool failed unexpectedly ({kind}). What it had done by then is unknown.",
    "Try another approach.",
)
BEYOND_CAPABILITIES: Final = CallNote(
    "Not run: {name} has no capability for this effect ({effect}). This is a bug in the agent.",
    "The call itself is not at fault; try another tool.",
)
CALL_TIMED_OUT: Final = CallNote(
    "Stopped after {seconds:.3g} s, the time limit of a call. {ending}",
    "Check the current state, then try a smaller part or another approach.",
)
NO_TIME_LEFT: Final = CallNote(
    "Not run: this turn has reached its time limit.", "Only a final answer is possible now."
)
TURN_TIMED_OUT: Final = CallNote(
    "Stopped: this turn has reached its time limit. {ending}",
    "Only a final answer is possible now. Say this in it.",
)
