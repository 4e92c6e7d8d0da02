"""The vendors' own client packages, pointed at a scripted server."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread

from tests.late_imports import LateModule

from .server import ModelServer

if TYPE_CHECKING:
    import anthropic
    import openai
    from openai.types.chat import ChatCompletionChunk
    from openai.types.responses import Response
else:
    anthropic, openai = LateModule("anthropic"), LateModule("openai")

WAIT_S = 60
"""Time limit for every wait on a client."""


def openai_client(server: ModelServer) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="test", base_url=server.openai_base_url, max_retries=0)


def anthropic_client(server: ModelServer) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(api_key="test", base_url=server.anthropic_base_url, max_retries=0)


async def stream_openai(server: ModelServer, prompt: str = "hi") -> list[ChatCompletionChunk]:
    with anyio.fail_after(WAIT_S):
        async with openai_client(server) as client:
            stream = await client.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": prompt}],
                stream=True,
                stream_options={"include_usage": True},
            )
            return [chunk async for chunk in stream]


def openai_text(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def stream_anthropic(server: ModelServer, prompt: str = "hi") -> anthropic.types.Message:
    with anyio.fail_after(WAIT_S):
        async with (
            anthropic_client(server) as client,
            client.messages.stream(
                model="m", max_tokens=50, messages=[{"role": "user", "content": prompt}]
            ) as stream,
        ):
            return await stream.get_final_message()


async def stream_responses(server: ModelServer, prompt: str = "hi") -> Response:
    with anyio.fail_after(WAIT_S):
        async with (
            openai_client(server) as client,
            client.responses.stream(model="m", input=prompt, store=False) as stream,
        ):
            return await stream.get_final_response()


async def stream_gemini(server: ModelServer, prompt: str = "hi") -> list[Any]:
    """Return the chunks as Google's package reads them."""
    genai = cast("Any", import_module("google.genai"))
    types = cast("Any", import_module("google.genai.types"))
    options = types.HttpOptions(base_url=server.gemini_base_url.removesuffix("/v1beta"))
    client = genai.Client(api_key="test", http_options=options)
    with anyio.fail_after(WAIT_S):
        models = client.aio.models
        stream = await models.generate_content_stream(model="m", contents=prompt)
        chunks = [chunk async for chunk in stream]
        await client.aio.aclose()
    client.close()
    return chunks


async def stream_bedrock(server: ModelServer, prompt: str = "hi") -> list[dict[str, Any]]:
    """Return the events as Amazon's package reads them."""
    return await anyio.to_thread.run_sync(_stream_bedrock, server.bedrock_base_url, prompt)


def _stream_bedrock(url: str, prompt: str) -> list[dict[str, Any]]:
    session = cast("Any", import_module("botocore.session")).get_session()
    config = cast("Any", import_module("botocore.config")).Config
    client = session.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
        aws_secret_access_key="secret",
        config=config(read_timeout=WAIT_S, retries={"total_max_attempts": 1}),
    )
    message = {"role": "user", "content": [{"text": prompt}]}
    try:
        answer = client.converse_stream(modelId="m", messages=[message])
        return list(answer["stream"])
    finally:
        client.close()
