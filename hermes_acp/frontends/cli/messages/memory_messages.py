"""Messages of `hermes-acp memory`."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

SHOW_HELP: Final = "show the notes for this folder, about you and for every folder"
SEARCH_HELP: Final = "show the notes that contain all the given words"
WORDS_HELP: Final = "words to search for"
ADD_HELP: Final = "add a note; the next session will see it"
TEXT_HELP: Final = "the note: one fact, in a sentence or two"
EDIT_HELP: Final = "replace a note"
FORGET_HELP: Final = "remove a note"
PART_HELP: Final = "a passage that only this note contains"
CONFIRM_HELP: Final = "confirm that a note is still true, which renews its confidence"
SOURCES: Final = MappingProxyType(
    {
        "written": "written by you",
        "said": "said by you in the session",
        "approved": "proposed by the agent, approved by you",
        "found": "found by the agent, not said by you",
    }
)
EXPORT_HELP: Final = "write the notes as Markdown"
OUTPUT_HELP: Final = "the file to write (default: standard output)"
STORE_HELP: Final = (
    "workspace: for this folder (default for `add`); user: about you; memory: for every folder"
)
STORES: Final = MappingProxyType(
    {"workspace": "For this folder", "user": "About you", "memory": "For every folder"}
)
EXPORT_TITLE: Final = "Notes for later sessions"
NOTED_ALREADY: Final = "This note already exists. Nothing was changed."
NO_NOTES: Final = "(no notes)"
CHANGED: Final = MappingProxyType(
    {"add": "Added to the notes", "replace": "Replaced in the notes", "remove": "Removed from the notes"}
)
PENDING_HELP: Final = "show the notes that were proposed while nobody was available to approve them"
APPROVE_HELP: Final = "save notes for later sessions"
REJECT_HELP: Final = "delete proposed notes"
IDS_HELP: Final = "IDs as `pending` prints them, or `all`"
NONE_PENDING: Final = "No notes are waiting for your approval."


def rejected(number: int, total: int) -> str:
    """Say how many notes were rejected."""
    return f"Rejected {number} of {total}."


def not_saved(note_id: str, reason: str) -> str:
    """Say why a note is still waiting for approval."""
    return f"{note_id} is still waiting for approval: {reason}"


def saved(note_id: str) -> str:
    """Confirm that a note was saved."""
    return f"{note_id} is saved. The next session will see it."


def heading(about: str, store: str, characters: int, most: int) -> str:
    """Return the line above the notes of a store."""
    return f"{about} (--store {store}; {characters:,} of {most:,} characters)"


def origin(when: str, session_id: str) -> str:
    """Say when and where a note was written; an empty session means that a person wrote it."""
    return f"noted {when}, in session {session_id}" if session_id else f"noted {when}, by you"


def confidence(source: str, share: float) -> str:
    """Describe a note's source, if known, and its confidence."""
    return f"{SOURCES[source]}; confidence {share:.0%}" if source in SOURCES else f"confidence {share:.0%}"


def confirmed(text: str) -> str:
    """Confirm that a note is still true."""
    return f"Confirmed: {text}"


def changed(done: str, about: str, *, is_removed: bool) -> str:
    """Confirm that a note was changed."""
    seen = "will not see it" if is_removed else "will see it"
    return f"{done} {about[:1].lower()}{about[1:]}. The next session {seen}."


def may_contradict(about: str, note: str, command: str) -> str:
    """Say that a new note may contradict an earlier one, and what to do in either case."""
    return (
        f"There is an earlier note about the same subject ({about[:1].lower()}{about[1:]}): {note}\n"
        f"If both hold, leave them. If only the new one holds, remove the earlier one: {command}"
    )


def several_stores(part: str) -> str:
    """Return the error for a passage that occurs in several stores."""
    return f"Notes of several stores contain {part!r}."


def store_hint(stores: Sequence[str]) -> str:
    """Say how to name the store."""
    return f"Add --store {' or --store '.join(stores)}."


def unwritable(file: str, reason: str) -> str:
    """Return the error for a file that cannot be written."""
    return f"{file} cannot be written: {reason}."
