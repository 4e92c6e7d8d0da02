"""The single writer of a connection: which producers may continue at once, and when other tasks run in between."""

import anyio
import pytest

from hermes_protocol.transport import memory_pair
from hermes_protocol.writer import TURN_BYTES, Writer

pytestmark = pytest.mark.anyio

ROOM_BYTES = 64 * TURN_BYTES
FRAME = b"x" * 1024


class Neighbour:
    """Another task, which only waits to run."""

    def __init__(self) -> None:
        self.had_a_turn = False

    async def take_turn(self) -> None:
        self.had_a_turn = True


async def produce(size_bytes: int) -> bool:
    """Queue this much below the high-water mark, as a producer should; return whether another task ran."""
    there, _ = memory_pair(ROOM_BYTES)
    writer = Writer(there, high_water_bytes=ROOM_BYTES, low_water_bytes=TURN_BYTES)
    neighbour = Neighbour()
    seen: list[bool] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(neighbour.take_turn)
        for _ in range(size_bytes // len(FRAME)):
            writer.put(FRAME)
            await writer.drained()
        seen.append(neighbour.had_a_turn)
    return seen[0]


async def test_a_long_replay_lets_other_tasks_run() -> None:
    assert await produce(TURN_BYTES)


async def test_a_few_frames_are_sent_without_waiting() -> None:
    assert not await produce(TURN_BYTES // 2)


async def test_queued_frames_are_sent_while_the_producer_continues() -> None:
    there, here = memory_pair(ROOM_BYTES)
    writer = Writer(there, high_water_bytes=ROOM_BYTES, low_water_bytes=TURN_BYTES)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.run)
        for _ in range(4 * TURN_BYTES // len(FRAME)):
            writer.put(FRAME)
            await writer.drained()
        assert writer.unsent_bytes < 4 * TURN_BYTES
        await writer.flushed()
        with anyio.fail_after(60):
            assert len(await here.receive()) == 4 * TURN_BYTES
        tasks.cancel_scope.cancel()
