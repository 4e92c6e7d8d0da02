"""A JSON-RPC connection as a server: requests, notifications, cancellation and limits."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from connection_ends import Served, error_of, served

from hermes_protocol.connection import CANCEL_REQUEST, Connection, Limits
from hermes_protocol.errors import CANCELLED, INTERNAL_ERROR, INVALID_REQUEST, NOT_FOUND, PARSE_ERROR
from hermes_protocol.framing import add_length
from hermes_protocol.transport import memory_pair

pytestmark = pytest.mark.anyio
WAIT_S = 60


@pytest.mark.parametrize(
    ("junk", "code"),
    [
        (b"[]\n", INVALID_REQUEST),
        (b"42\n", INVALID_REQUEST),
        (b'"s"\n', INVALID_REQUEST),
        (b"null\n", INVALID_REQUEST),
        (b"{\n", PARSE_ERROR),
        (b"\xff\xfe\n", PARSE_ERROR),
        (b"\x00\n", PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"echo","params":[NaN]}\n', PARSE_ERROR),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"echo","params":' + b"[" * 10**5 + b"]" * 10**5 + b"}\n",
            INVALID_REQUEST,
        ),
        (b'[{"jsonrpc":"2.0","id":1,"method":"echo"}]\n', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":9,"result":1,"error":{"code":1,"message":"m"}}\n', INVALID_REQUEST),
        (b"x" * (34 << 20) + b"\n", INVALID_REQUEST),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_junk_is_answered_with_a_null_id_and_the_next_request_served(junk: bytes, code: int) -> None:
    async with served() as (far, handler, _):
        await far.send(junk)
        assert error_of(await far.read()) == (None, code)
        await far.call("next", "echo", {"a": 1})
        assert await far.read() == {"jsonrpc": "2.0", "id": "next", "result": {"a": 1}}
        assert handler.bugs == []


async def test_large_lines_pass_in_both_directions() -> None:
    text = "\u20ac" * 400_000
    async with served() as (far, _, _), anyio.create_task_group() as group:
        group.start_soon(far.call, 1, "echo", [text])
        assert (await far.read())["result"] == [text]


async def test_pending_bytes_are_read_first_and_crlf_and_blank_lines_accepted() -> None:
    head = b'\r\n{"jsonrpc":"2.0","id":0,"method":"echo"}\r\n{"jsonrpc":"2.0","id":1,'
    async with served(pending=head) as (far, _, _):
        await far.send(b'"method":"echo"}\r\n')
        assert [(await far.read())["id"], (await far.read())["id"]] == [0, 1]


async def test_a_connection_with_content_length_framing() -> None:
    near, far_end = memory_pair()
    connection = Connection(near, Served(), on_bug=lambda error, trace: None, framing="content-length")
    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(connection.run)
            await far_end.send(
                b"Content-Type: x\r\n\r\n" + add_length(b'{"jsonrpc":"2.0","id":1,"method":"echo"}')
            )
            expected = add_length(
                b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,'
                b'"message":"the header has no usable Content-Length","data":{"code":"parse_error"}}}\n'
            ) + add_length(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
            got = b""
            while len(got) < len(expected):
                got += await far_end.receive()
            assert got == expected
            await connection.aclose()


async def test_errors_of_a_handler() -> None:
    async with served() as (far, handler, _):
        await far.call(1, "missing")
        assert (await far.read())["error"] == {
            "code": NOT_FOUND,
            "message": "no such session",
            "data": {"id": "s"},
        }
        for method in ("break", "unencodable", "bad_data", "no_such_method"):
            await far.call(method, method)
            answer = await far.read()
            error, trace = handler.bugs.pop()
            assert answer["error"] == {
                "code": INTERNAL_ERROR,
                "message": "internal error",
                "data": {"code": "bug", "trace": trace},
            }
            assert isinstance(error, (ValueError, TypeError, AttributeError))


async def test_notifications_keep_their_order_and_a_slow_one_blocks_reading() -> None:
    async with served() as (far, handler, _):
        await far.note("refuse", {})
        await far.note("break", {})
        await far.note("slow", {})
        await far.note("after", {})
        await far.call(1, "echo")
        while len(handler.notes) < 3:
            await anyio.lowlevel.checkpoint()
        assert [name for name, _ in handler.notes] == ["refuse", "break", "slow"]
        handler.release.set()
        assert (await far.read())["id"] == 1
        assert [name for name, _ in handler.notes[3:]] == ["slow done", "after"]
        assert [type(error) for error, _ in handler.bugs] == [ValueError]


async def test_updates_precede_the_answer_of_their_request() -> None:
    async with served(Limits(high_water_bytes=200, low_water_bytes=50)) as (far, _, _):
        await far.call(1, "stream")
        numbers = [(await far.read())["params"]["n"] for _ in range(100)]
        assert numbers == list(range(100))
        assert await far.read() == {"jsonrpc": "2.0", "id": 1, "result": "end"}


async def test_a_caller_that_waited_for_an_answer_continues_before_later_messages_are_handled() -> None:
    async with served() as (far, handler, connection), anyio.create_task_group() as group:

        async def ask() -> None:
            await connection.request("ask", {}, dict[str, int])
            handler.notes.append(("answered", b""))

        group.start_soon(ask)
        asked = await far.read()
        await far.send(
            {"jsonrpc": "2.0", "id": asked["id"], "result": {}},
            {"jsonrpc": "2.0", "method": "later", "params": {}},
        )
        await far.call(1, "echo")
        await far.read()
        assert [name for name, _ in handler.notes] == ["answered", "later"]


async def test_a_duplicate_id_is_refused_and_the_first_request_continues() -> None:
    async with served() as (far, handler, _):
        await far.call(1, "wait")
        await far.call("1", "echo")
        assert (await far.read())["id"] == "1"
        await far.call(1, "wait")
        assert error_of(await far.read()) == (1, INVALID_REQUEST)
        await far.send({"jsonrpc": "2.0", "id": 1, "method": 5})
        assert error_of(await far.read()) == (None, INVALID_REQUEST)
        handler.release.set()
        assert await far.read() == {"jsonrpc": "2.0", "id": 1, "result": "released"}
        await far.call(1, "echo")
        assert (await far.read())["result"] == {}


async def test_cancelling_a_running_request_is_answered_once() -> None:
    async with served() as (far, handler, _):
        await far.call("a", "wait")
        await handler.some_started.wait()
        for _ in range(1000):
            await far.note(CANCEL_REQUEST, {"requestId": "a"})
        assert error_of(await far.read()) == ("a", CANCELLED)
        await far.call("b", "echo")
        assert (await far.read())["id"] == "b"
        assert handler.cancelled == ["a"]
        assert handler.notes == []


async def test_a_request_cancelled_before_it_started_never_starts() -> None:
    async with served() as (far, handler, _):
        await far.send(
            {"jsonrpc": "2.0", "id": 1, "method": "echo"},
            {"jsonrpc": "2.0", "method": CANCEL_REQUEST, "params": {"requestId": 1}},
        )
        assert error_of(await far.read()) == (1, CANCELLED)
        assert handler.started == []


async def test_a_cancelled_request_that_finishes_is_answered_with_its_result() -> None:
    async with served() as (far, handler, _):
        await far.call(1, "stubborn")
        await handler.some_started.wait()
        await far.note(CANCEL_REQUEST, {"requestId": 1})
        handler.release.set()
        assert (await far.read())["result"] == "finished"


async def test_cancels_of_finished_and_unknown_requests_and_of_no_id_are_ignored() -> None:
    async with served() as (far, handler, _):
        await far.call(1, "echo")
        await far.read()
        for params in (
            {"requestId": 1},
            {"requestId": "x"},
            {"requestId": None},
            {"requestId": [1]},
            {},
            [1],
        ):
            await far.note(CANCEL_REQUEST, params)
        await far.call(2, "echo")
        assert (await far.read())["id"] == 2
        assert handler.bugs == []


async def test_twenty_thousand_requests_start_no_more_tasks_than_the_limit() -> None:
    count, limit = 20_000, 100
    refused: list[Any] = []
    async with served(Limits(in_flight=limit)) as (far, handler, _):
        async with anyio.create_task_group() as group:
            group.start_soon(far.send, *({"jsonrpc": "2.0", "id": n, "method": "wait"} for n in range(count)))
            refused += [await far.read() for _ in range(count - limit)]
        assert {message["error"]["data"]["code"] for message in refused} == {"overloaded"}
        assert handler.started == list(range(limit))
        handler.release.set()
        answers = [await far.read() for _ in range(limit)]
        assert {message["id"] for message in answers} == set(range(limit))
