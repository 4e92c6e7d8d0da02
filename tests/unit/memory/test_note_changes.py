"""Changes that turns made to notes, and undoing them."""

from pathlib import Path

from hermes_acp.core.event_types import EventContext
from hermes_acp.core.ports.memory_ports import MemoryChange
from hermes_acp.memory.memory_store import CHANGED_SINCE, STORE_FULL, MemoryStore, reapply_change
from hermes_acp.memory.note_changes import MAX_BYTES, MAX_KEPT, NoteChange, NoteChanges

SESSION = "ses_1"


def in_turn(number: int) -> EventContext:
    return EventContext(SESSION, f"turn_{number}", float(number))


def add(text: str) -> MemoryChange:
    return MemoryChange("memory", "add", text)


def replace(part: str, text: str) -> MemoryChange:
    return MemoryChange("memory", "replace", text, part)


def test_a_turns_notes_are_undone_and_restored(tmp_path: Path) -> None:
    memory, changes = MemoryStore(tmp_path), NoteChanges(tmp_path)

    def entries() -> tuple[str, ...]:
        return memory.state("memory", "/").entries

    memory.change_now("/", add("Alpha."), in_turn(1))
    memory.change_now("/", add("Beta."), in_turn(2))
    memory.change_now("/", replace("Alpha", "Gamma."), in_turn(2))
    memory.change_now("/", MemoryChange("memory", "remove", old_text="Beta"), in_turn(3))
    assert changes.holding(SESSION) == {"turn_1": 1.0, "turn_2": 2.0, "turn_3": 3.0}
    assert changes.holding("ses_2") == {}
    back = changes.revert(SESSION, ["turn_2", "turn_3"], "cp_1", 4.0, reapply_change)
    assert (back.done, back.left) == (("Beta.", "Gamma.", "Beta."), ())
    assert entries() == ("Alpha.",)
    assert changes.holding(SESSION) == {"turn_1": 1.0}
    assert changes.last_undo(SESSION) == ("cp_1", 4.0)
    changes.reapply(SESSION, "cp_1", reapply_change)
    assert entries() == ("Gamma.",)
    assert changes.last_undo(SESSION) == ("", 0.0)


def test_a_note_changed_since_then_is_left_alone(tmp_path: Path) -> None:
    memory, changes = MemoryStore(tmp_path), NoteChanges(tmp_path)
    memory.change_now("/", add("Alpha."), in_turn(1))
    memory.change_now("/", add("Beta."), in_turn(1))
    path = memory.path_of("memory", "/")
    path.write_text("Alpha, said Kim.\n§\nBeta.\n§\nBy Kim.\n")
    back = changes.revert(SESSION, ["turn_1"], "cp_1", 2.0, reapply_change)
    assert back.done == ("Beta.",)
    assert back.left == (f"Alpha.: {CHANGED_SINCE}",)
    assert memory.state("memory", "/").entries == ("Alpha, said Kim.", "By Kim.")


def test_a_note_is_restored_once_and_only_if_there_is_room(tmp_path: Path) -> None:
    memory, changes = MemoryStore(tmp_path), NoteChanges(tmp_path)
    memory.change_now("/", add("Alpha " * 50), in_turn(1))
    memory.change_now("/", MemoryChange("memory", "remove", old_text="Alpha"), in_turn(2))
    path = memory.path_of("memory", "/")
    path.write_text("x" * 2_190)
    assert changes.revert(SESSION, ["turn_2"], "cp_1", 3.0, reapply_change).left[0].endswith(STORE_FULL)
    path.write_text("Alpha " * 50)
    changes.reapply(SESSION, "cp_1", reapply_change)
    path.write_text("Alpha " * 50)
    changes.revert(SESSION, ["turn_2"], "cp_2", 4.0, reapply_change)
    assert memory.state("memory", "/").entries == (("Alpha " * 50).strip(),)


def test_the_newest_changes_are_kept_and_a_torn_one_damages_no_other(tmp_path: Path) -> None:
    changes, path = NoteChanges(tmp_path), tmp_path / "history" / "note-changes.jsonl"
    changes.add(NoteChange(in_turn(1), "memory", "/x", "", "A."))
    with path.open("ab") as stream:
        stream.write(b'\n{"moment": {"session')
    changes.add(NoteChange(in_turn(2), "memory", "/x", "", "B."))
    assert list(changes.holding(SESSION)) == ["turn_1", "turn_2"]
    long = "x" * (MAX_BYTES // MAX_KEPT)
    for number in range(3, MAX_KEPT + 3):
        changes.add(NoteChange(in_turn(number), "memory", "/x", "", long))
    holding = changes.holding(SESSION)
    assert "turn_1" not in holding
    assert f"turn_{MAX_KEPT + 2}" in holding
