"""Contract tests for every board log, wherever it is stored."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.board_ports import BoardLogs
from hermes_acp.core.ports.boards.card_events import CardAdded, CardCommented, CardMoved, Draft
from hermes_acp.core.ports.boards.cards import Actor, CardWork, Link
from hermes_acp.core.ports.run_ports import RunBudget

ANN = Actor("person", "ann")
PATIENCE_S = 30
OpenLogs = Callable[[], Awaitable[BoardLogs]]
"""Return the boards of one home as another process sees them."""


def comments(*texts: str) -> list[Draft]:
    return [Draft(ANN, CardCommented("1", text)) for text in texts]


class BoardLogSuite:
    """A log's test file derives from it and has a fixture `open_logs`."""

    async def test_entries_come_back_as_they_were_written(self, open_logs: OpenLogs) -> None:
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

    async def test_reading_starts_after_any_entry(self, open_logs: OpenLogs) -> None:
        logs = await open_logs()
        await logs.create("b")
        log = logs.open("b")
        texts = [f"{number} {'x' * 3000}" for number in range(60)]
        await log.append(comments(*texts), expected=0, at=1.0)
        for after in (0, 1, 30, 59, 60, 61):
            found = await log.read(after)
            assert [each.number for each in found] == list(range(after + 1, 61))

    async def test_waiting_ends_with_an_entry_of_another_process(self, open_logs: OpenLogs) -> None:
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
    async def test_names_that_cannot_be_meant_are_refused(self, open_logs: OpenLogs, name: str) -> None:
        with pytest.raises(BadRequest):
            await (await open_logs()).create(name)
