"""Records that machines share: nothing settled is lost, and two machines never continue one record."""

import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, suppress
from pathlib import Path
from random import Random

import anyio
import pytest
from anyio.to_thread import run_sync

from examples.fleet_demo.fleet_servers import postgres
from hermes_acp.core.errors import Busy, HeldElsewhere, RecordTakenOver, StorageError
from hermes_acp.core.events import Event, NoteAdded, SessionOpened, TitleChanged, UserSaid
from hermes_acp.core.messages import TextPart
from hermes_acp.core.ports.recall_ports import RecallQuery
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS
from hermes_acp.runs.fleet.records.fleet_records import FleetRecords
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.transcript import Transcript

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
QUICK = EngineSettings(lease_s=1.5, heartbeat_s=0.4, poll_s=0.2, idle_poll_s=0.2)
NOWHERE = "postgresql://127.0.0.1:9/none"


class Machine:
    """A profile's home folder on one machine; `run` is its process's background work."""

    def __init__(self, home: Path, uri: str, schema: str, patience_s: float = 10.0) -> None:
        self.database = PostgresDatabase(uri, schema, MIGRATIONS, writes_alone=False)

        def share(store: SessionStore) -> FleetRecords:
            return FleetRecords(self.database, store.folder, store.path_of, QUICK, patience_s)

        home.mkdir(exist_ok=True)
        self.store = SessionStore(home, share=share)

    @property
    def records(self) -> FleetRecords:
        assert isinstance(self.store.sharing.records, FleetRecords)
        return self.store.sharing.records

    async def begin(self, session_id: str, *words: str) -> Transcript:
        """Create a session with some notes, and settle it."""
        transcript = await run_sync(self.store.create, session_id)
        transcript.append(SessionOpened(session_id, "/", ("/",), 1.0))
        self.store.sharing.share(transcript)
        await self.note(transcript, *words)
        return transcript

    async def note(self, transcript: Transcript, *words: str) -> None:
        for word in words:
            transcript.append(NoteAdded(word))
        await transcript.settle()

    async def open(self, session_id: str) -> Transcript:
        await self.store.sharing.fetch(session_id)
        return (await run_sync(self.store.sharing.reopen, session_id))[0]

    async def notes(self, session_id: str) -> list[str]:
        """Return the notes that a new read of the record finds."""
        await self.store.sharing.fetch(session_id)
        return noted(Transcript.read_events(self.store.path_of(session_id)))

    async def aclose(self) -> None:
        await self.store.aclose()
        await self.store.close_words()


def noted(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, NoteAdded)]


MakeMachine = Callable[..., Machine]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as uri:
        yield uri


@pytest.fixture
async def machine(tmp_path: Path, database: str) -> AsyncGenerator[MakeMachine]:
    schema, made = f"records_{os.urandom(6).hex()}", list[Machine]()

    def make(name: str, uri: str = database, **limits: float) -> Machine:
        made.append(Machine(tmp_path / name, uri, schema, **limits))
        return made[-1]

    yield make
    for each in made:
        await each.aclose()


async def test_a_settled_record_can_be_read_on_another_machine_at_once(machine: MakeMachine) -> None:
    one, other = machine("one"), machine("other")
    transcript = await one.begin("ses_1", "a", "b")
    assert await other.notes("ses_1") == ["a", "b"]
    await one.note(transcript, "c")
    assert await other.notes("ses_1") == ["a", "b", "c"]
    assert other.store.path_of("ses_1").read_bytes() == transcript.path.read_bytes()
    transcript.close()


async def test_sessions_of_all_machines_are_listed_and_found_by_words(machine: MakeMachine) -> None:
    one, other = machine("one"), machine("other")
    transcript = await one.begin("ses_1")
    transcript.append(UserSaid("msg_1", (TextPart("Where do the herons nest?"),)))
    transcript.append(TitleChanged("Herons"))
    await transcript.settle()
    await other.store.sharing.fetch_changed()
    assert [(row.id, row.title) for row in await other.store.page(None, None)] == [("ses_1", "Herons")]
    found = await other.store.words.search(RecallQuery("herons"))
    assert [find.session_id for find in found.found] == ["ses_1"]
    transcript.close()


async def test_one_machine_at_a_time_holds_a_record(machine: MakeMachine) -> None:
    one, other = machine("one"), machine("other")
    transcript = await one.begin("ses_1", "a")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.records.run)
        with pytest.raises(HeldElsewhere, match="open on another machine"):
            await other.open("ses_1")
        transcript.close()
        with anyio.fail_after(5):
            continued = await other.open("ses_1")
        await other.note(continued, "b")
        continued.close()
        tasks.cancel_scope.cancel()
    assert await one.notes("ses_1") == ["a", "b"]


async def test_a_record_of_a_machine_that_vanished_continues_elsewhere(machine: MakeMachine) -> None:
    """The first holder is not notified; what it adds afterwards is rejected and kept beside its copy."""
    one, other = machine("one"), machine("other")
    late = await one.begin("ses_1", "a")
    late.append(NoteAdded("never sent"))
    with anyio.fail_after(10):
        continued = await other.open("ses_1")
    await other.note(continued, "b")
    late.append(NoteAdded("late"))
    with pytest.raises(RecordTakenOver, match="opened on another machine"):
        await late.settle()
    with pytest.raises(RecordTakenOver):
        late.append(NoteAdded("later"))
    late.close()
    continued.close()
    await other.records.sender.send()
    again = await one.open("ses_1")
    assert noted(Transcript.read_events(again.path)) == ["a", "b"]
    assert b"never sent" in again.path.with_suffix(".torn").read_bytes()
    again.close()


async def test_unsent_events_of_a_killed_process_are_sent_when_the_record_is_reopened(
    machine: MakeMachine, tmp_path: Path
) -> None:
    one, other = machine("one"), machine("other")
    (await one.begin("ses_1", "a")).close()
    await one.records.sender.send()
    unsent = Transcript.reopen(one.store.path_of("ses_1"))[0]
    unsent.append(NoteAdded("b"))
    unsent.close()
    assert await other.notes("ses_1") == ["a"]
    again = await one.open("ses_1")
    await one.note(again, "c")
    again.close()
    assert await other.notes("ses_1") == ["a", "b", "c"]


async def test_records_from_before_the_fleet_are_shared_when_they_are_opened(
    machine: MakeMachine, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    alone = SessionStore(tmp_path / "one")
    transcript = alone.create("ses_old")
    transcript.append(SessionOpened("ses_old", "/", ("/",), 1.0))
    transcript.append(NoteAdded("long ago"))
    transcript.close()
    one, other = machine("one"), machine("other")
    opened = await one.open("ses_old")
    await one.note(opened, "today")
    opened.close()
    assert await other.notes("ses_old") == ["long ago", "today"]


async def test_a_deleted_session_is_deleted_on_all_machines(machine: MakeMachine) -> None:
    one, other = machine("one"), machine("other")
    transcript = await one.begin("ses_1", "a")
    transcript.append(UserSaid("msg_1", (TextPart("Hello"),)))
    transcript.append(TitleChanged("Hello"))
    await transcript.settle()
    transcript.close()
    await other.store.sharing.fetch_changed()
    assert len(await other.store.page(None, None)) == 1
    await one.store.delete("ses_1")
    fresh = machine("other")
    await fresh.store.sharing.fetch_changed()
    assert await fresh.store.page(None, None) == []
    assert not fresh.store.path_of("ses_1").exists()


async def test_a_followed_record_shows_what_its_holder_adds_until_it_is_released(
    machine: MakeMachine,
) -> None:
    one, other = machine("one"), machine("other")
    transcript = await one.begin("ses_1", "a")
    await other.store.sharing.fetch("ses_1")
    seen: list[str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.records.run)

        async def write() -> None:
            for number in range(30):
                transcript.append(NoteAdded(str(number)))
                await anyio.sleep(0.01)
            transcript.close()

        tasks.start_soon(write)
        with anyio.fail_after(20):
            async with aclosing(other.records.follow("ses_1", other.store.path_of("ses_1"))) as news:
                async for events in news:
                    seen += noted(list(events))
        tasks.cancel_scope.cancel()
    assert seen == [str(number) for number in range(30)]
    assert other.store.path_of("ses_1").read_bytes() == one.store.path_of("ses_1").read_bytes()


async def test_without_the_database_a_turn_ends_and_the_list_still_works(machine: MakeMachine) -> None:
    cut = machine("one", uri=NOWHERE, patience_s=0.3)
    with pytest.raises(StorageError, match="fleet's database"):
        await cut.begin("ses_1", "a")
    await cut.store.sharing.fetch_changed()
    assert any("fleet's database" in sentence for sentence in cut.store.news())
    assert await cut.store.page(None, None) == []


async def test_random_crashes_and_takeovers_keep_each_settled_event_once(machine: MakeMachine) -> None:
    """Three machines open one record in turn, some without ever closing it; every settled event is kept, in order."""
    chance = Random(20261129)
    machines = {name: machine(name) for name in ("one", "two", "three")}
    first = await machines["one"].begin("ses_1")
    first.close()
    await machines["one"].records.sender.send()
    settled: list[str] = []
    left: list[Transcript] = []
    for turn in range(12):
        name = chance.choice(sorted(machines))
        try:
            with anyio.fail_after(10):
                transcript = await machines[name].open("ses_1")
        except Busy:
            for each in left:
                each.close()
            left.clear()
            continue
        for number in range(chance.randrange(1, 4)):
            word = f"{turn}.{number}"
            await machines[name].note(transcript, word)
            settled.append(word)
        if chance.random() < 0.3:
            transcript.append(NoteAdded("never settled"))
        if chance.random() < 0.4:
            left.append(transcript)  # The process exited without a message.
        else:
            transcript.close()
            await machines[name].records.sender.send()
    for each in left:
        with suppress(RecordTakenOver):
            await each.settle()
        each.close()
    fresh = machine("fresh")
    assert [word for word in await fresh.notes("ses_1") if word != "never settled"] == settled
