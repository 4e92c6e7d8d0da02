"""Shared parts of the contract tests of providers: a connection to the scripted server, and its answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from hermes_acp.core.messages import (
    ModelEvent,
    ModelReply,
    ModelRequest,
    TextFragment,
    TextPart,
    ThoughtFragment,
    UserMessage,
)
from hermes_acp.models.providers import PROVIDERS
from hermes_acp.models.wire.endpoints import Connection, Endpoint
from tests.model_server import ModelServer, Reply, serve

KEY = "Zq9wverysecretXk42"
WAIT_S = 60
LEAVES = tuple(PROVIDERS)
KEY_VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "bedrock": "AWS_BEARER_TOKEN_BEDROCK",
    "gemini": "GEMINI_API_KEY",
    "openai_compatible": "OPENAI_API_KEY",
    "openai_responses": "OPENAI_API_KEY",
}
PATHS = {
    "anthropic": "/v1/messages",
    "bedrock": "/model/scripted-large/converse-stream",
    "gemini": "/v1beta/models/scripted-large:streamGenerateContent?alt=sse",
    "openai_compatible": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
}


def url_of(server: ModelServer, leaf: str) -> str:
    match leaf:
        case "anthropic":
            return server.anthropic_base_url
        case "bedrock":
            return server.bedrock_base_url
        case "gemini":
            return server.gemini_base_url
        case _:
            return server.openai_base_url


def ask(*messages: Any, **more: Any) -> ModelRequest:
    history = messages or (UserMessage((TextPart("hi"),)),)
    return ModelRequest("scripted-large", ("Be brief.", "Today is Monday."), history, **more)


@asynccontextmanager
async def connected(server: ModelServer, leaf: str, **more: Any) -> AsyncGenerator[Connection]:
    connection = PROVIDERS.open(leaf).connect(Endpoint(url_of(server, leaf), KEY, **more))
    try:
        with anyio.fail_after(WAIT_S):
            yield connection
    finally:
        await connection.aclose()


async def collect(connection: Connection, request: ModelRequest) -> list[ModelEvent]:
    async with connection.stream(request) as events:
        return [event async for event in events]


async def answer_to(reply: Reply, leaf: str, request: ModelRequest | None = None) -> list[ModelEvent]:
    async with serve([reply]) as server, connected(server, leaf) as connection:
        return await collect(connection, request or ask())


def last_reply(events: list[ModelEvent]) -> ModelReply:
    last = events[-1]
    assert isinstance(last, ModelReply)
    assert not any(isinstance(event, ModelReply) for event in events[:-1])
    return last


def joined(events: list[ModelEvent], kind: type[TextFragment] | type[ThoughtFragment]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))
