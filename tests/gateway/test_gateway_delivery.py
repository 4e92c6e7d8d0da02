"""Delivery of answers: in parts, in time, and exactly as often as can be known."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.frontends.gateway.delivery.rate_limit import RateLimit
from hermes_acp.frontends.gateway.delivery.text_splitting import length, split_text
from hermes_acp.frontends.gateway.messages import SENT_AGAIN
from hermes_acp.frontends.gateway.port.platform_port import Limits, PlatformError, Unit
from tests.gateway.fake_platform import FakePlugin, FakeServer
from tests.gateway.gateway_stage import gateway_stage
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio
CODE = (
    "Look:\n\n```python\n" + "\n".join(f"line_{number} = {number}" for number in range(40)) + "\n```\n\nDone."
)


UNITS: tuple[Unit, ...] = ("characters", "utf16", "bytes", "escaped")


@pytest.mark.parametrize("unit", UNITS)
@given(text=st.text(st.sampled_from("ab .\n`~é😀&<>"), max_size=600))
def test_parts_fit_the_limit_and_earlier_ones_do_not_change(unit: Unit, text: str) -> None:
    limits = Limits(max_length=80, unit=unit)
    whole = split_text(text, limits)
    assert all(length(message, limits) <= limits.max_length for message in whole)
    for piece in (text[: len(text) // 2], text[:-1]):
        before = split_text(piece, limits)
        assert whole[: len(before) - 1] == before[:-1] if before else True


def test_code_blocks_are_closed_and_reopened_at_a_split() -> None:
    messages = split_text(CODE, Limits(max_length=200))
    assert len(messages) > 2
    assert all(message.count("```") % 2 == 0 for message in messages)
    lines = [line for message in messages for line in message.split("\n") if line.startswith("line_")]
    assert lines == [f"line_{number} = {number}" for number in range(40)]


def test_the_rate_limit_allows_a_burst_and_then_one_at_a_time() -> None:
    limit = RateLimit(Limits(max_length=1, burst=2, send_gap_s=1.0), 0.0)
    assert [limit.take(0.0), limit.take(0.0)] == [0.0, 0.0]
    assert limit.take(0.0) == 1.0
    assert limit.take(1.0) == 0.0
    limit.close(9.0)
    assert limit.take(5.0) == 4.0


async def test_thousands_of_deltas_become_a_few_messages_and_edits(tmp_path: Path) -> None:
    words = tuple(f"word{number} " for number in range(5_000))
    plugin = FakePlugin(FakeServer(), max_length=12_000, edit_gap_s=0.5)
    async with serve((Reply(words),)) as model, gateway_stage(tmp_path, model, plugin=plugin) as stage:
        began = time.monotonic()
        await stage.direct("anna").send("Count")
        await stage.server.see("word4999")
        posts = stage.server.posts
        assert " ".join(post.text for post in posts).split() == "".join(words).split()
        assert len(posts) <= 5
        assert stage.server.edits <= len(posts) + (time.monotonic() - began) / 0.4


async def test_the_whole_text_arrives_despite_rate_limits(tmp_path: Path) -> None:
    server = FakeServer()
    server.faults.extend(PlatformError("429", retry_after_s=0.02) for _ in range(10))
    plugin = FakePlugin(server)
    async with (
        serve((Reply("One. Two. Three."),)) as model,
        gateway_stage(tmp_path, model, plugin=plugin) as stage,
    ):
        await stage.direct("anna").send("Count")
        await stage.server.see("One. Two. Three.")
        assert len(stage.server.posts) == 1


async def test_a_message_that_may_have_arrived_is_marked_when_it_is_resent(tmp_path: Path) -> None:
    server = FakeServer(loses_answers=True)
    plugin = FakePlugin(server)
    async with serve((Reply("Only once."),)) as model, gateway_stage(tmp_path, model, plugin=plugin) as stage:
        await stage.direct("anna").send("Go")
        repeated = await stage.server.see(SENT_AGAIN)
        await stage.server.until(lambda: repeated.text == f"{SENT_AGAIN}\nOnly once.")
        assert len(stage.server.posts) == 2


async def test_a_bug_in_a_platforms_library_affects_nothing_else(tmp_path: Path) -> None:
    replies = (Reply("First."), Reply("Second."))
    async with serve(replies) as model, gateway_stage(tmp_path, model) as stage:
        anna = stage.direct("anna")
        await anna.send("One")
        await stage.server.see("First.")
        stage.server.crash.set()
        await stage.server.until(lambda: stage.bugs)
        stage.server.faults.append(ValueError("another bug"))
        await anna.send("Two")
        await stage.server.see("Second.")
        assert len(stage.bugs) >= 1


async def test_without_edits_only_complete_messages_are_sent(tmp_path: Path) -> None:
    plugin = FakePlugin(FakeServer(), can_edit=False, max_length=300)
    text = " ".join(f"word{number}" for number in range(200))
    async with (
        serve((Reply(text, deltas=100),)) as model,
        gateway_stage(tmp_path, model, plugin=plugin) as stage,
    ):
        await stage.direct("anna").send("Count")
        await stage.server.see("word199")
        assert " ".join(post.text for post in stage.server.posts).split() == text.split()
        assert stage.server.edits == 0
        assert all(len(post.texts) == 1 for post in stage.server.posts)


async def test_the_same_message_twice_is_answered_once(tmp_path: Path) -> None:
    async with serve((Reply("First."), Reply("Second."))) as model, gateway_stage(tmp_path, model) as stage:
        anna = stage.direct("anna")
        for message_id in ("x1", "x1", "x1", "x2"):
            await anna.send("Go", message_id)
        await stage.server.see("Second.")
        assert len(model.requests) == 2


async def test_rooms_that_cannot_be_joined_are_in_the_status(tmp_path: Path) -> None:
    async with serve(()) as model, gateway_stage(tmp_path, model) as stage:
        server, database = stage.server, stage.gateway.stores.database
        await server.until(lambda: server.context)
        assert server.context is not None
        await server.context.report_rooms({"!closed:here": "M_FORBIDDEN \x1b[31mNo.\nway"})
        shown = database.fact("state:matrix")
        assert shown == (
            "Connected, but not in these rooms (!closed:here: M_FORBIDDEN [31mNo. way). "
            "The agent retries every minute."
        )
        await server.context.report_rooms({})
        assert database.fact("state:matrix") == ""
        assert stage.lines[-2:] == [f"matrix: {shown}", "matrix: All rooms are joined."]
