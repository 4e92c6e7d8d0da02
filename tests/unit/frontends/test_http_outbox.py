"""The outbox: nothing is lost or repeated without being requested, and its size is limited."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.frontends.acp.http.outbox import (
    BufferAccount,
    MessagesExpired,
    NeverSent,
    Outbox,
    OutboxReader,
)

pytestmark = pytest.mark.anyio


def outbox_with(*frames: bytes, kept_bytes: int = 1000) -> Outbox:
    outbox = Outbox(BufferAccount(1000, kept_bytes))
    for frame in frames:
        outbox.put(frame)
    return outbox


async def read(reader: OutboxReader) -> list[tuple[int, bytes]]:
    with anyio.fail_after(60):
        batch = await reader.take()
    if batch:
        reader.confirm(batch)
    return [(message.number, message.frame) for message in batch]


async def test_messages_are_numbered_from_one() -> None:
    outbox = outbox_with(b"a", b"b")
    assert await read(outbox.open(None)) == [(1, b"a"), (2, b"b")]


async def test_unconfirmed_messages_are_delivered_to_the_next_reader() -> None:
    outbox = outbox_with(b"a", b"b")
    first = outbox.open(None)
    assert len(await first.take()) == 2
    first.close()
    assert await read(outbox.open(None)) == [(1, b"a"), (2, b"b")]


async def test_a_reader_resumes_after_its_last_message() -> None:
    outbox = outbox_with(b"a", b"b", b"c")
    await read(outbox.open(None))
    outbox.put(b"d")
    assert await read(outbox.open(1)) == [(2, b"b"), (3, b"c"), (4, b"d")]


async def test_messages_no_longer_kept_are_reported_as_gone() -> None:
    outbox = outbox_with(b"a" * 6, b"b" * 6, kept_bytes=10)
    await read(outbox.open(None))
    with pytest.raises(MessagesExpired):
        outbox.open(0)
    assert await read(outbox.open(1)) == [(2, b"b" * 6)]


async def test_a_position_that_is_ahead_is_rejected() -> None:
    outbox = outbox_with(b"a")
    with pytest.raises(NeverSent):
        outbox.open(1)
    await read(outbox.open(None))
    outbox.open(1)
    with pytest.raises(NeverSent):
        outbox.open(2)


async def test_a_new_reader_ends_the_previous_one() -> None:
    outbox = outbox_with()
    first = outbox.open(None)
    ended = anyio.Event()

    async def follow() -> None:
        assert await first.take() == []
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.lowlevel.checkpoint()
        second = outbox.open(None)
        with anyio.fail_after(60):
            await ended.wait()
        assert first.is_displaced
        outbox.put(b"a")
        assert await read(second) == [(1, b"a")]


async def test_the_end_comes_after_the_remaining_messages() -> None:
    outbox = outbox_with(b"a")
    outbox.finish()
    reader = outbox.open(None)
    assert await read(reader) == [(1, b"a")]
    assert await read(reader) == []


async def test_sending_waits_for_room_until_the_client_reads() -> None:
    account = BufferAccount(3, 1000)
    outbox = Outbox(account)
    outbox.put(b"abc")
    with anyio.move_on_after(0) as scope:
        await account.wait_for_room()
    assert scope.cancelled_caught
    await read(outbox.open(None))
    with anyio.fail_after(60):
        await account.wait_for_room()


async def test_settled_waits_for_an_active_reader_only() -> None:
    outbox = outbox_with(b"a")
    with anyio.fail_after(60):
        await outbox.settled()
    reader = outbox.open(None)
    with anyio.move_on_after(0) as scope:
        await outbox.settled()
    assert scope.cancelled_caught
    await read(reader)
    with anyio.fail_after(60):
        await outbox.settled()


@given(
    frames=st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=30),
    losses=st.lists(st.integers(0, 30), max_size=10),
)
def test_however_often_the_stream_is_lost_the_reader_gets_every_message_once(
    frames: list[bytes], losses: list[int]
) -> None:
    async def converse() -> None:
        outbox = outbox_with(*frames, kept_bytes=10_000)
        outbox.finish()
        got: list[bytes] = []
        for lost in [*losses, 0]:
            reader = outbox.open(len(got))
            batch = await reader.take()
            kept = batch[: max(0, len(batch) - lost)]
            got += [message.frame for message in kept]
            if batch:
                reader.confirm(batch)
        assert got == frames

    anyio.run(converse)
