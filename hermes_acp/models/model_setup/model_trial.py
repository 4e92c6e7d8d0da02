"""Ask an endpoint for its models, and try a small call like those that the agent makes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from hermes_acp.core.messages import ModelRequest, TextPart, ToolSchema, UserMessage
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.model_setup.model_text import TRIAL_PROMPT, TRIAL_TOOL_DESCRIPTION
from hermes_acp.models.model_setup.setup_answers import PresentValues, SetupAnswers

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.models.wire.endpoints import Connection

LISTING_TIMEOUT_S: Final = 30.0
TRIAL_OUTPUT_TOKENS: Final = 512
"""Enough for a model that reasons before it answers."""
TRIAL_TOOL: Final = ToolSchema("ready", TRIAL_TOOL_DESCRIPTION, {"type": "object", "properties": {}})
"""Included because the agent always offers tools, and some models do not accept any."""


async def list_models(present: PresentValues, answers: SetupAnswers) -> tuple[ListedModel, ...]:
    """Return the models at an endpoint; empty after a timeout. Raises ConfigError, AuthRequired or ModelError."""
    with anyio.move_on_after(LISTING_TIMEOUT_S):
        return await models_of(*await anyio.to_thread.run_sync(present.choice, answers))
    return ()


async def try_model(present: PresentValues, answers: SetupAnswers) -> str:
    """Make one small call; return the answer's text, which may be empty. Raises ConfigError or ModelError."""
    return await call_model(*await anyio.to_thread.run_sync(present.choice, answers))


async def models_of(settings: "Settings", choice: "ModelChoice") -> tuple[ListedModel, ...]:
    """Return the models at a chosen model's endpoint. Raises ConfigError, AuthRequired or ModelError."""
    async with _connected(settings, choice) as connection:
        return await connection.models()


async def call_model(settings: "Settings", choice: "ModelChoice") -> str:
    """Make one small call to a chosen model; return the answer's text. Raises ConfigError or ModelError."""
    from hermes_acp.models.formats.reply_stream import ask_once

    prompt = UserMessage((TextPart(TRIAL_PROMPT),))
    tools, most = (TRIAL_TOOL,), TRIAL_OUTPUT_TOKENS
    request = ModelRequest(choice.model, (), (prompt,), tools, max_output_tokens=most)
    async with _connected(settings, choice) as connection:
        return (await ask_once(connection, request)).message.text


@asynccontextmanager
async def _connected(settings: "Settings", choice: "ModelChoice") -> AsyncGenerator["Connection"]:
    from hermes_acp.models.model_connections import connect_provider

    connection = await anyio.to_thread.run_sync(connect_provider, settings, choice)
    try:
        yield connection
    finally:
        await connection.aclose()
