"""Texts of `hermes-acp memory`."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

SHOW_HELP: Final = "show the notes for this folder, about you and for every folder"
SEARCH_HELP: Final = "show the notes that contain all words"
WORDS_HELP: Final = "words to search for"
ADD_HELP: Final = "add a note; the next session will see it"
TEXT_HELP: Final = "the note: one fact, in a sentence or two"
EDIT_HELP: Final = "replace a note"
FORGET_HELP: Final = "remove a note"
PART_HELP: Final = "a passage that only this note contains"
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
CHANGED: Final = MappingProxyType({"add": "Added", "replace": "Replaced", "remove": "Removed"})
PENDING_HELP: Final = "show the notes that were proposed while nobody could be asked"
APPROVE_HELP: Final = "save notes for later sessions"
REJECT_HELP: Final = "delete proposed notes"
IDS_HELP: Final = "IDs as `pending` prints them, or `all`"
NONE_PENDING: Final = "No notes wait for your approval."


def rejected(number: int, total: int) -> str:
    """Say how many notes were rejected."""
    return f"Rejected {number} of {total}."


def not_saved(note_id: str, reason: str) -> str:
    """Say why a note still waits."""
    return f"{note_id} still waits for approval: {reason}"


def saved(note_id: str) -> str:
    """Return the confirmation of a note."""
    return f"{note_id} is saved. The next session will see it."


def heading(about: str, store: str, characters: int, most: int) -> str:
    """Return the line above the notes of a store."""
    return f"{about} (--store {store}; {characters:,} of {most:,} characters)"


def changed(done: str, about: str) -> str:
    """Return the confirmation of a changed note."""
    return f"{done}: {about.lower()}. The next session will see it."


def several_stores(part: str) -> str:
    """Return the error for a passage that notes of several stores contain."""
    return f"Notes of several stores contain {part!r}."


def store_hint(stores: Sequence[str]) -> str:
    """Say how to name the store."""
    return f"Add --store {' or --store '.join(stores)}."


def unwritable(file: str, reason: str) -> str:
    """Return the error of a file that cannot be written."""
    return f"{file} cannot be written: {reason}."
