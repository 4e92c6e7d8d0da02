"""Parsing and encoding of JSON-RPC messages; invalid ones get the prescribed error."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from hermes_protocol import envelope
from hermes_protocol.envelope import ErrorObject, Malformed, Notification, Reply, Request, classify
from hermes_protocol.errors import INVALID_PARAMS, INVALID_REQUEST, NAMES, PARSE_ERROR, PeerError

SECRET = "sk-canary-4711"


def frame(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def refusal_of(data: bytes) -> Malformed:
    message = classify(data)
    assert isinstance(message, Malformed), message
    return message


def test_a_request_keeps_its_params_undecoded() -> None:
    message = classify(b'{"jsonrpc":"2.0","id":7,"method":"session/new","params": {"cwd":"/x", "n":1.50} }')
    assert isinstance(message, Request)
    assert (message.id, message.method) == (7, "session/new")
    assert bytes(message.params) == b'{"cwd":"/x", "n":1.50}'


def test_a_call_without_an_id_is_a_notification_and_absent_params_are_empty() -> None:
    assert classify(frame(method="x")) == Notification("x", Raw(b"{}"))
    assert classify(frame(method="x", params=[1])) == Notification("x", Raw(b"[1]"))


def test_replies() -> None:
    assert classify(frame(id="a", result=None)) == Reply("a", Raw(b"null"))
    assert classify(frame(id=1, result=3, error=None)) == Reply(1, Raw(b"3"))
    failed = frame(id=1, error={"code": -1, "message": "m", "data": [1]})
    assert classify(failed) == Reply(1, ErrorObject(-1, "m", [1]))
    assert classify(frame(id=None, error={"code": -1, "message": "m"})) == Reply(None, ErrorObject(-1, "m"))


@pytest.mark.parametrize(
    "call_id",
    [
        0,
        -1,
        7,
        2**53 + 1,
        -(2**63),
        2**64,
        10**400,
        "",
        "7",
        "5d1c-uuid",
        "\u2028",
        "\U0001f600",
        "x" * 1_000_000,
    ],
    ids=lambda value: str(value)[:12],
)
def test_ids_are_echoed_exactly(call_id: int | str) -> None:
    message = classify(frame(id=call_id, method="x"))
    assert isinstance(message, Request)
    assert type(message.id) is type(call_id)
    assert msgspec.json.decode(envelope.encode_result(message.id, None))["id"] == call_id


@pytest.mark.parametrize(
    "text",
    ["1.0", "1.5", "1e3", "true", "false", "null", "[]", "{}", "1e999999", "1" * 5000],
    ids=lambda t: t[:9],
)
def test_an_id_of_another_type_is_refused_with_a_null_id(text: str) -> None:
    refusal = refusal_of(b'{"jsonrpc":"2.0","id":' + text.encode() + b',"method":"x"}')
    assert (refusal.code, refusal.id) == (INVALID_REQUEST, None)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[1,",
        b"nul",
        b"hello",
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":01}}',
        b'{"jsonrpc":"2.0","id":1,"method":"x"} {}',
        b'{"jsonrpc":"2.0","id":1,"method":"x\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":["\xc3"]}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":["\xed\xa0\x80"]}',
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":["\x00"]}',
        b'\x00{"jsonrpc":"2.0","id":1,"method":"x"}',
        '{"jsonrpc":"2.0","id":1,"method":"x"}'.encode("utf-16"),
        b'{"jsonrpc":"2.0","id":1,"method":"x"}\r{}',
        rb'{"jsonrpc":"2.0","id":1,"method":"x","params":["\ud8"]}',
    ],
)
def test_invalid_json_is_a_parse_error_with_a_null_id(data: bytes) -> None:
    refusal = refusal_of(data)
    assert (refusal.code, refusal.id, refusal.spoiled_reply_to) == (PARSE_ERROR, None, None)


@pytest.mark.parametrize(
    "data", [b"[]", b"42", b'"s"', b"null", b"true", b"{}", b'[{"jsonrpc":"2.0","id":1}]']
)
def test_json_that_is_not_a_message_is_an_invalid_request(data: bytes) -> None:
    refusal = refusal_of(data)
    assert (refusal.code, refusal.id) == (INVALID_REQUEST, None)


@pytest.mark.parametrize(
    ("data", "answer_id"),
    [
        (b'{"id":1,"method":"x"}', 1),
        (b'{"jsonrpc":"1.0","id":1,"method":"x"}', 1),
        (b'{"jsonrpc":2.0,"id":1,"method":"x"}', 1),
        (b'{"jsonrpc":"2.0","id":"a","method":5}', "a"),
        (frame(id=1, method="x", params=5), 1),
        (frame(id=1, method="x", params="s"), 1),
        (frame(id=1, method="x", params=None), 1),
        (frame(method="x", params=5), None),
        (frame(id=1, method="x", result=1), 1),
        (frame(id=1), 1),
        (frame(id=1, result=1, error={"code": 1, "message": "m"}), None),
    ],
)
def test_a_malformed_request_is_answered_with_its_id_if_it_has_one(data: bytes, answer_id: object) -> None:
    refusal = refusal_of(data)
    assert (refusal.code, refusal.id) == (INVALID_REQUEST, answer_id)


@pytest.mark.parametrize(
    "data",
    [
        frame(id=4, result=1, error={"code": 1, "message": "m"}),
        frame(id=4, error="boom"),
        frame(id=4, error={"message": "m"}),
        frame(id=4),
        b'{"id":4,"result":1}',
    ],
)
def test_a_malformed_reply_identifies_its_call(data: bytes) -> None:
    assert refusal_of(data).spoiled_reply_to == 4


@pytest.mark.parametrize("nest", [b"[", b'{"a":'])
@pytest.mark.parametrize("depth", [20_000, 100_000])
def test_deep_nesting_is_refused(nest: bytes, depth: int) -> None:
    close = {b"[": b"]", b'{"a":': b"}"}[nest]
    deep = nest * depth + b"1" + close * depth
    for data in (
        deep,
        b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + deep + b"}",
        b'{"q":' + deep + b"}",
    ):
        assert refusal_of(data).code == INVALID_REQUEST


def test_a_million_keys_duplicate_keys_and_unknown_members_are_tolerated() -> None:
    keys = ",".join(f'"k{number}":{number}' for number in range(10**6))
    message = classify(
        b'{"jsonrpc":"2.0","id":1,"id":2,"x":[1],"method":"m","params":{' + keys.encode() + b"}}"
    )
    assert isinstance(message, Request)
    assert message.id == 2


def test_out_of_range_numbers_stay_undecoded_until_the_params_are_decoded() -> None:
    message = classify(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":1e999999}}')
    assert isinstance(message, Request)
    with pytest.raises(PeerError) as caught:
        envelope.decode_params(message.params, dict[str, float])
    assert caught.value.code == INVALID_PARAMS


def test_lone_surrogate_escapes_are_read_as_replacement_characters() -> None:
    message = classify(
        rb'{"jsonrpc":"2.0","id":1,"method":"x","params":["a\ud800b\uDC00","\\ud800","\ud83d\ude00"]}'
    )
    assert isinstance(message, Request)
    assert msgspec.json.decode(message.params) == ["a\ufffdb\ufffd", "\\ud800", "\U0001f600"]


def test_a_bad_byte_at_the_end_of_a_large_message_is_found() -> None:
    text = "\u00e9\u20ac\U0001f600" * 400_000
    good = b'{"jsonrpc":"2.0","method":"x","params":["' + text.encode() + b'"]}'
    assert isinstance(classify(good), Notification)
    assert refusal_of(good[:-4] + b'\xe2\x82"]}').code == PARSE_ERROR


def test_errors_never_quote_the_message() -> None:
    for data in (
        f'{{"jsonrpc":"2.0","id":1,"method":"x","params":"{SECRET}"}}',
        f'{{"jsonrpc":"{SECRET}","id":1,"method":"x"}}',
        f'"{SECRET}"',
        f"{{{SECRET}",
    ):
        assert SECRET.encode() not in refusal_of(data.encode()).encode()
    with pytest.raises(PeerError) as caught:
        envelope.decode_params(Raw(f'{{"a":["{SECRET}"]}}'.encode()), dict[str, list[int]])
    assert SECRET not in str(caught.value)
    assert "$" in str(caught.value)


class Chunk(msgspec.Struct, rename="camel"):
    message_id: str
    text: str | msgspec.UnsetType = msgspec.UNSET
    extra: Raw | msgspec.UnsetType = msgspec.UNSET


def test_encoders_write_one_line_and_omit_unset_members() -> None:
    assert envelope.encode_request(1, "m", Chunk("a")) == (
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"messageId":"a"}}\n'
    )
    assert envelope.encode_notification("m", {}) == b'{"jsonrpc":"2.0","method":"m","params":{}}\n'
    assert envelope.encode_result("i", None) == b'{"jsonrpc":"2.0","id":"i","result":null}\n'
    assert envelope.encode_error(None, -1, "m") == (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m","data":{"code":"error"}}}\n'
    )
    assert envelope.encode_error(2, -1, "m", {"k": 1}).endswith(b'"message":"m","data":{"k":1}}}\n')


@pytest.mark.parametrize("code", NAMES)
def test_an_error_without_data_has_the_stable_name_of_its_code(code: int) -> None:
    error = json.loads(envelope.encode_error(1, code, "m"))["error"]
    assert error == {"code": code, "message": "m", "data": {"code": NAMES[code]}}


def test_line_ends_inside_strings_are_escaped() -> None:
    data = envelope.encode_notification("m", ["a\nb\rc\u2028d\x00"])
    assert data.count(b"\n") == 1
    assert b"\r" not in data
    assert json.loads(data)["params"] == ["a\nb\rc\u2028d\x00"]


def test_surrogates_in_outgoing_strings_are_replaced() -> None:
    chunk = Chunk("a\ud800", "\ud83d\ude00", Raw(b"[1]"))
    data = envelope.encode_notification("m", [chunk, {"\udfff": ("x",)}])
    assert json.loads(data)["params"] == [
        {"messageId": "a\ufffd", "text": "\U0001f600", "extra": [1]},
        {"\ufffd": ["x"]},
    ]


@given(
    st.binary()
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
)
def test_no_bytes_make_the_classifier_raise(data: bytes) -> None:
    message = classify(data)
    if isinstance(message, Malformed):
        assert msgspec.json.decode(message.encode())["error"]["code"] == message.code
