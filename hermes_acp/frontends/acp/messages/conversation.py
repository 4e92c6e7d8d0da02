"""Messages to people in conversations: permission questions, forms, notices."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.core.event_types import WarningKind

ALLOW_ONCE: Final = "Allow once"
REJECT_ONCE: Final = "Reject"
FORM_CHOICE: Final = "Choose"
FORM_ANSWER: Final = "Your answer"
FORM_OTHER_ANSWER: Final = "Or in your own words"
PAGE_DONE: Final = "Done"
COMPACTING: Final = "The conversation is long, so its older part is being summarised for the model."
ANSWER_RESTARTED: Final = " …\n\n*(interrupted; starting again)*\n\n"

WARNINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "deletes": "it deletes files",
        "publishes": "it publishes or changes something elsewhere",
        "reaches": "it contacts other machines",
    }
)
MAX_NAMED_TARGETS: Final = 10


def allow_in_session(what: str, manner: str) -> str:
    """Name the option that allows all calls like this one until the session ends."""
    return f"Allow {what} for this session{manner}"


def allow_in_folder(what: str, manner: str) -> str:
    """Name the option that allows all calls like this one in this folder, permanently."""
    return f"Always allow {what} in this folder{manner}"


def reject_in_session(what: str) -> str:
    """Name the option that rejects all calls like this one until the session ends."""
    return f"Reject {what} for this session"


def text_in_diff(characters: int) -> str:
    """Return the placeholder for a long argument that the call's diff contains."""
    return f"[{characters:,} characters, as in the diff]"


def asked_because(reasons: Sequence[str]) -> str:
    """Return the sentence that says why a call needs permission."""
    return f"Asked because {'; '.join(reasons)}."


def effect_reason(kind: WarningKind, targets: Sequence[str]) -> str:
    """Return the reason for asking that warns of an effect."""
    named = ", ".join(targets[:MAX_NAMED_TARGETS])
    more = len(targets) - MAX_NAMED_TARGETS
    return f"{WARNINGS[kind]}{f': {named}' if named else ''}{f' and {more} more' if more > 0 else ''}"
