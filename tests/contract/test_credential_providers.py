"""Credentials from AWS profiles and from Google, through the vendors' own packages."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import anyio
import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from hermes_acp.config.model_choice import ModelChoice, choose_model
from hermes_acp.config.settings import ProviderSettings, Settings
from hermes_acp.core.errors import ModelAuthFailed
from hermes_acp.models.connection_factory import open_connection
from hermes_acp.models.wire.endpoints import Connection
from tests.contract.provider_suite import WAIT_S, ask, collect
from tests.model_server import ModelServer, Reply, serve

pytestmark = pytest.mark.anyio
KEY_IDS = ("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPL2")


async def connect(provider: str, server: ModelServer, **variables: str) -> Connection:
    url = {"bedrock": "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "vertex": "GOOGLE_VERTEX_BASE_URL"}[provider]
    base_url = server.bedrock_base_url
    choice = choose_model(Settings.model_validate({"provider": provider}), {url: base_url, **variables})
    assert isinstance(choice, ModelChoice)
    return await anyio.to_thread.run_sync(open_connection, choice, ProviderSettings())


async def ask_twice(connection: Connection) -> None:
    request = msgspec.structs.replace(ask(), model="scripted-large")
    with anyio.fail_after(WAIT_S):
        await collect(connection, request)
        await collect(connection, request)
        await connection.aclose()


async def test_a_profile_signs_with_its_key_and_token_in_its_region(tmp_path: Path) -> None:
    keys, config = tmp_path / "credentials", tmp_path / "config"
    keys.write_text(
        f"[work]\naws_access_key_id = {KEY_IDS[0]}\naws_secret_access_key = s\naws_session_token = tok\n"
    )
    config.write_text("[profile work]\nregion = eu-west-3\n")
    async with serve([Reply(text="ok")] * 2) as server:
        variables = {"AWS_SHARED_CREDENTIALS_FILE": str(keys), "AWS_CONFIG_FILE": str(config)}
        await ask_twice(await connect("bedrock", server, AWS_PROFILE="work", **variables))
    for sent in server.requests:
        assert f"Credential={KEY_IDS[0]}/" in sent.headers["authorization"]
        assert "/eu-west-3/bedrock/aws4_request" in sent.headers["authorization"]
        assert sent.headers["x-amz-security-token"] == "tok"


async def test_credentials_from_a_program_are_renewed_before_they_expire(tmp_path: Path) -> None:
    """As with single sign-on and roles, through the same package."""
    program, config, turns = tmp_path / "lend.py", tmp_path / "config", tmp_path / "turns"
    soon = (datetime.now(UTC) + timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    program.write_text(
        f"""import json, pathlib
turns = pathlib.Path({str(turns)!r})
number = len(turns.read_text()) if turns.exists() else 0
turns.write_text("x" * (number + 1))
key = {KEY_IDS!r}[min(number, 1)]
print(json.dumps(dict(Version=1, AccessKeyId=key, SecretAccessKey="s", Expiration={soon!r})))
"""
    )
    config.write_text(f"[default]\nregion = us-east-1\ncredential_process = {sys.executable} {program}\n")
    async with serve([Reply(text="ok")] * 2) as server:
        await ask_twice(await connect("bedrock", server, AWS_CONFIG_FILE=str(config)))
    used = [sent.headers["authorization"].partition("Credential=")[2][:20] for sent in server.requests]
    assert used[-1] == KEY_IDS[1]
    assert len(turns.read_text()) >= 2


@pytest.mark.parametrize(
    ("config", "why"),
    [("[default]\nregion = us-east-1\n", "could not be found"), ("[profile work]\nregion = x-1\n", "no key")],
)
async def test_a_profile_without_credentials_is_reported_as_a_rejected_key(
    tmp_path: Path, config: str, why: str
) -> None:
    file = tmp_path / "config"
    file.write_text(config)
    async with serve([Reply(text="ok")]) as server:
        variables = {"AWS_CONFIG_FILE": str(file), "AWS_REGION": "us-east-1"}
        connection = await connect("bedrock", server, AWS_PROFILE="work", **variables)
        with pytest.raises(ModelAuthFailed, match="AWS profile 'work'") as caught:
            await collect(connection, ask())
        await connection.aclose()
    assert why in caught.value.message
    assert server.requests == []


@contextmanager
def token_server(status: int, expires_in: int) -> Generator[tuple[str, list[str]]]:
    """Issue numbered tokens on loopback, or refuse."""
    asked: list[str] = []

    class Tokens(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["content-length"])).decode())
            good = {"access_token": f"tok-{len(asked)}", "expires_in": expires_in, "token_type": "Bearer"}
            body = json.dumps(good if status == 200 else {"error": "invalid_grant"}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/token", asked
        finally:
            server.shutdown()
            thread.join()


def key_file(folder: Path, token_url: str) -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    info = {
        "type": "service_account",
        "client_email": "agent@p-1.iam.gserviceaccount.com",
        "private_key": key.decode(),
        "token_uri": token_url,
    }
    file = folder / "key.json"
    file.write_text(json.dumps(info))
    return str(file)


@pytest.mark.parametrize(("expires_in", "tokens"), [(3600, ["tok-1", "tok-1"]), (1, ["tok-1", "tok-2"])])
async def test_a_service_accounts_token_is_cached_until_it_expires(
    tmp_path: Path, expires_in: int, tokens: list[str]
) -> None:
    with token_server(200, expires_in) as (url, asked):
        async with serve([Reply(text="ok")] * 2) as server:
            variables = {"GOOGLE_CLOUD_PROJECT": "p-1", "GOOGLE_CLOUD_LOCATION": "us-central1"}
            file = key_file(tmp_path, url)
            connection = await connect("vertex", server, GOOGLE_APPLICATION_CREDENTIALS=file, **variables)
            await ask_twice(connection)
    place = "/v1/projects/p-1/locations/us-central1/publishers/google/models/scripted-large"
    assert [sent.path for sent in server.requests] == [f"{place}:streamGenerateContent"] * 2
    assert [sent.headers["authorization"] for sent in server.requests] == [f"Bearer {t}" for t in tokens]
    assert "x-goog-api-key" not in server.requests[0].headers
    assert len(asked) == len(set(tokens))


async def test_vertex_lists_the_models_that_generate_text(tmp_path: Path) -> None:
    with token_server(200, 3600) as (url, _):
        async with serve([], models=("gemini-3.5-flash", "gemini-3-pro")) as server:
            file = key_file(tmp_path, url)
            connection = await connect(
                "vertex", server, GOOGLE_APPLICATION_CREDENTIALS=file, GOOGLE_CLOUD_PROJECT="p-1"
            )
            with anyio.fail_after(WAIT_S):
                listed = await connection.models()
                assert [model.name for model in listed] == ["gemini-3.5-flash", "gemini-3-pro"]
            await connection.aclose()
    assert server.other_requests[0].path == "/v1beta1/publishers/google/models"


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_missing_token_is_reported_as_a_rejected_key(tmp_path: Path, is_there: bool) -> None:
    with token_server(400, 0) as (url, _):
        async with serve([]) as server:
            file = key_file(tmp_path, url) if is_there else str(tmp_path / "gone.json")
            connection = await connect(
                "vertex", server, GOOGLE_APPLICATION_CREDENTIALS=file, GOOGLE_CLOUD_PROJECT="p-1"
            )
            with pytest.raises(ModelAuthFailed, match="Google provided no token") as caught:
                await collect(connection, ask())
            await connection.aclose()
    assert "gcloud auth application-default login" in caught.value.hint
    assert "PRIVATE KEY" not in caught.value.message
