"""The file log of a board passes the contract tests of all logs, and survives processes killed while writing."""

import subprocess
import sys
from binascii import crc32
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.ports.boards.board_ports import BoardLogs
from hermes_acp.core.ports.boards.card_events import Draft, UnknownEntry
from hermes_acp.runs.board.board_fold import Board, fold
from hermes_acp.runs.board.board_store import SNAPSHOT_AFTER, BoardStore
from hermes_acp.runs.board.file_log import FileBoardLogs
from tests.architecture.sources import ROOT
from tests.contract.board_log_suite import BoardLogSuite, OpenLogs, StartWriter, comments
from tests.unit.runs.board.random_entries import random_log

pytestmark = pytest.mark.anyio


@pytest.fixture
def open_logs(tmp_path: Path) -> OpenLogs:
    async def open_them() -> BoardLogs:
        return FileBoardLogs(tmp_path / "boards")

    return open_them


@pytest.fixture
def start_writer(tmp_path: Path) -> StartWriter:
    def start(name: str, count: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.contract.board_writer", str(tmp_path), name, str(count)]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    return start


class TestFileLog(BoardLogSuite):
    """The contract tests of all logs."""


async def test_a_torn_tail_is_cut_off_and_kept(tmp_path: Path) -> None:
    logs = FileBoardLogs(tmp_path)
    await logs.create("b")
    log, path = logs.open("b"), tmp_path / "b" / "log.jsonl"
    await log.append(comments("one"), expected=0, at=1.0)
    whole = path.read_bytes()
    for cut in (1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole + whole[:cut])
        assert [each.number for each in await log.read()] == [1]
        assert await log.append(comments("two"), expected=1, at=1.0)
        assert [each.number for each in await log.read()] == [1, 2]
        assert whole[:cut] in [each.read_bytes() for each in path.parent.glob("torn-*")]


async def test_a_damaged_line_is_skipped_and_the_others_count(tmp_path: Path) -> None:
    logs = FileBoardLogs(tmp_path)
    await logs.create("b")
    log, path = logs.open("b"), tmp_path / "b" / "log.jsonl"
    await log.append(comments("one", "two", "three"), expected=0, at=1.0)
    path.write_bytes(path.read_bytes().replace(b"two", b"tWo"))
    assert [each.number for each in await log.read()] == [1, 3]
    assert await log.append(comments("four"), expected=3, at=1.0)
    assert [each.number for each in await log.read()] == [1, 3, 4]


async def test_entries_from_a_newer_version_are_left_alone(tmp_path: Path) -> None:
    logs = FileBoardLogs(tmp_path)
    await logs.create("b")
    body = b'{"number":1,"at":1.0,"by":{"kind":"person"},"event":{"type":"dreamt","card_id":"1"}}'
    line = b'{"crc":%d,"entry":%b}\n' % (crc32(body), body)
    (tmp_path / "b" / "log.jsonl").write_bytes(line)
    (entry,) = await logs.open("b").read()
    assert (entry.number, entry.event) == (1, UnknownEntry())
    assert await logs.open("b").append(comments("two"), expected=1, at=1.0)
    assert (tmp_path / "b" / "log.jsonl").read_bytes().startswith(line)


async def test_a_snapshot_never_changes_the_state_of_a_board(tmp_path: Path) -> None:
    logs, snapshot = FileBoardLogs(tmp_path), tmp_path / "snapshot"
    await logs.create("b")
    log = logs.open("b")
    random_entries = random_log(7, SNAPSHOT_AFTER + 50)
    drafts = [Draft(each.by, each.event) for each in random_entries]
    await log.append(drafts[:SNAPSHOT_AFTER], expected=0, at=1.0)
    assert (await BoardStore(log, snapshot).current()).number == SNAPSHOT_AFTER
    assert snapshot.is_file()
    await log.append(drafts[SNAPSHOT_AFTER:], expected=SNAPSHOT_AFTER, at=2.0)
    whole = fold(Board(), await log.read())
    assert await BoardStore(log, snapshot).current() == whole
    snapshot.write_bytes(b"damaged")
    assert await BoardStore(log, snapshot).current() == whole


async def test_a_snapshot_of_another_log_is_not_used(tmp_path: Path) -> None:
    logs, snapshot = FileBoardLogs(tmp_path), tmp_path / "snapshot"
    for name, at in (("a", 1.0), ("b", 2.0)):
        await logs.create(name)
        await logs.open(name).append(comments(*["x"] * SNAPSHOT_AFTER), expected=0, at=at)
    await BoardStore(logs.open("a"), snapshot).current()
    assert (await BoardStore(logs.open("b"), snapshot).current()) == fold(
        Board(), await logs.open("b").read()
    )


async def test_boards_in_files_import_nothing_from_the_fleet(tmp_path: Path) -> None:
    await FileBoardLogs(tmp_path / "boards").create("b")
    code = (
        "import sys; from tests.contract import board_writer as w; import anyio; from pathlib import Path\n"
        f"anyio.run(w.write, Path({str(tmp_path)!r}), 'ann', 1)\n"
        "print([name for name in sys.modules if name.startswith(('psycopg', 'temporalio', 'hermes_acp.runs.fleet.b'))])"
    )
    done = await anyio.run_process([sys.executable, "-c", code], cwd=ROOT)
    assert done.stdout.decode().splitlines()[-1] == "[]"
