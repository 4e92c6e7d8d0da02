"""Calls from our side of a connection, and how connections end."""

import json

import anyio
import anyio.lowlevel
import msgspec
import pytest
from connection_ends import Served, error_of, served
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from hermes_protocol.connection import CANCEL_REQUEST, Connection, Limits
from hermes_protocol.errors import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PeerError,
    PeerGone,
)
from hermes_protocol.transport import memory_pair

pytestmark = pytest.mark.anyio
WAIT_S = 60


async def test_our_calls_get_results_and_errors() -> None:
    async with served() as (far, _, connection):
        got: list[object] = []

        async def ask() -> None:
            got.append(await connection.request("one", {"a": 1}, int))
            for _ in range(3):
                with pytest.raises(PeerError) as caught:
                    await connection.request("two", {}, int)
                got.append(caught.value.code)
            got.append(bytes(await connection.request("raw", {}, Raw)))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            question = await far.read()
            assert question["params"] == {"a": 1}
            await far.send({"jsonrpc": "2.0", "id": 999, "result": 0})
            await far.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "m"}})
            await far.send({"jsonrpc": "2.0", "id": question["id"], "result": 41})
            await far.send({"jsonrpc": "2.0", "id": question["id"], "result": 42})
            second = (await far.read())["id"]
            await far.send({"jsonrpc": "2.0", "id": second, "error": {"code": -5, "message": "m"}})
            third = (await far.read())["id"]
            await far.send({"jsonrpc": "2.0", "id": third, "result": "not an int"})
            fourth = (await far.read())["id"]
            await far.send(
                {"jsonrpc": "2.0", "id": fourth, "result": 1, "error": {"code": 1, "message": "m"}}
            )
            fifth = (await far.read())["id"]
            await far.send({"jsonrpc": "2.0", "id": fifth, "result": {"x": [1]}})
        assert got == [41, -5, INTERNAL_ERROR, INVALID_REQUEST, b'{"x": [1]}']


async def test_an_abandoned_call_is_cancelled_on_the_other_side_and_its_late_reply_dropped() -> None:
    async with served() as (far, handler, connection):
        with pytest.raises(TimeoutError):
            await connection.request("never", {}, int, timeout_s=0)
        question, cancel = await far.read(), await far.read()
        assert (cancel["method"], cancel["params"]) == (CANCEL_REQUEST, {"requestId": question["id"]})
        async with anyio.create_task_group() as group:
            group.start_soon(connection.request, "never", None, int)
            question = await far.read()
            group.cancel_scope.cancel()
        assert (await far.read())["params"] == {"requestId": question["id"]}
        await far.send({"jsonrpc": "2.0", "id": question["id"], "result": 1})
        await far.call(1, "echo")
        assert (await far.read())["id"] == 1
        assert handler.bugs == []


async def test_end_of_input_cancels_and_answers_what_runs_and_fails_our_calls() -> None:
    async with served() as (far, handler, connection):
        await far.call(1, "wait")
        await far.call(2, "ask")
        assert (await far.read())["method"] == "question"
        await far.send(b'{"jsonrpc":"2.0","id":3,"method":"ec')
        await far.transport.send_eof()
        answers = await far.read_all()
        assert {message["id"] for message in answers} == {1, 2}
        assert (1, CANCELLED) in [error_of(message) for message in answers]
        assert handler.cancelled == [1]
        connection.notify("late", {})
        await connection.drained()
        with pytest.raises(PeerGone):
            await connection.request("late", {}, int)


async def test_our_call_fails_with_peer_gone_at_the_end_of_input() -> None:
    near, far_end = memory_pair()
    connection = Connection(near, Served(), on_bug=lambda error, trace: None)
    gone: list[bool] = []

    async def ask() -> None:
        with pytest.raises(PeerGone):
            await connection.request("question", {}, str)
        gone.append(True)

    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(connection.run)
            group.start_soon(ask)
            await far_end.receive()
            await far_end.send_eof()
    assert gone == [True]


async def test_a_peer_that_stops_reading_ends_the_run() -> None:
    async with served() as (far, handler, connection):
        await far.call(1, "wait")
        await handler.some_started.wait()
        await far.transport.aclose()
        connection.notify("update", {})
        await connection.aclose()
        assert handler.cancelled == [1]


async def test_an_endless_producer_is_cancelled_when_the_peer_is_lost() -> None:
    async with served(Limits(high_water_bytes=1000, low_water_bytes=100)) as (far, handler, connection):
        await far.call(1, "stream_for_ever")
        await far.read()
        await far.transport.aclose()
        await connection.aclose()
        assert handler.bugs == []


async def test_a_blocked_reader_keeps_the_queue_at_the_mark_and_reading_continues() -> None:
    limits = Limits(high_water_bytes=4096, low_water_bytes=1024, flush_s=0)
    async with served(limits, buffer_bytes=64) as (far, handler, connection):
        sent = [0]
        text = "t" * 50

        async def produce() -> None:
            while True:
                sent[0] += 1
                connection.notify("update", text)
                await connection.drained()

        async with anyio.create_task_group() as group:
            group.start_soon(produce)
            group.start_soon(produce)
            await far.note("mark", {})
            while not handler.notes:
                await anyio.lowlevel.checkpoint()
            assert 0 < sent[0] < 100
            for _ in range(sent[0]):
                await far.read()
            before = sent[0]
            while sent[0] < before + 50:
                await far.read()
            group.cancel_scope.cancel()


async def test_a_flood_of_junk_from_a_peer_that_does_not_read_is_not_read_forever() -> None:
    limits = Limits(high_water_bytes=4096, low_water_bytes=1024, stop_reading_bytes=8192, flush_s=0)
    async with served(limits, buffer_bytes=1024) as (far, _, _):
        sent = [0]

        async def flood() -> None:
            while True:
                sent[0] += 1
                await far.send(b"[]\n")

        async with anyio.create_task_group() as group:
            group.start_soon(flood)
            previous = -1
            while sent[0] != previous:
                previous = sent[0]
                for _ in range(100):
                    await anyio.lowlevel.checkpoint()
            assert 0 < sent[0] < 2000
            for _ in range(sent[0]):
                assert error_of(await far.read()) == (None, INVALID_REQUEST)
            group.cancel_scope.cancel()


async def test_closing_from_inside_a_handler_and_without_a_run() -> None:
    near, far_end = memory_pair()
    idle = Connection(near, Served(), on_bug=lambda error, trace: None)
    await idle.aclose()
    assert await far_end.receive() == b""
    async with served() as (far, handler, connection):
        await far.call(1, "wait")
        await handler.some_started.wait()
        await connection.aclose()
        assert error_of(await far.read()) == (1, CANCELLED)
        assert await far.read() is None


CALLS = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "1.0"])},
    optional={
        "id": st.integers(0, 3) | st.none() | st.text(max_size=3) | st.floats(allow_nan=False),
        "method": st.sampled_from(["echo", "wait", "break", "stream", "refuse", CANCEL_REQUEST, ""]),
        "params": st.just({"requestId": 1}) | st.lists(st.integers(), max_size=2) | st.none(),
        "result": st.none() | st.integers(),
        "error": st.none() | st.fixed_dictionaries({"code": st.integers(), "message": st.text(max_size=3)}),
    },
).map(lambda message: json.dumps(message).encode() + b"\n")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=30) | CALLS | st.just(b"\n"), max_size=15))
async def test_no_bytes_kill_a_connection(pieces: list[bytes]) -> None:
    async with served(Limits(max_frame_bytes=200)) as (far, handler, _):
        for piece in pieces:
            await far.send(piece)
        await far.send(b'\n{"jsonrpc":"2.0","id":"the last","method":"echo"}\n')
        while (answer := await far.read()) is not None and answer.get("id") != "the last":
            assert answer.get("method") == "update" or "result" in answer or "error" in answer
        assert answer == {"jsonrpc": "2.0", "id": "the last", "result": {}}
        assert all(isinstance(error, (ValueError, AttributeError)) for error, _ in handler.bugs)


async def test_messages_are_encoded_when_they_are_sent() -> None:
    near, _ = memory_pair()
    connection = Connection(near, Served(), on_bug=lambda error, trace: None)
    with pytest.raises(TypeError):
        connection.notify("update", object())
    connection.notify("update", msgspec.UNSET)
