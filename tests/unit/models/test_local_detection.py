"""Reading the list of models from whatever answers on a local port."""

from __future__ import annotations

import pytest

from hermes_acp.models.wire.local_detection import read_first_model

LIST = b'{"object": "list", "data": [{"id": "llama"}, {"id": "other"}]}'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def test_the_first_model_is_read() -> None:
    assert read_first_model(HEAD + b"\r\n" + LIST) == "llama"


def test_a_chunked_body_is_read() -> None:
    chunks = b"5\r\n" + LIST[:5] + b"\r\n%x;ext=1\r\n" % len(LIST[5:]) + LIST[5:] + b"\r\n0\r\n\r\n"
    assert read_first_model(HEAD + b"Transfer-Encoding: Chunked\r\n\r\n" + chunks) == "llama"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        HEAD,
        HEAD + b"\r\n",
        HEAD + b"\r\n" + LIST[:-1],
        HEAD + b'\r\n{"data": []}',
        HEAD + b'\r\n{"data": {"id": "x"}}',
        HEAD + b'\r\n{"models": [{"id": "x"}]}',
        HEAD + b"\r\n<html></html>",
        HEAD + b"\r\n\xff\xfe",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + LIST,
        b"HTTP/1.1 404 Not Found\r\n\r\n" + LIST,
    ],
)
def test_anything_else_is_not_a_model_server(answer: bytes) -> None:
    assert read_first_model(answer) is None
