"""What `hermes-acp memory` says."""

from typing import Final

PENDING_HELP: Final = "show the notes that were proposed while nobody could be asked"
APPROVE_HELP: Final = "save notes, so that later sessions see them"
REJECT_HELP: Final = "delete proposed notes"
IDS_HELP: Final = "IDs as `pending` prints them, or `all`"
NONE_PENDING: Final = "No notes wait for your approval."


def rejected(number: int, total: int) -> str:
    """Return how many notes were rejected."""
    return f"Rejected {number} of {total}."


def not_saved(note_id: str, reason: str) -> str:
    """Return why a note still waits."""
    return f"{note_id} still waits for approval: {reason}"


def saved(note_id: str) -> str:
    """Return the confirmation of a note."""
    return f"{note_id} is saved. The next session will see it."
