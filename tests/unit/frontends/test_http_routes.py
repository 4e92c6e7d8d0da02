"""Every message is routed to its stream."""

import msgspec
import pytest

from hermes_acp.frontends.acp.http.stream_routes import GREETING, Routes, StreamRoute
from hermes_protocol.envelope import Request, encode_error, encode_notification, encode_request, encode_result

RAW = msgspec.Raw


def request(call_id: int | str, method: str, params: bytes = b"{}") -> Request:
    return Request(call_id, method, RAW(params))


@pytest.mark.parametrize("call_id", [0, "", 7, "seven"])
def test_a_reply_goes_where_its_request_belongs(call_id: int | str) -> None:
    routes = Routes()
    assert routes.expect(request(call_id, "session/prompt", b'{"sessionId":"s1"}'))
    assert not routes.expect(request(call_id, "session/prompt", b'{"sessionId":"s2"}'))
    assert routes.find(encode_result(call_id, {})) == StreamRoute("s1")
    assert routes.find(encode_result(call_id, {})) == StreamRoute(None)
    assert routes.expect(request(call_id, "session/list"))


@pytest.mark.parametrize(
    ("method", "route"),
    [
        ("initialize", StreamRoute(GREETING)),
        ("session/new", StreamRoute(None)),
        ("session/load", StreamRoute(None, behind="s")),
        ("session/resume", StreamRoute(None, behind="s")),
        ("session/close", StreamRoute("s", is_last=True)),
        ("session/delete", StreamRoute("s", is_last=True)),
        ("session/archive", StreamRoute("s", is_last=True)),
        ("session/unarchive", StreamRoute("s")),
        ("session/set_mode", StreamRoute("s")),
        ("session/list", StreamRoute(None)),
    ],
)
def test_replies_by_method(method: str, route: StreamRoute) -> None:
    routes = Routes()
    params = b"{}" if method in ("session/new", "session/list", "initialize") else b'{"sessionId":"s"}'
    routes.expect(request(1, method, params))
    assert routes.find(encode_error(1, -1, "no")) == route


def test_messages_that_the_agent_starts() -> None:
    routes = Routes()
    assert routes.find(encode_notification("session/update", {"sessionId": "s"})) == StreamRoute("s")
    assert routes.find(encode_request(1, "session/request_permission", {"sessionId": "s"})) == StreamRoute(
        "s"
    )
    assert routes.find(encode_notification("$/cancel_request", {"requestId": 1})) == StreamRoute(None)
    assert routes.find(encode_notification("_x/odd", {"sessionId": 7})) == StreamRoute(None)
    assert routes.find(encode_notification("_x/list", [1])) == StreamRoute(None)
    assert routes.find(encode_error(None, -32700, "no JSON")) == StreamRoute(None)
