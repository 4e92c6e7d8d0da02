"""The meaning of error responses that the scripted model server cannot send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes_acp.core.errors import (
    ContextWindowExceeded,
    ModelAuthFailed,
    ModelRefused,
    ModelUnavailable,
    QuotaExceeded,
    RateLimited,
)
from hermes_acp.models.wire.endpoint_errors import ErrorBody, clean, read_error, read_refusal, to_error
from hermes_acp.models.wire.endpoints import Endpoint

ENDPOINT = Endpoint("http://h:1", "sk-Zq9wverysecretXk42", "OPENAI_API_KEY")


def reported(status: int, body: Any) -> Any:
    refusal = read_refusal(status, {}, json.dumps(body).encode(), 0.0)
    return to_error(refusal, place="h:1", model="m", endpoint=ENDPOINT)


def error_in_stream(**fields: Any) -> Any:
    return to_error(read_error(0, ErrorBody(**fields)), place="h:1", model="m", endpoint=ENDPOINT)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
    ],
)
def test_the_requested_delay_is_read(headers: dict[str, str], seconds: float | None) -> None:
    noon = 1795262400.0
    assert read_refusal(429, headers, b"", noon).retry_after_s == seconds


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "context_length_exceeded", "message": "too long"}},
        {
            "error": {
                "type": "exceed_context_size_error",
                "code": 400,
                "message": "exceeds the available context size",
            }
        },
        {"error": {"type": "invalid_request_error", "message": "prompt is too long: 2 tokens > 1 maximum"}},
        {"message": "This model's maximum context length is 4096 tokens."},
        {"error": "input is too long"},
    ],
)
def test_a_full_window_is_recognised_in_many_wordings(body: Any) -> None:
    assert type(reported(400, body)) is ContextWindowExceeded


def test_an_output_limit_that_is_too_large_is_not_a_full_window() -> None:
    message = "max_tokens is too large: 9000. This model's maximum context length is 4096 tokens."
    assert type(reported(400, {"error": {"message": message}})) is ModelRefused


def test_a_missing_key_is_reported() -> None:
    refusal = read_refusal(401, {}, b"", 0.0)
    trouble = to_error(refusal, place="h:1", model="m", endpoint=Endpoint(key_variable="X_KEY"))
    assert isinstance(trouble, ModelAuthFailed)
    assert trouble.sentence() == "h:1 requires a key. Set X_KEY to a key that is valid there."


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, ModelUnavailable),
        ({"type": "api_error"}, ModelUnavailable),
        ({"type": "rate_limit_error"}, RateLimited),
        ({"type": "authentication_error"}, ModelAuthFailed),
        ({"type": "invalid_request_error", "message": "no"}, ModelRefused),
        ({"code": 429, "message": "slow down"}, RateLimited),
        ({"code": "502"}, ModelUnavailable),
        ({"code": "context_length_exceeded"}, ContextWindowExceeded),
        ({"code": "insufficient_quota", "type": "insufficient_quota"}, QuotaExceeded),
        ({}, ModelUnavailable),
    ],
)
def test_an_error_in_a_stream_means_the_same_as_its_status(
    fields: dict[str, Any], kind: type[Exception]
) -> None:
    assert type(error_in_stream(**fields)) is kind


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b'"x"', b'{"error": 3}', b"\xff\xfe", b'{"detail": [{"loc": 1}]}']
)
def test_any_body_becomes_a_message(body: bytes) -> None:
    refusal = read_refusal(500, {}, body, 0.0)
    assert "status 500" in to_error(refusal, place="h:1", model="m", endpoint=ENDPOINT).message


def test_cleaned_text_is_one_short_line() -> None:
    assert clean("a\n\t b" + "c" * 1000, ENDPOINT) == ("a b" + "c" * 296) + "…"


@pytest.mark.parametrize(
    "secret", ["sk-Zq9wverysecretXk42", "sk-Zq9******Xk42", "sk-other_key-1234567", "Bearer abc.def"]
)
def test_cleaned_text_contains_nothing_like_a_key(secret: str) -> None:
    assert clean(f"the key '{secret}' is wrong", ENDPOINT).replace("'", "") in (
        "the key [hidden] is wrong",
        "the key [hidden]",
    )


def google(code: int, status: str, message: str = "no", *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "status": status, "message": message, "details": details}}


BILLING = "You exceeded your current quota, please check your plan and billing details."


def test_googles_temporary_limits_are_distinguished_from_an_exhausted_quota() -> None:
    wish = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "13.5s"}
    trouble = reported(429, google(429, "RESOURCE_EXHAUSTED", BILLING, wish))
    assert isinstance(trouble, RateLimited)
    assert trouble.retry_after_s == 13.5
    gone = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
    assert type(reported(429, google(429, "RESOURCE_EXHAUSTED", BILLING, gone, wish))) is QuotaExceeded
    assert type(reported(429, google(429, "RESOURCE_EXHAUSTED", BILLING))) is RateLimited


def test_googles_rejection_of_a_key_is_recognised_with_any_status() -> None:
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    trouble = reported(400, google(400, "INVALID_ARGUMENT", "API key not valid.", reason))
    assert type(trouble) is ModelAuthFailed
    assert "status 400" in trouble.message
    assert type(reported(400, google(400, "INVALID_ARGUMENT"))) is ModelRefused


def test_an_error_in_a_list_is_read_too() -> None:
    assert "sorry" in reported(500, [google(500, "INTERNAL", "sorry")]).message
    assert type(reported(500, [])) is ModelUnavailable


def test_googles_and_amazons_full_window_is_distinguished_from_other_errors() -> None:
    words = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    assert type(reported(400, google(400, "INVALID_ARGUMENT", words))) is ContextWindowExceeded
    assert type(reported(400, {"message": "Input is too long for requested model."})) is ContextWindowExceeded
    assert type(reported(400, {"Message": "Malformed input request"})) is ModelRefused
    assert "Malformed" in reported(400, {"Message": "Malformed input request"}).message


def test_amazon_names_the_error_kind_in_a_header() -> None:
    headers = {"x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/"}
    refusal = read_refusal(429, headers, b'{"message": "Too many tokens per day, please wait."}', 0.0)
    assert refusal.kind == "ThrottlingException"
    assert type(to_error(refusal, place="h", model="m", endpoint=ENDPOINT)) is QuotaExceeded


@pytest.mark.parametrize("key", ["AKIAIOSFODNN7EXAMPLE", "nvapi-abcdefghijk", "hf_abcdefghijk"])
def test_keys_of_further_vendors_are_masked(key: str) -> None:
    assert key not in clean(f"bad key {key} here", Endpoint("http://h"))
