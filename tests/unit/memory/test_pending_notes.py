"""Notes that wait for the user: stored once, limited in number, and decided by ID."""

from pathlib import Path

import pytest
from msgspec import structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import EventContext
from hermes_acp.core.ports.memory_ports import MemoryChange
from hermes_acp.memory.memory_store import MemoryStore
from hermes_acp.memory.pending_notes import MAX_PENDING, PendingNotes, chosen, describe_pending_note

NOW = EventContext("ses_1", "turn_1", 1.0)


def add(text: str) -> MemoryChange:
    return MemoryChange("user", "add", text)


def waiting(home: Path, *texts: str) -> PendingNotes:
    pending = PendingNotes(home)
    for text in texts:
        pending.add("/project", home / "memories" / "USER.md", add(text), NOW)
    return pending


def test_a_proposal_is_stored_once_and_a_broken_line_damages_no_other(tmp_path: Path) -> None:
    pending = waiting(tmp_path, "Likes tea.", "Likes rain.", "Likes tea.")
    assert [note.change.text for note in pending.all()] == ["Likes tea.", "Likes rain."]
    first, second = pending.path.read_bytes().splitlines()
    pending.path.write_bytes(first[:20] + b"\n" + second + b"\n")
    assert [note.change.text for note in pending.all()] == ["Likes rain."]
    assert pending.path.stat().st_mode & 0o777 == 0o600


def test_the_number_of_pending_notes_is_limited(tmp_path: Path) -> None:
    pending = waiting(tmp_path, *(f"Fact {number}." for number in range(MAX_PENDING)))
    with pytest.raises(BadRequest, match="50 notes are already waiting"):
        waiting(tmp_path, "One more.")
    waiting(tmp_path, "Fact 0.")
    assert len(pending.all()) == MAX_PENDING


def test_approval_makes_the_change_once_even_after_a_crash(tmp_path: Path) -> None:
    memory = MemoryStore(tmp_path)
    (note,) = waiting(tmp_path, "Likes tea.").all()
    memory.change_now(note.cwd, note.change, note.moment)
    state = memory.approve(note)
    assert state.entries == ("Likes tea.",)
    assert memory.pending.all() == ()


def test_approval_applies_to_the_note_as_it_was_proposed(tmp_path: Path) -> None:
    memory = MemoryStore(tmp_path)
    memory.change_now("/project", add("Likes tea."), NOW)
    change = MemoryChange("user", "remove", old_text="Likes", meant="Likes tea.")
    memory.pending.add("/project", memory.path_of("user", "/project"), change, NOW)
    memory.change_now("/project", MemoryChange("user", "replace", "Likes rain.", "Likes tea."), NOW)
    (note,) = memory.pending.all()
    with pytest.raises(BadRequest, match="Somebody else has changed"):
        memory.approve(note)
    assert memory.pending.all() == (note,)
    assert "- Likes tea." in describe_pending_note(note)
    found = structs.replace(note, change=structs.replace(note.change, source="found"))
    assert "Not in your words" in describe_pending_note(found)
    assert "Not in your words" not in describe_pending_note(note)


def test_a_user_decides_by_id_or_about_all(tmp_path: Path) -> None:
    first, second = waiting(tmp_path, "One.\nTwo.", "Three.").all()
    assert chosen((first, second), ("all",)) == (first, second)
    assert chosen((first, second), (second.id, second.id)) == (second,)
    with pytest.raises(BadRequest, match="No pending note has the ID 'x'"):
        chosen((first, second), ("x",))
    assert "+ One.\n   Two." in describe_pending_note(first)
