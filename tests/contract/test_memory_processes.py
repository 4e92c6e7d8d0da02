"""Two processes that write notes concurrently, five hundred changes each: nothing is lost or half written."""

from multiprocessing import get_context
from pathlib import Path

import pytest

from hermes_acp.core.event_types import EventContext
from hermes_acp.core.ports.memory_ports import MemoryChange
from hermes_acp.memory.memory_store import MemoryStore

pytestmark = pytest.mark.slow

ROUNDS = 250
NOW = EventContext("ses_1", "turn_1", 1.0)


def note_many(home: str, name: str) -> None:
    """Write a permanent note every fifty rounds, and a temporary one in between."""
    memory = MemoryStore(Path(home))
    for number in range(ROUNDS):
        memory.change_now("/", MemoryChange("memory", "add", f"{name}{number:03}"), NOW)
        if number % 50:
            memory.change_now("/", MemoryChange("memory", "remove", old_text=f"{name}{number:03}"), NOW)


def test_concurrent_processes_lose_no_note(tmp_path: Path) -> None:
    context = get_context("spawn")
    writers = [context.Process(target=note_many, args=(str(tmp_path), name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    stayed = sorted(MemoryStore(tmp_path).state("memory", "/").entries)
    assert stayed == [f"{name}{number:03}" for name in "ab" for number in range(0, ROUNDS, 50)]
