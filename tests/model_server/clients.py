"""The vendors' own client packages, pointed at a scripted server.

Knows: the official clients. Does not know: wire formats, what a test expects.
"""

from __future__ import annotations

import anthropic
import anyio
import openai
from openai.types.chat import ChatCompletionChunk

from .server import ModelServer

WAIT_S = 20
"""Bound of every wait on a client."""


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
