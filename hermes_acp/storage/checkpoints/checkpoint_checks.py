"""Check, without changing anything, whether checkpoints can be taken and existing ones can be read."""

from collections.abc import Iterator
from threading import Event

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointRecord
from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
from hermes_acp.storage.checkpoints.garbage_collection import size_bytes
from hermes_acp.storage.checkpoints.gc_refs import GcRefs
from hermes_acp.storage.checkpoints.shadow_git import find_git
from hermes_acp.storage.storage_checks import CheckResult


def check_checkpoints(setup: StoreSetup) -> Iterator[CheckResult]:
    """Run all checks. Blocks."""
    try:
        find_git(setup.variables, ())
    except CheckpointError as error:
        yield CheckResult("note", error.message, error.hint)
        return
    notes = CheckpointStore(setup, Event(), {}).checkpoint_index.all()
    lost = [note for note in notes if not _is_whole(setup, note)]
    torn = sum(note.is_torn for note in notes)
    if lost:
        names = ", ".join(note.id for note in lost[:5])
        text = f"{len(lost)} of {len(notes)} checkpoints have lost their content ({names})."
        yield CheckResult("note", text, "They cannot be undone; all others can.")
    elif notes:
        yield CheckResult("fine", f"{len(notes)} checkpoints can be undone.")
    if torn:
        yield CheckResult(
            "note", f"{torn} checkpoints belong to unfinished turns.", "`/undo force` undoes them."
        )
    if taken_bytes := size_bytes(setup.shadows_folder, Event()):
        yield CheckResult("fine", f"Checkpoints take {taken_bytes / 1e6:,.1f} MB.")


def _is_whole(setup: StoreSetup, note: CheckpointRecord) -> bool:
    """Return whether all trees of a checkpoint are still referenced in existing shadows."""
    for place in note.places:
        gc_refs = GcRefs(setup.shadows_folder / place.shadow)
        if not gc_refs.has_ref(note.id, "before") or (place.after and not gc_refs.has_ref(note.id, "after")):
            return False
    return True
