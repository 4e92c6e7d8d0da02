"""Whether checkpoints can be taken and those that were taken can be read, without changing anything.

Knows: git, the notes, the shadows and the trees that notes name. Does not know: who reads the findings.
"""

from collections.abc import Iterator
from threading import Event
from typing import Final

from hermes_acp.core.checkpoints import CheckpointTrouble
from hermes_acp.storage.checkpoints.book import Note
from hermes_acp.storage.checkpoints.pins import Pins
from hermes_acp.storage.checkpoints.shadow_git import find_git
from hermes_acp.storage.checkpoints.store import Store, StoreSetup
from hermes_acp.storage.checkpoints.sweeping import size_bytes
from hermes_acp.storage.checkup import Finding

WITHOUT: Final = "Turns cannot be undone."


def examine_checkpoints(setup: StoreSetup) -> Iterator[Finding]:
    """Look at everything; blocks."""
    try:
        find_git(setup.variables, ())
    except CheckpointTrouble as trouble:
        yield Finding("note", trouble.message, WITHOUT)
        return
    notes = Store(setup, Event(), {}).book.all()
    lost = [note for note in notes if not _is_whole(setup, note)]
    torn = sum(note.is_torn for note in notes)
    if lost:
        names = ", ".join(note.id for note in lost[:5])
        text = f"{len(lost)} of {len(notes)} checkpoints have lost what they kept ({names})."
        yield Finding("note", text, "They cannot be undone; all others can.")
    elif notes:
        yield Finding("fine", f"{len(notes)} checkpoints can be undone.")
    if torn:
        yield Finding(
            "note", f"{torn} checkpoints are of turns that did not end.", "`/undo force` undoes them."
        )
    if taken_bytes := size_bytes(setup.shelf, Event()):
        yield Finding("fine", f"Checkpoints take {taken_bytes / 1e6:,.1f} MB.")


def _is_whole(setup: StoreSetup, note: Note) -> bool:
    """Tell whether the trees of a checkpoint are still pinned in shadows that are there."""
    for place in note.places:
        pins = Pins(setup.shelf / place.shadow)
        if not pins.holds(note.id, "before") or (place.after and not pins.holds(note.id, "after")):
            return False
    return True
