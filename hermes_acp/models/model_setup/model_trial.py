"""Ask an endpoint for its models, and try one small call like those that the agent makes."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
import anyio.to_thread

from hermes_acp.core.messages import ModelRequest, TextPart, ToolSchema, UserMessage
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.model_setup.model_text import TRIAL_PROMPT, TRIAL_TOOL_DESCRIPTION
from hermes_acp.models.model_setup.setup_answers import PresentValues, SetupAnswers

if TYPE_CHECKING:
    from hermes_acp.models.wire.endpoints import Connection

T = TypeVar("T")
LISTING_TIMEOUT_S: Final = 30.0
TRIAL_OUTPUT_TOKENS: Final = 512
"""Enough for a model that reasons before it answers."""
TRIAL_TOOL: Final = ToolSchema("ready", TRIAL_TOOL_DESCRIPTION, {"type": "object", "properties": {}})
"""The agent always offers tools, and some models cannot take any."""


async def list_models(present: PresentValues, answers: SetupAnswers) -> tuple[ListedModel, ...]:
    """Return the models of an endpoint; none after a timeout. Raises ConfigError, AuthRequired, ModelError."""

    async def ask(connection: "Connection", _: str) -> tuple[ListedModel, ...]:
        with anyio.move_on_after(LISTING_TIMEOUT_S):
            return await connection.models()
        return ()

    return await _with_connection(present, answers, ask)


async def try_model(present: PresentValues, answers: SetupAnswers) -> str:
    """Make one small call; return the answer's text, which may be empty. Raises ConfigError, ModelError."""
    from hermes_acp.models.formats.reply_stream import ask_once

    async def ask(connection: "Connection", model: str) -> str:
        prompt = UserMessage((TextPart(TRIAL_PROMPT),))
        request = ModelRequest(model, (), (prompt,), (TRIAL_TOOL,), max_output_tokens=TRIAL_OUTPUT_TOKENS)
        return (await ask_once(connection, request)).message.text

    return await _with_connection(present, answers, ask)


async def _with_connection(
    present: PresentValues, answers: SetupAnswers, use: "Callable[[Connection, str], Awaitable[T]]"
) -> T:
    from hermes_acp.models.model_connections import connect_provider

    settings, choice = await anyio.to_thread.run_sync(present.choice, answers)
    connection = await anyio.to_thread.run_sync(connect_provider, settings, choice)
    try:
        return await use(connection, choice.model)
    finally:
        await connection.aclose()
