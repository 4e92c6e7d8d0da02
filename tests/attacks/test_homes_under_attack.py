"""Damaged homes: whatever is wrong with a stored file, readable sessions are listed, opened and continued.

Rows G07, G11, G13.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from hermes_acp.storage.session_store import SessionStore
from tests.attacks.attack_checks import AttackedAgent, attacked_agent, result_of
from tests.e2e.agent_process import WAIT_S, agent_environment, run_command
from tests.e2e.raw_editor import Message, RawEditor

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="paths are POSIX"),
]

Damage = Callable[[Path], object]
SECTOR_BYTES = 512
PAGE_BYTES = 4096
INDEXES = ("index.db", "search.db")


@pytest.fixture(scope="module")
async def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    """Return a home with 40 sessions of two turns each, as a process left it, and their IDs. Copy it; do not use it."""
    folder = tmp_path_factory.mktemp("stored")
    opened: list[str] = []
    async with attacked_agent(folder) as siege:
        for _ in range(40):
            session_id = await siege.agent.open_session(siege.workspace)
            await siege.check_prompt(session_id)
            await siege.check_prompt(session_id)
            opened.append(session_id)
    await run_command("sessions", "search", "here", environment=agent_environment(folder), cwd=folder)
    assert all((folder / ".hermes" / name).is_file() for name in INDEXES)
    return folder, tuple(opened)


@pytest.fixture
def copy(stored: tuple[Path, tuple[str, ...]], tmp_path: Path) -> Path:
    """Return a copy of the stored home, to be damaged."""
    shutil.copytree(stored[0] / ".hermes", tmp_path / ".hermes")
    return tmp_path


def overwrite(path: Path, start: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


def flip_bit(path: Path, place: int) -> None:
    overwrite(path, place, bytes([path.read_bytes()[place] ^ 0x10]))


def make_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def link_nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nowhere" / "at all")


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def leave_stale_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").write_bytes(b"\x37\x7f\x06\x82" + os.urandom(8_000))
    path.with_name(f"{path.name}-shm").write_bytes(os.urandom(32_768))


def drop_log(path: Path) -> None:
    """Delete the log of a file that was being written when its process died."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE extra (x)")
        connection.commit()
        shutil.copy(path, path.with_suffix(".copy"))
    connection.close()
    path.with_suffix(".copy").replace(path)


def drop_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_schema WHERE name IN ('sessions', 'records')"
        ):
            connection.execute(f"DROP TABLE {name}")
    connection.close()


DAMAGES: dict[str, Damage] = {
    "no bytes": lambda path: path.write_bytes(b""),
    "one sector": lambda path: os.truncate(path, SECTOR_BYTES),
    "half of it": lambda path: os.truncate(path, path.stat().st_size // 2),
    "another magic": lambda path: overwrite(path, 0, b"SQLite format 9\0"),
    "other bytes": lambda path: path.write_bytes(os.urandom(20_000)),
    "a zeroed first page": lambda path: overwrite(path, 0, bytes(PAGE_BYTES)),
    "a zeroed second page": lambda path: overwrite(path, PAGE_BYTES, bytes(PAGE_BYTES)),
    "all pages but the first zeroed": lambda path: overwrite(
        path, PAGE_BYTES, bytes(path.stat().st_size - PAGE_BYTES)
    ),
    "a flipped bit in the schema": lambda path: flip_bit(path, 110),
    "a flipped bit in a page": lambda path: flip_bit(path, PAGE_BYTES + 3),
    "a folder": make_folder,
    "a link to nowhere": link_nowhere,
    "a pipe": make_pipe,
    "a stale log": leave_stale_log,
    "no log": drop_log,
    "no tables": drop_tables,
}


async def load(agent: RawEditor, session_id: str, cwd: Path) -> Message:
    return await agent.call("session/load", {"sessionId": session_id, "cwd": str(cwd), "mcpServers": []})


async def list_all(agent: RawEditor) -> set[str]:
    found: set[str] = set()
    cursor: str | None = None
    while True:
        reply = await agent.call("session/list", {"cursor": cursor} if cursor else {})
        assert "result" in reply, reply
        found |= {entry["sessionId"] for entry in reply["result"]["sessions"]}
        cursor = reply["result"].get("nextCursor")
        if not cursor:
            return found


async def check_in_use(siege: AttackedAgent, session_id: str) -> None:
    """Fail unless this stored session opens with its history and continues."""
    assert "result" in await load(siege.agent, session_id, siege.workspace)
    assert siege.agent.said(session_id).startswith("Still here.")
    await siege.check_prompt(session_id)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_g07_both_indexes_are_damaged(
    copy: Path, stored: tuple[Path, tuple[str, ...]], damage: str
) -> None:
    for name in INDEXES:
        DAMAGES[damage](copy / ".hermes" / name)
    records = {path.name: path.read_bytes() for path in (copy / ".hermes" / "sessions").glob("*.jsonl")}
    async with attacked_agent(copy) as siege:
        assert await list_all(siege.agent) >= set(stored[1])
        await check_in_use(siege, stored[1][3])
        end = await siege.call("session_search", {"query": "still", "everywhere": True})
        assert "**still**" in result_of(end).lower()
    for name, content in records.items():
        assert (copy / ".hermes" / "sessions" / name).read_bytes().startswith(content)


async def test_g07_an_index_truncated_at_every_sector(
    copy: Path, stored: tuple[Path, tuple[str, ...]]
) -> None:
    """All in one process, because there are so many: each is opened in turn and lists all the sessions."""
    index = copy / ".hermes" / "index.db"
    whole = index.read_bytes()
    for size in range(0, len(whole), SECTOR_BYTES):
        index.write_bytes(whole[:size])
        store = SessionStore(copy / ".hermes")
        rows = await store.page(None, None)
        assert {row.id for row in rows} >= set(stored[1]), size
        store.close()
        for left in index.parent.glob("index.db?*"):
            left.unlink()


RECORD_DAMAGES: tuple[Damage, ...] = (
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(b"\n\n\n"),
    lambda path: path.write_bytes(os.urandom(5_000)),
    lambda path: path.write_bytes(b"[" * 100_000),
    lambda path: path.write_bytes(b'{"crc":0,"event":' + b"[" * 100_000),
    lambda path: overwrite(path, 0, b"\0" * SECTOR_BYTES),
    lambda path: overwrite(path, path.stat().st_size // 2, b"\0" * 16),
    lambda path: overwrite(path, path.stat().st_size - 20, b"\0" * 20),
    lambda path: path.write_bytes(path.read_bytes() + b"\0" * PAGE_BYTES),
    lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")),
    lambda path: path.write_bytes(path.read_bytes() * 2),
    lambda path: path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True)))),
    lambda path: path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes()),
    make_folder,
    link_nowhere,
    make_pipe,
)


async def test_g07_every_record_is_damaged_differently(
    copy: Path, stored: tuple[Path, tuple[str, ...]]
) -> None:
    """Each is opened as far as it can be read, or rejected with a reason; nothing in it is lost."""
    folder = copy / ".hermes" / "sessions"
    whole, *damaged = (folder / f"{session_id}.jsonl" for session_id in stored[1])
    for path, damage in zip(damaged, RECORD_DAMAGES, strict=False):
        damage(path)
    cut = damaged[len(RECORD_DAMAGES) :]
    for part, path in enumerate(cut, 1):
        os.truncate(path, path.stat().st_size * part // (len(cut) + 1))
    content = {path: path.read_bytes() for path in damaged if path.is_file()}
    for name in INDEXES:
        (copy / ".hermes" / name).unlink()
    async with attacked_agent(copy) as siege:
        agent = siege.agent
        assert whole.stem in await list_all(agent)
        opened = 0
        for path in damaged:
            reply = await load(agent, path.stem, siege.workspace)
            if "result" in reply:
                opened += 1
                await siege.check_prompt(path.stem)
            else:
                assert reply["error"]["code"] in (-32603, -32002), (path, reply)
                assert "internal error" not in reply["error"]["message"], (path, reply)
        assert opened >= len(cut) // 2
        await check_in_use(siege, whole.stem)
        assert await list_all(agent)
        end = await siege.call("session_search", {"query": "still", "everywhere": True})
        assert end["status"] == "completed", result_of(end)
    doctor = await run_command("doctor", environment=agent_environment(copy), cwd=copy)
    assert "is not a file" in doctor.output + doctor.errors
    assert "Traceback" not in doctor.errors
    for path, before in content.items():
        torn = path.with_suffix(".torn")
        now = path.read_bytes()
        assert now.startswith(before) or before.endswith(torn.read_bytes()), path


async def test_g11_indexes_of_a_newer_version_prevent_no_conversation(
    copy: Path, stored: tuple[Path, tuple[str, ...]]
) -> None:
    before: dict[str, bytes] = {}
    for name in INDEXES:
        with closing(sqlite3.connect(copy / ".hermes" / name)) as connection, connection:
            connection.execute("PRAGMA user_version = 999")
        connection.close()
        before[name] = (copy / ".hermes" / name).read_bytes()
    async with attacked_agent(copy) as siege:
        listed = await siege.agent.call("session/list", {})
        assert "newer" in listed["error"]["message"]
        await check_in_use(siege, stored[1][0])
    for name, content in before.items():
        assert (copy / ".hermes" / name).read_bytes() == content


async def test_g13_locks_of_dead_processes_block_nothing(
    copy: Path, stored: tuple[Path, tuple[str, ...]]
) -> None:
    home = copy / ".hermes"
    for name in ("index.db.lock", "search.db.lock", "sessions/x.lock", "lock", "index.db-journal"):
        (home / name).write_text("1\n")  # The process ID of another live process.
    async with attacked_agent(copy) as siege:
        assert await list_all(siege.agent) >= set(stored[1])
        await check_in_use(siege, stored[1][1])
        siege.agent.process.kill()
        with anyio.fail_after(WAIT_S):
            await siege.agent.process.wait()
        async with siege.another() as second:
            assert "result" in await load(second, stored[1][1], siege.workspace)
            assert "result" in await second.prompt(stored[1][1], "Are you still there?")
        siege.is_dead = True


async def test_g13_only_a_live_process_locks_a_record(
    copy: Path, stored: tuple[Path, tuple[str, ...]]
) -> None:
    """Another process that holds the record's lock is named; when it exits, the session can be opened at once."""
    path = copy / ".hermes" / "sessions" / f"{stored[1][5]}.jsonl"
    hold = "f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True)"
    script = f"import fcntl, sys; {hold}; sys.stdin.read()"
    async with attacked_agent(copy) as siege:
        with anyio.fail_after(WAIT_S):
            holder = await anyio.open_process(
                [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE
            )
            async with holder:
                assert holder.stdout
                assert (await holder.stdout.receive()).startswith(b"held")
                refused = await load(siege.agent, stored[1][5], siege.workspace)
                assert refused["error"]["data"]["code"] == "busy"
                holder.kill()
                await holder.wait()
        await check_in_use(siege, stored[1][5])


async def test_g14_a_home_that_others_can_change_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes").chmod(0o777)
    async with attacked_agent(tmp_path) as siege:
        await siege.check_prompt()
        assert "Other users can change" in json.dumps(siege.agent.messages)
