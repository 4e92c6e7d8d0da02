"""Count a turn's work in a session that had turns before: what can be done once is not repeated.

Each name below is a call into a worker thread; most access the disk. Whoever adds one makes every turn of every
session slower: if that is necessary, add it here.
"""

import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio

HOPS = {
    "Transcript._sync": 2,  # The prompt, before the model is asked; the end, before the answer.
    "WorkspaceAdmission._read_contents": 1,  # What the folder contains: settings, servers, rules, tools.
    "ContextFileMonitor._look": 1,  # Whether AGENTS.md and similar files have changed, before each step.
}
BESIDE = (
    "Database.",
    "SessionStore.",
    "ScanRecords.",
    "SkillLibrary.",
    "SkillSource.",
    "SkillWatch.",
    "FolderWatcher.",
)
"""The list of sessions and the skills are updated beside the turns, so it varies in which turn that happens."""


@contextmanager
def counted() -> Generator[Counter[str]]:
    """Count, in this thread, what is passed to worker threads, and how often a tool's schema is built."""
    calls: Counter[str] = Counter()
    begun: set[FrameType] = set()  # A coroutine is entered many times.

    def watch(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_name
        if event == "call" and name in ("run_sync_in_worker_thread", "schema_of") and frame not in begun:
            begun.add(frame)
            calls[name if name == "schema_of" else _name_of(frame.f_locals["func"])] += 1

    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def _name_of(function: Callable[..., Any]) -> str:
    while inner := getattr(function, "func", None):
        function = inner
    return getattr(function, "__qualname__", repr(function))


async def test_a_turn_of_text_only_uses_the_expected_threads(scene: Scene) -> None:
    scene.provider.plays(*(step(f"Answer {number}.") for number in range(3)))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        for _ in range(2):
            await editor.prompt(session)
        with counted() as calls:
            assert await editor.prompt(session) == "end_turn"
    assert {name: count for name, count in calls.items() if not name.startswith(BESIDE)} == HOPS


async def test_reading_a_file_adds_one_check_for_keys_and_one_of_the_context_files(scene: Scene) -> None:
    scene.write("notes.txt", "a line of its own\n")
    reads = [step(call("read_file", f"c{number}", path="notes.txt")) for number in range(2)]
    scene.provider.plays(reads[0], step("Read."), reads[1], step("Read again."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        with counted() as calls:
            assert await editor.prompt(session) == "end_turn"
    assert {name: count for name, count in calls.items() if not name.startswith(BESIDE)} == {
        **HOPS,
        "read_range": 1,
        "ContextFileMonitor._look": 2,
    }


async def test_the_first_turn_is_counted_as_doing_more(scene: Scene) -> None:
    """The counting itself works: a first turn describes its tools and freezes its prompt."""
    scene.provider.plays(step("Hello."))
    async with scene.editor() as editor:
        with counted() as calls:
            await editor.prompt(await editor.new_session(scene.project))
    assert calls["build_session_prompt"] == 1
