"""The real embedded model: it loads, streams, rejects strangers, and never outlives its agent."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from examples.demo.local_model import (
    LocalModelFiles,
    LocalModelServer,
    find_local_model,
    list_missing_packages,
    local_model_server,
)
from hermes_acp.core.errors import ModelError
from tests.architecture.sources import ROOT
from tests.late_imports import LateModule

if TYPE_CHECKING:
    import openai
else:
    openai = LateModule("openai")

pytestmark = pytest.mark.slow

TOKENS = 20
MAX_WAIT_S = 120

AGENT_SOURCE = """
import sys
import anyio
from pathlib import Path
from examples.demo.local_model import LocalModelFiles, local_model_server

async def main():
    async with local_model_server(LocalModelFiles(Path(sys.argv[1]), "m")) as server:
        sys.stdout.write(f"{server.pid}\\n")
        sys.stdout.flush()
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.fixture
def local_model(require_all: bool) -> LocalModelFiles:
    """Return the installed model's files; if there are none, skip the test, or fail it if nothing may be skipped."""
    files = find_local_model()
    if files is not None:
        return files
    complaint = f"the local model is not installed: {', '.join(list_missing_packages()) or 'no GGUF file'}"
    if require_all:
        pytest.fail(complaint)
    pytest.skip(complaint)


async def wait_for_process_end(pidfd: int) -> None:
    """Wait until the process behind the descriptor has ended, then close the descriptor."""
    try:
        with anyio.fail_after(MAX_WAIT_S):
            await anyio.wait_readable(pidfd)
    finally:
        os.close(pidfd)


def connect(server: LocalModelServer, api_key: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.base_url, api_key=api_key, max_retries=0)


@pytest.mark.anyio
async def test_the_model_streams_twenty_tokens_and_ends_with_its_block(local_model: LocalModelFiles) -> None:
    pieces: list[str] = []
    completion_tokens, finish_reason = 0, ""
    with anyio.fail_after(MAX_WAIT_S):
        async with local_model_server(local_model) as server, connect(server, server.api_key) as client:
            pidfd = os.pidfd_open(server.pid)
            stream = await client.chat.completions.create(
                model=server.model_id,
                messages=[{"role": "user", "content": "Tell a long story about a river."}],
                max_tokens=TOKENS,
                temperature=0,
                stream=True,
                stream_options={"include_usage": True},
            )
            async for chunk in stream:
                for choice in chunk.choices:
                    if choice.delta.content:
                        pieces.append(choice.delta.content)
                    finish_reason = choice.finish_reason or finish_reason
                if chunk.usage is not None:
                    completion_tokens = chunk.usage.completion_tokens
    await wait_for_process_end(pidfd)
    assert completion_tokens == TOKENS
    assert finish_reason == "length"
    assert len(pieces) >= TOKENS // 2, "the text came in fewer pieces than a token stream has"
    assert "river" in "".join(pieces).lower()


@pytest.mark.anyio
async def test_the_model_is_named_and_a_request_without_its_key_rejected(
    local_model: LocalModelFiles,
) -> None:
    with anyio.fail_after(MAX_WAIT_S):
        async with local_model_server(local_model) as server:
            async with connect(server, server.api_key) as client:
                models = await client.models.list()
            async with connect(server, "somebody-else") as stranger:
                with pytest.raises(openai.AuthenticationError):
                    await stranger.models.list()
    assert [model.id for model in models.data] == [server.model_id]


@pytest.mark.anyio
async def test_broken_weights_are_reported(local_model: LocalModelFiles, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"these are no weights")
    with anyio.fail_after(MAX_WAIT_S), pytest.raises(ModelError) as caught:
        async with local_model_server(LocalModelFiles(broken, local_model.model_id)):
            pass
    assert "ended while loading" in caught.value.message
    assert "broken.gguf" in caught.value.message
    assert str(broken) in caught.value.hint


@pytest.mark.anyio
async def test_a_start_that_times_out_ends_the_child(local_model: LocalModelFiles) -> None:
    with anyio.fail_after(MAX_WAIT_S), pytest.raises(ModelError, match=r"not ready within 0\.001 s"):
        async with local_model_server(local_model, start_timeout_s=0.001):
            pass


@pytest.mark.anyio
async def test_an_exception_in_the_block_is_raised_unchanged(local_model: LocalModelFiles) -> None:
    pidfds: list[int] = []

    async def fail_inside() -> None:
        async with local_model_server(local_model) as server:
            pidfds.append(os.pidfd_open(server.pid))
            raise LookupError("mine")

    with anyio.fail_after(MAX_WAIT_S), pytest.raises(LookupError, match="mine"):
        await fail_inside()
    await wait_for_process_end(pidfds[0])


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="pidfd is Linux's")
async def test_the_model_ends_with_a_killed_agent(local_model: LocalModelFiles) -> None:
    command = [sys.executable, "-c", AGENT_SOURCE, str(local_model.gguf_path)]
    agent = await anyio.open_process(command, cwd=ROOT, stderr=None)
    async with agent:
        assert agent.stdout is not None
        with anyio.fail_after(MAX_WAIT_S):
            announced = b""
            while not announced.endswith(b"\n"):
                announced += await agent.stdout.receive()
        pidfd = os.pidfd_open(int(announced))
        agent.kill()
        await wait_for_process_end(pidfd)
        with anyio.fail_after(MAX_WAIT_S):
            assert await agent.wait() == -signal.SIGKILL
