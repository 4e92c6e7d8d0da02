"""Contract tests for every board log, wherever it is stored."""

import subprocess
from collections.abc import Awaitable, Callable, Mapping

import anyio
import pytest
from anyio.to_thread import run_sync

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.board_ports import BoardLogs
from hermes_acp.core.ports.boards.card_events import CardAdded, CardCommented, CardMoved, Draft
from hermes_acp.core.ports.boards.cards import Actor, CardWork, Link
from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.runs.board.board_fold import Board, fold
from hermes_acp.runs.board.board_store import BoardStore

ANN = Actor("person", "ann")
PATIENCE_S = 30
COUNT = 40
OpenLogs = Callable[[], Awaitable[BoardLogs]]
"""Return the boards of one profile as another process sees them."""
StartWriter = Callable[[str, int], subprocess.Popen[str]]
"""Start a process that adds a number of cards to the board `b` of the profile: `board_writer`."""


def comments(*texts: str) -> list[Draft]:
    return [Draft(ANN, CardCommented("1", text)) for text in texts]


def kill_after(writer: subprocess.Popen[str], count: int) -> int:
    """Kill a writer that has confirmed some cards, and return how many it had by then."""
    assert writer.stdout
    confirmed = 0
    for line in writer.stdout:
        confirmed = int(line) + 1
        if confirmed == count:
            writer.kill()
    ended(writer)
    return confirmed


def ended(writer: subprocess.Popen[str]) -> int:
    """Wait for a writer to end, and return its exit code."""
    with writer:
        writer.communicate()
    return writer.returncode


class BoardLogSuite:
    """The test file of a log derives from it and has the fixtures `open_logs` and `start_writer`."""

    async def test_entries_are_read_back_as_they_were_written(self, open_logs: OpenLogs) -> None:
        logs = await open_logs()
        assert await logs.create("b")
        work = CardWork("/x", "same", budget=RunBudget(max_cost_usd=1.5), checks=("make test",))
        events = (
            CardAdded("1", "one ✓", "text\n\u2028", links=(Link("blocks", "2"),), work=work),
            CardMoved("1", "ready"),
        )
        written = await logs.open("b").append([Draft(ANN, each) for each in events], expected=0, at=1.5)
        assert written is not None
        assert await (await open_logs()).open("b").read() == list(written)
        assert [(each.number, each.at, each.by, each.event) for each in written] == [
            (1, 1.5, ANN, events[0]),
            (2, 1.5, ANN, events[1]),
        ]

    async def test_an_append_expects_the_last_entry(self, open_logs: OpenLogs) -> None:
        logs, others = await open_logs(), await open_logs()
        await logs.create("b")
        log, other = logs.open("b"), others.open("b")
        assert await log.append(comments("one", "two"), expected=0, at=1.0)
        for expected in (0, 1, 3):
            assert await other.append(comments("lost"), expected=expected, at=1.0) is None
        assert await other.append(comments("three"), expected=2, at=1.0)
        assert [each.number for each in await log.read()] == [1, 2, 3]

    async def test_one_of_many_concurrent_appends_succeeds(self, open_logs: OpenLogs) -> None:
        everybody = [await open_logs() for _ in range(8)]
        await everybody[0].create("b")
        won: list[str] = []

        async def append(logs: BoardLogs, text: str) -> None:
            if await logs.open("b").append(comments(text, text), expected=0, at=1.0):
                won.append(text)

        async with anyio.create_task_group() as tasks:
            for number, logs in enumerate(everybody):
                tasks.start_soon(append, logs, str(number))
        (text,) = won
        entries = await everybody[0].open("b").read()
        assert [each.event for each in entries] == [CardCommented("1", text)] * 2

    async def test_concurrent_processes_lose_nothing_although_one_is_killed(
        self, open_logs: OpenLogs, start_writer: StartWriter
    ) -> None:
        logs = await open_logs()
        await logs.create("b")
        both = [start_writer(name, COUNT) for name in ("ann", "bob")]
        victim = start_writer("cat", 10_000)
        confirmed = await run_sync(kill_after, victim, 5)
        assert [await run_sync(ended, each) for each in both] == [0, 0]
        board = fold(Board(), await logs.open("b").read())
        titles = [card.title for card in board.cards.values()]
        assert len(set(titles)) == len(titles)
        written = [f"{name} {number}" for name in ("ann", "bob") for number in range(COUNT)]
        assert set(written) | {f"cat {number}" for number in range(confirmed)} <= set(titles)
        assert set(written) <= {comment.text for comment in board.cards["1"].comments}

    async def test_reading_starts_after_any_entry(self, open_logs: OpenLogs) -> None:
        logs = await open_logs()
        await logs.create("b")
        log = logs.open("b")
        texts = [f"{number} {'x' * 3000}" for number in range(60)]
        await log.append(comments(*texts), expected=0, at=1.0)
        for after in (0, 1, 30, 59, 60, 61):
            found = await log.read(after)
            assert [each.number for each in found] == list(range(after + 1, 61))

    async def test_waiting_ends_when_another_process_adds_an_entry(self, open_logs: OpenLogs) -> None:
        logs, others = await open_logs(), await open_logs()
        await logs.create("b")
        log = logs.open("b")
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(log.wait, 0)
                await anyio.lowlevel.checkpoint()
                await others.open("b").append(comments("one"), expected=0, at=1.0)
            await log.wait(0)
        assert await log.read(0)

    async def test_waiting_for_boards_ends_when_any_of_them_changes(self, open_logs: OpenLogs) -> None:
        logs, others = await open_logs(), await open_logs()
        await logs.create("a")

        async def told(change: Callable[[], Awaitable[object]], known: Mapping[str, int]) -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(logs.wait, known, ("ignored",))
                await anyio.lowlevel.checkpoint()
                await change()

        with anyio.fail_after(PATIENCE_S):
            await told(lambda: others.create("ignored"), {})
            await told(lambda: others.open("a").append(comments("x"), expected=0, at=1.0), {"a": 0})
            await told(lambda: others.create("b"), {"a": 1})
            await told(lambda: others.remove("a"), {"a": 1, "b": 0})

    async def test_several_waiters_are_all_notified(self, open_logs: OpenLogs) -> None:
        logs, others = await open_logs(), await open_logs()
        await logs.create("b")
        log, other = logs.open("b"), others.open("b")
        with anyio.fail_after(PATIENCE_S):
            for number in range(3):
                async with anyio.create_task_group() as tasks:
                    for _ in range(3):
                        tasks.start_soon(log.wait, number)
                    with anyio.CancelScope() as given_up:
                        tasks.start_soon(log.wait, number)
                        given_up.cancel()
                    await other.append(comments("x"), expected=number, at=1.0)

    async def test_a_board_that_was_recreated_is_read_anew(self, open_logs: OpenLogs) -> None:
        logs, others = await open_logs(), await open_logs()
        await logs.create("b")
        store = BoardStore(logs.open("b"))
        added = [Draft(ANN, CardAdded(str(number), "old")) for number in (1, 2)]
        await logs.open("b").append(added, expected=0, at=1.0)
        assert len((await store.current()).cards) == 2
        await others.remove("b")
        await others.create("b")
        anew = [Draft(ANN, CardAdded(str(number), "new")) for number in (1, 2, 3)]
        await others.open("b").append(anew, expected=0, at=2.0)
        assert {card.title for card in (await store.current()).cards.values()} == {"new"}

    async def test_boards_are_created_once_listed_and_removed(self, open_logs: OpenLogs) -> None:
        logs, others = await open_logs(), await open_logs()
        assert await logs.names() == []
        assert await logs.create("b")
        assert not await others.create("b")
        await logs.create("a")
        assert list(await others.names()) == ["a", "b"]
        await others.remove("b")
        assert list(await logs.names()) == ["a"]
        with pytest.raises(BadRequest):
            await logs.open("b").read()
        with pytest.raises(BadRequest):
            await logs.open("b").append(comments("one"), expected=0, at=1.0)
        assert await logs.create("b")
        assert await logs.open("b").read() == []

    @pytest.mark.parametrize("name", ["", "../x", ".removed", "a b", "-a", "x" * 41])
    async def test_invalid_names_are_rejected(self, open_logs: OpenLogs, name: str) -> None:
        with pytest.raises(BadRequest):
            await (await open_logs()).create(name)
