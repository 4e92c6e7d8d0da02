"""Requests have the same signatures as those of Amazon's own package."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import import_module
from typing import Any, cast

import msgspec
import pytest

from hermes_acp.models.credentials.aws_signatures import Credentials, Scope, sign_request
from hermes_acp.models.providers import PROVIDERS
from hermes_acp.models.wire.endpoints import Endpoint
from tests.contract.provider_suite import ask, collect
from tests.model_server import Reply, serve

KEY_ID, SECRET, TOKEN = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session/token=="


def signed_by_amazon(
    method: str, url: str, body: bytes, *, token: str, region: str
) -> tuple[float, dict[str, str]]:
    """Return the time at which the package signed, and its headers."""
    auth = cast("Any", import_module("botocore.auth"))
    request = cast("Any", import_module("botocore.awsrequest")).AWSRequest(
        method=method, url=url, data=body, headers={"content-type": "application/json"} if body else {}
    )
    credentials = cast("Any", import_module("botocore.credentials")).Credentials(
        KEY_ID, SECRET, token or None
    )
    auth.SigV4Auth(credentials, "bedrock", region).add_auth(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    moment = datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return moment.timestamp(), headers


@pytest.mark.parametrize("token", ["", TOKEN])
@pytest.mark.parametrize(
    ("method", "url", "body"),
    [
        ("POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse-stream", b'{"a": 1}'),
        ("POST", "https://h.example:8443/model/a.b-v1%3A0/converse-stream", '{"ü": 1}'.encode()),
        ("POST", "http://h.example:80/model/arn%3Aaws%3Ax%2Fy/converse-stream", b"{}"),
        ("GET", "https://bedrock.eu-west-3.amazonaws.com/foundation-models?byZ=a%20b&byA=x%2Fy", b""),
        ("GET", "https://bedrock.eu-west-3.amazonaws.com/", b""),
    ],
)
def test_both_signatures_are_equal(method: str, url: str, body: bytes, token: str) -> None:
    now_s, theirs = signed_by_amazon(method, url, body, token=token, region="eu-west-3")
    scope = Scope("eu-west-3", "bedrock")
    ours = sign_request(method, url, body, Credentials(KEY_ID, SECRET, token), scope, now_s)
    assert {name: theirs[name] for name in ours} == ours
    assert SECRET not in repr(Credentials(KEY_ID, SECRET, token))


@pytest.mark.anyio
async def test_a_key_pair_signs_the_request_as_sent() -> None:
    async with serve([Reply(text="ok")]) as server:
        endpoint = Endpoint(server.bedrock_base_url, f"{KEY_ID}:{SECRET}:{TOKEN}")
        connection = PROVIDERS.open("bedrock").connect(endpoint)
        request = msgspec.structs.replace(ask(), model="a.b-v1:0")
        await collect(connection, request)
        await connection.aclose()
    sent = server.requests[0]
    assert sent.path == "/model/a.b-v1%3A0/converse-stream"
    assert sent.asked.model == "a.b-v1:0"
    moment = datetime.strptime(sent.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    again = sign_request(
        "POST",
        server.bedrock_base_url + sent.path,
        msgspec.json.encode(sent.body),
        Credentials(KEY_ID, SECRET, TOKEN),
        Scope("us-east-1", "bedrock"),
        moment,
    )
    assert {name: sent.headers[name] for name in again} == again
