"""Detection of a model server on this machine, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
import pytest

from hermes_acp.models.wire.local_detection import DetectedServer, detect_local
from tests.model_server import serve

WAIT_S = 30

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def silent_port() -> AsyncGenerator[int]:
    """Accept and never answer; the whole block has a time limit."""

    async def keep_silent(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, keep_silent)
        tasks.cancel_scope.deadline = anyio.current_time() + WAIT_S
        yield listener.extra(anyio.abc.SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


async def test_a_server_among_closed_ports_is_found() -> None:
    async with serve([]) as gone:
        pass
    async with serve([], models=("big", "small")) as server:
        found = await detect_local((("Closed", gone.port), ("Mine", server.port)), bound_s=WAIT_S)
    assert found == DetectedServer("Mine", f"http://127.0.0.1:{server.port}/v1", "big")


async def test_the_earlier_of_two_is_preferred() -> None:
    async with serve([], models=("one",)) as first, serve([], models=("two",)) as second:
        found = await detect_local((("A", first.port), ("B", second.port)), bound_s=WAIT_S)
    assert found == DetectedServer("A", f"http://127.0.0.1:{first.port}/v1", "one")


async def test_a_silent_port_does_not_hide_a_later_one() -> None:
    async with silent_port() as silent, serve([], models=("big",)) as server:
        bound_s = 0.2
        while not (found := await detect_local((("Silent", silent), ("Mine", server.port)), bound_s=bound_s)):
            bound_s *= 2
        assert found == DetectedServer("Mine", f"http://127.0.0.1:{server.port}/v1", "big")


async def test_the_first_in_order_does_not_wait_for_the_others() -> None:
    async with silent_port() as silent, serve([], models=("big",)) as server:
        found = await detect_local((("Mine", server.port), ("Silent", silent)), bound_s=10 * WAIT_S)
        assert found == DetectedServer("Mine", f"http://127.0.0.1:{server.port}/v1", "big")


async def test_a_silent_port_alone_is_not_a_server() -> None:
    async with silent_port() as silent:
        assert await detect_local((("Silent", silent),), bound_s=0.05) is None


async def test_a_server_without_models_does_not_count() -> None:
    async with serve([], models=()) as server:
        assert await detect_local((("Empty", server.port),), bound_s=WAIT_S) is None


async def test_without_ports_there_is_no_server() -> None:
    assert await detect_local(()) is None
