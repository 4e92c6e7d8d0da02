"""The list of sessions follows open sessions: new ones at once, changes in batches; no failure loses any."""

from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import StorageError
from hermes_acp.core.events import ModeChanged, SessionOpened, TitleChanged, TurnEnded, TurnStarted
from hermes_acp.core.record.session_record import Record
from hermes_acp.sessions.session_listing import ListingAudience, SessionListing
from hermes_acp.storage.session_rows import SessionRow
from hermes_acp.storage.session_store import SessionStore
from tests.conversations import app_scene

pytestmark = pytest.mark.anyio


class WatchedStore(SessionStore):
    """Records what was written together, or fails for a while."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.written: list[tuple[str, ...]] = []
        self.has_written = anyio.Event()
        self.is_full = False

    async def put(self, *rows: SessionRow) -> None:
        if self.is_full:
            raise StorageError("The disk is full.")
        await super().put(*rows)
        self.written.append(tuple(row.id for row in rows))
        self.has_written.set()


def record_of(session_id: str) -> Record:
    record = Record()
    record.apply(SessionOpened(session_id, "/project", ("/project",), 1.0))
    record.apply(TitleChanged(session_id))
    return record


async def listed(store: SessionStore) -> list[tuple[str, str]]:
    return [(row.id, row.title) for row in await store.page(None, None)]


async def test_pending_changes_are_written_at_once_with_a_new_session(tmp_path: Path) -> None:
    store = WatchedStore(tmp_path)
    listing = SessionListing(store, app_scene.SteppingClock())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listing.keep)
        for name in ("ses_a", "ses_b", "ses_a"):
            listing.note(record_of(name))
        listing.enter(record_of("ses_c"))
        with anyio.fail_after(60):
            await store.has_written.wait()
        tasks.cancel_scope.cancel()
    assert store.written == [("ses_a", "ses_b", "ses_c")]
    assert [name for name, _ in await listed(store)] == ["ses_c", "ses_a", "ses_b"], (
        "the most recently changed comes first"
    )
    store.close()


async def test_a_change_without_a_new_session_is_written_before_long(tmp_path: Path) -> None:
    store = WatchedStore(tmp_path)
    listing = SessionListing(store, app_scene.SteppingClock())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listing.keep)
        listing.note(record_of("ses_a"))
        with anyio.fail_after(60):
            await store.has_written.wait()
        tasks.cancel_scope.cancel()
    assert store.written == [("ses_a",)]
    store.close()


async def test_changes_are_kept_when_writing_them_fails(tmp_path: Path) -> None:
    store = WatchedStore(tmp_path)
    listing, record = SessionListing(store, app_scene.SteppingClock()), record_of("ses_a")
    listing.note(record)
    store.is_full = True
    with pytest.raises(StorageError):
        await listing.settle()
    await listing.try_to_settle()
    record.apply(TitleChanged("Kettle"))
    listing.note(record_of("ses_b"))
    store.is_full = False
    await listing.settle()
    await listing.settle()
    assert store.written == [("ses_a", "ses_b")]
    assert await listed(store) == [("ses_b", "ses_b"), ("ses_a", "Kettle")]
    store.close()


async def test_a_deleted_session_is_not_written_again(tmp_path: Path) -> None:
    store = WatchedStore(tmp_path)
    listing = SessionListing(store, app_scene.SteppingClock())
    listing.note(record_of("ses_a"))
    await listing.delete("ses_a")
    await listing.settle()
    assert (store.written, await listed(store)) == ([], [])
    store.close()


async def test_only_changes_to_listed_data_update_the_list(tmp_path: Path) -> None:
    store = WatchedStore(tmp_path)
    listing, record = SessionListing(store, app_scene.SteppingClock()), record_of("ses_a")
    audience = ListingAudience(listing, record)
    audience.show(ModeChanged("plan"))
    await listing.settle()
    assert store.written == []
    audience.show(TurnEnded("turn_1", "done"))
    await listing.settle()
    assert store.written == [("ses_a",)]
    store.close()


async def test_a_turn_counts_from_its_start_however_it_ends(tmp_path: Path) -> None:
    store = WatchedStore(tmp_path)
    listing = SessionListing(store, app_scene.SteppingClock())
    for name in ("ses_a", "ses_b"):
        ListingAudience(listing, record_of(name)).show(TurnEnded("turn_1", "done"))
        await listing.settle()
    ListingAudience(listing, record_of("ses_a")).show(TurnStarted("turn_2"))
    await listing.settle()  # Then the process is killed.
    assert [name for name, _ in await listed(store)] == ["ses_a", "ses_b"]
    store.close()
