"""`POST /hooks/NAME` of a real server."""

import hmac
import time
from hashlib import sha256
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment, configure
from tests.e2e.http_serving import serving
from tests.model_server import Reply, serve

pytestmark = pytest.mark.anyio

SECRET = "the-secret-of-the-hook"


def signature(stamp: str, body: bytes, secret: str = SECRET) -> dict[str, str]:
    digest = hmac.new(secret.encode(), f"{stamp}.".encode() + body, sha256).hexdigest()
    return {"X-Hermes-Timestamp": stamp, "X-Hermes-Signature": f"sha256={digest}"}


async def test_a_signed_request_starts_one_run(home: Path, workspace: Path) -> None:
    configure(
        home,
        f"serve: {{webhooks: {{review: {{secret_env: HOOK_SECRET, folder: {workspace}, prompt: Look at this.}}}}}}\n",
    )
    body = b'{"title": "A change"}'
    async with serve([Reply("Looked.")]) as server:
        environment = agent_environment(home, server, HOOK_SECRET=SECRET)
        async with serving(environment, home / "serving") as running:
            url = f"{running.url.rpartition('/')[0]}/hooks/"
            headers = signature(str(int(time.time())), body)
            async with httpx2.AsyncClient() as client:
                first = await client.post(f"{url}review", content=body, headers=headers)
                assert (first.status_code, first.json()["is_new"]) == (202, True)
                again = await client.post(f"{url}review", content=body, headers=headers)
                assert (again.status_code, again.json()) == (200, {**first.json(), "is_new": False})
                for name, wrong in (
                    ("review", signature(str(int(time.time())), body, "wrong-secret")),
                    ("review", signature(str(int(time.time()) - 3600), body)),
                    ("review", {}),
                    ("nothing", headers),
                    ("../acp", headers),
                ):
                    refused = await client.post(f"{url}{name}", content=body, headers=wrong)
                    assert refused.status_code in (401, 415), name
                long = await client.post(f"{url}review", content=b"x" * (1 << 20) + b"x", headers=headers)
                assert long.status_code == 413
                assert (await client.get(f"{url}review")).status_code == 405
            with anyio.fail_after(WAIT_S):
                while not server.requests:
                    await anyio.sleep(0.01)
            assert SECRET not in running.errors
    assert len(server.requests) == 1
    asked = server.requests[0].asked.last_text
    assert asked.startswith("Look at this.\n\n[Body of the webhook review, untrusted")
    assert '"title": "A change"' in asked
