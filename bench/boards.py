"""Measure boards with many cards: listing, changing and starting, compared with reading the log as plain JSON.

python -m bench.boards [CARDS]
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.boards.card_actions import MoveCard
from hermes_acp.core.ports.boards.card_events import CardAdded, CardMoved, Draft
from hermes_acp.core.ports.boards.cards import Actor, CardWork
from hermes_acp.ids import RandomIds
from hermes_acp.runs.board.board_service import BoardService
from hermes_acp.runs.board.card_file_sync import CardFileSync
from hermes_acp.runs.board.file_log import FileBoardLogs
from hermes_acp.runs.run_service import RunService, cannot_drive
from hermes_acp.storage.session_store import SessionStore

ANN = Actor("person", "ann")
ROUNDS = 7


def service_of(home: Path) -> BoardService:
    runs = RunService(
        environment_of({"HERMES_HOME": str(home)}),
        SystemClock(),
        RandomIds(),
        cannot_drive,
        SessionStore(home).sharing.fetch,
    )
    folder = home / "boards"
    return BoardService(FileBoardLogs(folder), runs, SystemClock(), lambda name: folder / name / "snapshot")


async def fill(home: Path, cards: int) -> None:
    """Add cards, each with two log entries."""
    service = service_of(home)
    await service.create("b")
    work = CardWork("/src")
    for start in range(0, cards, 1000):
        board = await service.board("b")
        numbers = range(start + 1, min(start + 1000, cards) + 1)
        added = [
            Draft(ANN, CardAdded(str(each), f"Card {each}", "Do it. " * 20, work=work)) for each in numbers
        ]
        moved = [Draft(ANN, CardMoved(str(each), "done" if each % 2 else "ready")) for each in numbers]
        await service.append("b", board, [*added, *moved])


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await work()
    return (time.perf_counter() - begun) * 1000


async def measure(home: Path, cards: int) -> None:
    log = home / "boards" / "b" / "log.jsonl"

    async def plain() -> None:
        with log.open("rb") as file:
            for line in file:
                json.loads(line)

    async def cold() -> None:
        await service_of(home).list("b")

    warm = service_of(home)
    await warm.list("b")

    async def again() -> None:
        await warm.list("b")

    async def change() -> None:
        number = len(calls) + 1
        calls.append(number)
        await warm.act("b", MoveCard(str(2 * number), "inbox"), ANN)

    calls: list[int] = []
    files = CardFileSync(warm, home / "boards")
    first_files = await timed(lambda: files.sync("b"))

    async def sync() -> None:
        await CardFileSync(service_of(home), home / "boards").sync("b")

    rows = {"plain JSON of the log": plain, "list, new process": cold, "list, same process": again}
    rows |= {"change a card": change, "stat all files": sync}
    print(
        f"{cards:,} cards, {log.stat().st_size / 1e6:.1f} MB of log, files first written in {first_files:.0f} ms"
    )
    for name, work in rows.items():
        times = [await timed(work) for _ in range(ROUNDS)]
        print(f"  {name:24} {statistics.median(times):8.1f} ms")


async def main(sizes: list[int]) -> None:
    for cards in sizes:
        with tempfile.TemporaryDirectory(prefix="boards-") as place:
            await fill(Path(place), cards)
            await measure(Path(place), cards)


if __name__ == "__main__":
    anyio.run(main, [int(each) for each in sys.argv[1:]] or [100, 1_000, 10_000])
