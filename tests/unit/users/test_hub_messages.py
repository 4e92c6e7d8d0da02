"""Reports from a profile's process may contain anything, since its user's commands run beside it."""

from __future__ import annotations

import pytest

from hermes_acp.users.hub_messages import Spent, decode_spent, encode_spent


def test_a_report_is_read_as_it_was_written() -> None:
    spent = Spent(3, tokens=1200, usd=0.25, runs=1)
    assert decode_spent(encode_spent(spent)) == spent


@pytest.mark.parametrize(
    "line",
    [
        b'{"number":1,"tokens":-1}',
        b'{"number":1,"usd":-0.5}',
        b'{"number":1,"tokens":1000000000000000000000000}',
        b'{"number":1,"tokens":9223372036854775807}',
        b'{"number":1,"usd":1e308}',
        b'{"number":1,"runs":1000000000000000000000000}',
        b'{"number":1000000000000000000000000}',
        b'{"number":-1}',
        b'{"tokens":1}',
        b"\xff\xfe",
        b"",
    ],
)
def test_an_implausible_report_is_rejected(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_spent(line)
