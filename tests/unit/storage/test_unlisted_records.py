"""Finding records missing from the list of sessions: their folder is listed only if it has changed."""

import os
from pathlib import Path

import pytest

from hermes_acp.core.events import SessionOpened, TitleChanged
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript

pytestmark = pytest.mark.anyio

LONG_AGO_S = 1_700_000_000


def record(home: Path, session_id: str, title: str) -> Path:
    """Store a session like a process that ends before it lists the session."""
    store = SessionStore(home)
    transcript = store.create(session_id)
    transcript.append(SessionOpened(session_id, "/w", ("/w",), 1.0))
    if title:
        transcript.append(TitleChanged(title))
    transcript.close()
    path = store.path_of(session_id)
    settle(path)
    settle(path.parent)
    return path


def settle(path: Path, seconds: int = LONG_AGO_S) -> None:
    """Set the times of a file or folder to long ago."""
    os.utime(path, (seconds, seconds))


async def listed(home: Path) -> list[str]:
    """List the titles, as a new process would."""
    store = SessionStore(home)
    try:
        titles = [row.title for row in await store.page(None, None)]
        while await store.list_more():
            pass
        return titles
    finally:
        store.close()


async def test_an_unchanged_folder_is_not_listed_again(tmp_path: Path) -> None:
    record(tmp_path, "one", "First")
    assert await listed(tmp_path) == ["First"]
    record(tmp_path, "two", "Second")  # Its folder looks as it did before.
    assert await listed(tmp_path) == ["First"]
    settle(tmp_path / "sessions", LONG_AGO_S + 1)
    assert sorted(await listed(tmp_path)) == ["First", "Second"]


async def test_a_folder_that_has_just_changed_is_listed_again(tmp_path: Path) -> None:
    record(tmp_path, "one", "First")
    now_ns = (tmp_path / "sessions").stat().st_ctime_ns
    os.utime(tmp_path / "sessions", ns=(now_ns, now_ns))
    assert await listed(tmp_path) == ["First"]
    record(tmp_path, "two", "Second")
    os.utime(tmp_path / "sessions", ns=(now_ns, now_ns))
    assert sorted(await listed(tmp_path)) == ["First", "Second"]


async def test_a_record_without_a_prompt_is_listed_once_another_process_gave_it_one(tmp_path: Path) -> None:
    path = record(tmp_path, "one", "")
    assert await listed(tmp_path) == []
    transcript, _, _ = Transcript.reopen(path)
    transcript.append(TitleChanged("Named later"))
    transcript.close()
    settle(path.parent)
    assert await listed(tmp_path) == ["Named later"]


async def test_everything_is_read_again_when_the_index_is_rebuilt(tmp_path: Path) -> None:
    record(tmp_path, "one", "First")
    await listed(tmp_path)
    record(tmp_path, "two", "Second")
    store = SessionStore(tmp_path)
    await store.rebuild()
    store.close()
    assert sorted(await listed(tmp_path)) == ["First", "Second"]


async def test_a_record_being_written_is_checked_again_although_its_folder_has_not_changed(
    tmp_path: Path,
) -> None:
    path = record(tmp_path, "one", "")
    path.touch()
    assert await listed(tmp_path) == []
    transcript, _, _ = Transcript.reopen(path)
    transcript.append(TitleChanged("Named at last"))
    transcript.close()
    settle(path.parent)
    assert await listed(tmp_path) == ["Named at last"]
