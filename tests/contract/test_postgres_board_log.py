"""The Postgres log of a board passes the contract tests of all logs, and survives the end of its server."""

import os
import subprocess
import sys
from binascii import crc32
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import anyio
import anyio.abc
import psycopg
import pytest
from anyio.abc import SocketStream
from anyio.to_thread import run_sync
from psycopg.conninfo import conninfo_to_dict

from bench.board_stage import kill_postgres
from examples.fleet_demo.fleet_servers import postgres
from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import Environment, environment_of
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.core.ports.boards.board_ports import BoardLogs
from hermes_acp.core.ports.boards.card_events import (
    AttemptStarted,
    CardAdded,
    CardCommented,
    CardMoved,
    Draft,
    UnknownEntry,
)
from hermes_acp.core.ports.boards.cards import Attempt
from hermes_acp.runs.board.board_fold import Board, fold
from hermes_acp.runs.board.file_log import FileBoardLogs
from hermes_acp.runs.fleet.boards.board_import import import_boards
from hermes_acp.runs.fleet.boards.postgres_boards import PostgresBoardLogs
from hermes_acp.runs.fleet.boards.shared_boards import share_boards
from hermes_acp.runs.fleet.fleet_access import DATABASE_VARIABLE, schema_of
from tests.architecture.sources import ROOT
from tests.contract.board_log_suite import (
    ANN,
    PATIENCE_S,
    BoardLogSuite,
    OpenLogs,
    StartWriter,
    comments,
)
from tests.unit.runs.board.random_entries import random_log

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SECRET = "pass-word-of-ann"
GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as uri:
        yield uri


@pytest.fixture
def tenant() -> str:
    return f"boards{os.urandom(6).hex()}"


class Machines:
    """Machines of one profile: each has its own home, and all share a database."""

    def __init__(self, folder: Path, uri: str, tenant: str) -> None:
        self.folder = folder
        self.uri = uri
        self.schema = schema_of(tenant)
        self._tenant = tenant
        self._opened: list[PostgresBoardLogs] = []

    def home(self, name: str) -> Path:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(f"fleet: {{tenant: {self._tenant}}}")
        return home

    def environment(self, name: str, uri: str = "") -> Environment:
        return environment_of({"HERMES_HOME": str(self.home(name)), DATABASE_VARIABLE: uri or self.uri})

    def open(self, name: str, uri: str = "") -> PostgresBoardLogs:
        self._opened.append(share_boards(self.environment(name, uri), self.folder / name / "boards"))
        return self._opened[-1]

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {self.schema}".encode())
            connection.execute(statement.encode())

    async def aclose(self) -> None:
        for each in self._opened:
            await each.aclose()


@asynccontextmanager
async def losing_an_answer(uri: str) -> AsyncGenerator[tuple[str, anyio.Event]]:
    """Relay to a server; the first connection that commits entries is cut before the answer arrives."""
    named = conninfo_to_dict(uri)
    lost = anyio.Event()

    async def back(far: SocketStream, near: SocketStream) -> None:
        with suppress(*GONE):
            while True:
                await near.send(await far.receive())

    async def relay(near: SocketStream) -> None:
        has_entries = False
        async with near, await anyio.connect_unix(f"{named['host']}/.s.PGSQL.5432") as far:
            async with background_tasks(partial(back, far, near)):
                with suppress(*GONE):
                    while True:
                        sent = await near.receive()
                        has_entries = has_entries or b"INSERT INTO board_entries" in sent
                        if has_entries and b"COMMIT" in sent and not lost.is_set():
                            break
                        await far.send(sent)
                    lost.set()
                    await far.send(sent)
            if has_entries and lost.is_set():
                await far.receive()

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        background_tasks(partial(listener.serve, relay)),
    ):
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        yield f"postgresql://{named['user']}@127.0.0.1:{port}/{named['dbname']}", lost


@pytest.fixture
async def machines(tmp_path: Path, database: str, tenant: str) -> AsyncGenerator[Machines]:
    machines = Machines(tmp_path, database, tenant)
    yield machines
    await machines.aclose()


@pytest.fixture
def open_logs(machines: Machines) -> OpenLogs:
    async def open_them() -> BoardLogs:
        return machines.open(f"machine_{os.urandom(3).hex()}")

    return open_them


@pytest.fixture
def start_writer(machines: Machines) -> StartWriter:
    def start(name: str, count: int) -> subprocess.Popen[str]:
        home = machines.home(name)
        command = [sys.executable, "-m", "tests.contract.board_writer", str(home), name, str(count)]
        variables = {**os.environ, DATABASE_VARIABLE: machines.uri}
        return subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)

    return start


class TestPostgresLog(BoardLogSuite):
    """The contract tests of all logs."""


async def test_entries_from_a_newer_version_are_left_alone(machines: Machines) -> None:
    logs = machines.open("one")
    body = b'{"number":1,"at":1.0,"by":{"kind":"person"},"event":{"type":"dreamt","card_id":"1"}}'
    line = f'{{"crc":{crc32(body)},"entry":{body.decode()}}}'
    assert await logs.adopt("b", [(1, line)])
    (entry,) = await logs.open("b").read()
    assert (entry.number, entry.event) == (1, UnknownEntry())
    assert await logs.open("b").append(comments("two"), expected=1, at=1.0)


async def test_a_damaged_entry_is_an_error_that_names_it_and_appends_nothing(machines: Machines) -> None:
    logs = machines.open("one")
    await logs.create("b")
    await logs.open("b").append(comments("one", "two"), expected=0, at=1.0)
    machines.execute("UPDATE board_entries SET line = replace(line, 'one', 'oNe')")
    with pytest.raises(StorageError, match="Entry 1 of the board 'b'"):
        await logs.open("b").read()
    assert [each.number for each in await logs.open("b").read(1)] == [2]
    machines.execute("DROP TABLE board_entries")
    with pytest.raises(StorageError, match="board_entries"):
        await logs.open("b").read()


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        (f"postgresql://ann:{SECRET}@127.0.0.1:9/hermes", "hermes at 127.0.0.1"),
        (f"postgresql://ann:{SECRET}@no-such-host.invalid/hermes", "hermes at no-such-host.invalid"),
        (f"host=127.0.0.1 port=9 dbname=hermes user=ann password={SECRET}", "hermes at 127.0.0.1"),
        (f"postgresql://ann:{SECRET}@127.0.0.1:{SECRET}/hermes", "hermes at 127.0.0.1"),
        (f"postgresql://ann:p@{SECRET}@127.0.0.1:9/hermes", "its address is not valid"),
        (f"dbname {SECRET}", "its address is not valid"),
    ],
)
async def test_an_unusable_database_is_named_without_its_password(
    machines: Machines, uri: str, words: str
) -> None:
    logs = machines.open("one", uri)
    for attempt in (
        logs.names,
        lambda: logs.create("b"),
        lambda: logs.open("b").read(),
        lambda: logs.open("b").append(comments("x"), expected=0, at=1.0),
    ):
        with pytest.raises(StorageError) as caught:
            await attempt()
        said = f"{caught.value.sentence()} {caught.value.hint}"
        assert SECRET not in said
        assert "The fleet's database" in said
        assert words in said


async def test_a_commit_whose_answer_was_lost_is_found_and_not_repeated(machines: Machines) -> None:
    logs = machines.open("one")
    await logs.create("b")
    log = logs.open("b")
    entries = await log.append(comments("x"), expected=0, at=1.0)
    async with losing_an_answer(machines.uri) as (uri, lost):
        cut = machines.open("two", uri)
        again = await cut.open("b").append(comments("y"), expected=1, at=1.0)
        assert lost.is_set()
        await cut.aclose()
    assert entries
    assert again
    assert await log.read() == [*entries, *again]


async def test_watchers_survive_a_restart_of_the_server(tmp_path: Path, tenant: str) -> None:
    """The server is stopped while somebody waits, and started again: the entries are kept and the wait continues."""
    with postgres(tmp_path / "postgres") as uri:
        machines = Machines(tmp_path, uri, tenant)
        logs, others = machines.open("one"), machines.open("two")
        await logs.create("b")
        log = logs.open("b")
        await log.append(comments("before"), expected=0, at=1.0)
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(log.wait, 1)
                tasks.start_soon(logs.wait, {"b": 1})
                await anyio.lowlevel.checkpoint()
                await run_sync(kill_postgres, tmp_path / "postgres")
                added = await others.open("b").append(comments("after"), expected=1, at=2.0)
                assert added
        assert [each.number for each in await log.read()] == [1, 2]
        await run_sync(kill_postgres, tmp_path / "postgres")
        assert [each.number for each in await log.read()] == [1, 2]
        await machines.aclose()


async def test_an_imported_board_is_unchanged_and_its_file_is_set_aside(machines: Machines) -> None:
    """Also if it is imported again after an interruption. A card whose run stays behind is parked."""
    home = machines.home("one")
    files = FileBoardLogs(home / "boards")
    await files.create("b")
    path = home / "boards" / "b" / "log.jsonl"
    before = [Draft(each.by, each.event) for each in random_log(3, 200)]
    await files.open("b").append(before, expected=0, at=1.0)
    working = Attempt(99, "ses_1", "b.900.99", 2.0)
    started = (CardAdded("900", "work"), AttemptStarted("900", working), CardMoved("900", "running"))
    await files.open("b").append([Draft(ANN, each) for each in started], expected=len(before), at=2.0)
    content, was = path.read_bytes(), fold(Board(), await files.open("b").read())
    environment = machines.environment("one")
    (imported,) = await import_boards(environment, [])
    assert (imported.name, imported.cards) == ("b", len(was.cards))
    assert "900" in imported.parked
    assert not path.exists()
    (aside,) = path.parent.glob("imported-*.jsonl")
    assert aside.read_bytes() == content
    logs = machines.open("two")
    board = fold(Board(), await logs.open("b").read())
    for card_id, card in was.cards.items():
        now = board.cards[card_id]
        assert (now.title, now.text, now.comments, now.links) == (
            card.title,
            card.text,
            card.comments,
            card.links,
        )
        assert now.state == ("parked" if card_id in imported.parked else card.state)
        assert not (now.attempt and now.attempt.run_id and now.attempt.is_open)

    aside.rename(path)  # As if the process had been killed before it set the file aside.
    number = board.number
    assert await logs.open("b").append(comments("later"), expected=number, at=3.0)
    await import_boards(environment, ["b"])
    assert (await logs.open("b").read())[-1].number == number + 1
    assert not path.exists()


async def test_a_board_is_not_imported_over_another_one(machines: Machines) -> None:
    files, logs = FileBoardLogs(machines.home("one") / "boards"), machines.open("one")
    for each in (files, logs):
        await each.create("b")
        await each.open("b").append(comments(type(each).__name__), expected=0, at=1.0)
    with pytest.raises(BadRequest, match="already has a board 'b'"):
        await import_boards(machines.environment("one"), ["b"])
    assert [each.event for each in await files.open("b").read()] == [CardCommented("1", "FileBoardLogs")]
    assert [each.event for each in await logs.open("b").read()] == [CardCommented("1", "PostgresBoardLogs")]
    with pytest.raises(StorageError):
        await import_boards(machines.environment("one", "postgresql://127.0.0.1:9/none"), ["b"])
    assert await files.open("b").read()
