"""Every fault of an endpoint has a name, with every plugin in `models/providers`, and none reveals the key."""

from __future__ import annotations

import anyio
import pytest

from hermes_acp.core.errors import (
    BadReply,
    ContextWindowExceeded,
    ModelAuthFailed,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    QuotaExceeded,
    RateLimited,
)
from hermes_acp.core.messages import ModelEvent, TextFragment
from hermes_acp.models.wire.endpoints import Connection
from tests.contract.provider_suite import (
    KEY,
    KEY_VARIABLES,
    LEAVES,
    PATHS,
    answer_to,
    ask,
    collect,
    connected,
    joined,
    last_reply,
)
from tests.model_server import Fault, Hold, Reply, Usage, serve

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("leaf", LEAVES)]


async def raised_error(fault: Fault, leaf: str, text: str = "some words here") -> ModelError:
    reply = Reply(text=text, deltas=3, fault=fault)
    with pytest.raises(ModelError) as caught:
        await answer_to(reply, leaf)
    assert KEY not in repr(caught.value) + caught.value.sentence()
    return caught.value


@pytest.mark.parametrize(
    ("status", "kind", "is_retryable"),
    [
        (400, ModelRefused, False),
        (401, ModelAuthFailed, False),
        (402, QuotaExceeded, False),
        (403, ModelAuthFailed, False),
        (404, ModelRefused, False),
        (408, ModelUnavailable, True),
        (409, ModelUnavailable, True),
        (422, ModelRefused, False),
        (429, RateLimited, True),
        (500, ModelUnavailable, True),
        (502, ModelUnavailable, True),
        (503, ModelUnavailable, True),
        (529, ModelUnavailable, True),
    ],
)
async def test_every_status_is_named(
    leaf: str, status: int, kind: type[ModelError], is_retryable: bool
) -> None:
    trouble = await raised_error(Fault(status=status), leaf)
    if status == 403 and leaf.startswith("openai"):
        kind = ModelRefused  # OpenAI sends this to countries it does not serve, whatever the key.
    assert type(trouble) is kind
    assert trouble.retryable is is_retryable


async def test_a_rejected_key_names_the_variable_to_set(leaf: str) -> None:
    trouble = await raised_error(Fault(status=401, message=f"Incorrect API key provided: {KEY}"), leaf)
    assert KEY_VARIABLES[leaf] in trouble.hint


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500])
@pytest.mark.parametrize("said", [f"bad key {KEY}", "bad key Zq9wve******Xk42", f"Bearer {KEY}", KEY * 50])
async def test_no_error_shows_the_key(leaf: str, status: int, said: str) -> None:
    trouble = await raised_error(Fault(status=status, message=said), leaf)
    assert "Xk42" not in trouble.sentence()
    assert len(trouble.message) < 500


async def test_a_missing_model_is_named_with_its_endpoint(leaf: str) -> None:
    trouble = await raised_error(Fault(status=404), leaf)
    assert "scripted-large" in trouble.message
    assert "127.0.0.1:" in trouble.message


async def test_a_rate_limit_includes_the_delay(leaf: str) -> None:
    trouble = await raised_error(Fault(status=429, retry_after_s=2.5), leaf)
    assert isinstance(trouble, RateLimited)
    assert trouble.retry_after_s == 2.5


async def test_an_exhausted_quota_is_not_a_rate_limit(leaf: str) -> None:
    assert type(await raised_error(Fault(kind="quota_used_up"), leaf)) is QuotaExceeded


async def test_a_full_window_is_distinguished(leaf: str) -> None:
    assert type(await raised_error(Fault(kind="context_full"), leaf)) is ContextWindowExceeded


async def test_an_error_inside_the_stream_is_an_error(leaf: str) -> None:
    trouble = await raised_error(Fault(error_after=2), leaf)
    assert type(trouble) is ModelUnavailable
    assert trouble.retryable


@pytest.mark.parametrize("is_reset", [False, True])
async def test_an_interrupted_stream_keeps_its_text_and_names_the_endpoint(leaf: str, is_reset: bool) -> None:
    heard: list[ModelEvent] = []

    async def listen(connection: Connection) -> None:
        async with connection.stream(ask()) as events:
            heard.extend([await anext(events)])
            heard.extend([event async for event in events])

    reply = Reply(text=("one ", "two "), delay_s=0.01, fault=Fault(cut_after=1, reset=is_reset))
    async with serve([reply]) as server, connected(server, leaf) as connection:
        with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:\d+") as caught:
            await listen(connection)
    assert caught.value.retryable
    # A connection reset may overtake the bytes sent before it.
    assert joined(heard, TextFragment) in ({"one ", ""} if is_reset else {"one "})


async def test_a_stream_without_its_end_was_interrupted(leaf: str) -> None:
    trouble = await raised_error(Fault(end_after=2), leaf)
    assert type(trouble) is ModelUnavailable
    assert trouble.retryable
    assert "broke off" in trouble.message


@pytest.mark.parametrize(
    "rubbish",
    [
        'data: {"broken": \n\n',
        "data: \xff\n\n",
        'data: "word"\n\n',
        'data: {"type": 7, "choices": 3, "candidates": 3}\n\n',
    ],
)
async def test_garbage_is_a_bad_response(leaf: str, rubbish: str) -> None:
    trouble = await raised_error(Fault(malformed_after=1, malformed=rubbish), leaf)
    assert type(trouble) is BadReply
    assert trouble.retryable


async def test_comments_and_unknown_events_are_ignored(leaf: str) -> None:
    if leaf == "bedrock":
        pytest.skip("its frames are bytes; tests/unit/models/test_aws_event_stream.py has them")
    more = (
        ': keep-alive\r\n\r\nid: 7\nretry: 10\n\nevent: novelty\ndata: {"type": "novelty", "choices": []}\n\n'
    )
    events = await answer_to(Reply(text=("a", "b"), fault=Fault(malformed_after=1, malformed=more)), leaf)
    assert last_reply(events).message.text == "ab"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<html>502</html>", "text/html"),
        ("{", "application/json"),
        ("", "text/plain"),
        ("x" * 200_000, "text/plain"),
    ],
)
async def test_an_error_body_of_an_unknown_form_is_still_an_error(
    leaf: str, body: str, content_type: str
) -> None:
    fault = Fault(status=502, raw_body=body, headers={"content-type": content_type})
    trouble = await raised_error(fault, leaf)
    assert type(trouble) is ModelUnavailable
    assert len(trouble.message) < 500
    assert "<html" not in trouble.message


async def test_silence_ends_in_an_error_that_names_the_endpoint(leaf: str) -> None:
    reply = Reply(text=("one ", "two"), fault=Fault(silent_after=1))
    async with serve([reply]) as server, connected(server, leaf, silence_s=0.2) as connection:
        with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:\d+ was silent for 0\.2 s") as caught:
            await collect(connection, ask())
        await server.wait_for_disconnect()
    assert caught.value.retryable


async def test_a_slow_reader_is_not_a_silent_endpoint(leaf: str) -> None:
    gate = anyio.Event()
    reply = Reply(text=("one ", "two"), holds=(Hold(gate, after=1),))
    async with serve([reply]) as server, connected(server, leaf, silence_s=0.2) as connection:
        text = ""
        async with connection.stream(ask()) as events:
            async for event in events:
                if isinstance(event, TextFragment):
                    text += event.text
                    await anyio.sleep(0.4)
                    gate.set()
    assert text == "one two"


async def test_a_closed_port_is_named(leaf: str) -> None:
    async with serve([]) as server:
        gone = server
    async with connected(gone, leaf) as connection:
        with pytest.raises(ModelUnavailable, match=rf"127\.0\.0\.1:{gone.port}") as caught:
            await collect(connection, ask())
    assert caught.value.retryable


async def test_a_redirect_is_not_followed(leaf: str) -> None:
    async with serve([Reply(text="stolen")]) as thief:
        location = {"location": f"http://127.0.0.1:{thief.port}{PATHS[leaf]}"}
        trouble = await raised_error(Fault(status=307, raw_body="", headers=location), leaf)
        assert type(trouble) is ModelRefused
        assert thief.requests == []


async def test_a_whole_document_instead_of_a_stream_is_a_bad_response(leaf: str) -> None:
    fault = Fault(status=200, raw_body='{"hello": "world"}')
    assert type(await raised_error(fault, leaf)) is BadReply


async def test_impossible_token_counts_refund_nothing(leaf: str) -> None:
    """A budget that an endpoint could refill would never run out."""
    usage = last_reply(await answer_to(Reply(text="hi", usage=Usage(-50, -7)), leaf)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (0, 0, 0)
