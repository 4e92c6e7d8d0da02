"""The names in exported telemetry: OpenTelemetry's conventions for generative AI, and our own additions.

A new version of the conventions changes this file, and the table in `docs/telemetry.md`. Sources: the repository
open-telemetry/semantic-conventions-genai, release 0.1.0; the W3C's and OpenTelemetry's general names it depends on.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

VERSION: Final = "0.1.0"
"""The release of the conventions for generative AI."""
AGENT: Final = "hermes-acp"
"""The name of the service, the agent and the instrumentation."""

# Operations, which are the first word of a span's name.
CHAT: Final = "chat"
INVOKE_AGENT: Final = "invoke_agent"
EXECUTE_TOOL: Final = "execute_tool"
INVOKE_WORKFLOW: Final = "invoke_workflow"
APPROVE_CALL: Final = "approve_call"  # our own: the time that a call waits for a person

# Attributes of the conventions.
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT_NAME: Final = "gen_ai.agent.name"
AGENT_VERSION: Final = "gen_ai.agent.version"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_STREAM: Final = "gen_ai.request.stream"
RESPONSE_MODEL: Final = "gen_ai.response.model"
FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL: Final = "gen_ai.tool.call.id"
ERROR: Final = "error.type"
MCP_METHOD: Final = "mcp.method.name"

# Standard attributes with contents, exported only if the user enables that.
SYSTEM: Final = "gen_ai.system_instructions"
INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"

# Our own attributes.
TURN: Final = "hermes.turn.id"
ENDING: Final = "hermes.turn.ending"
STEPS: Final = "hermes.turn.steps"
TOOL_CALLS: Final = "hermes.turn.tool_calls"
COST: Final = "hermes.cost_usd"
RUN: Final = "hermes.run.id"
RETRIED: Final = "hermes.retried"
COMPACTION: Final = "hermes.compaction"
LEFT_OUT: Final = "hermes.input.left_out"
OUTCOME: Final = "hermes.call.outcome"
ANSWER: Final = "hermes.approval.answer"

# Instruments of the conventions.
CHAT_DURATION: Final = "gen_ai.client.inference.duration"
CHAT_FIRST_CHUNK: Final = "gen_ai.client.inference.time_to_first_chunk"
USED_INPUT: Final = "gen_ai.client.inference.usage.input_tokens"
USED_OUTPUT: Final = "gen_ai.client.inference.usage.output_tokens"
USED_CACHED: Final = "gen_ai.client.inference.usage.cache_read.input_tokens"
AGENT_DURATION: Final = "gen_ai.invoke_agent.duration"
AGENT_CHATS: Final = "gen_ai.invoke_agent.inference_calls"
AGENT_CALLS: Final = "gen_ai.invoke_agent.tool_calls"
TOOL_DURATION: Final = "gen_ai.execute_tool.duration"

# Our own instruments.
APPROVAL_DURATION: Final = "hermes.approval.duration"
USED_MONEY: Final = "hermes.cost"

FALLBACK_ERROR: Final = "_OTHER"
PROVIDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bedrock": "aws.bedrock",
        "gemini": "gcp.gemini",
        "kimi": "moonshot_ai",
        "openai_compatible": "openai",
        "openai_responses": "openai",
        "vertex": "gcp.vertex_ai",
    }
)
"""The conventions' names for our presets, if they differ from ours."""

_SHORT_S: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_LONG_S: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 1638.4)
_COUNTS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
HISTOGRAMS: Final[Mapping[str, tuple[str, tuple[float, ...], str]]] = MappingProxyType(
    {
        CHAT_DURATION: ("s", _SHORT_S, "Duration of a model request."),
        CHAT_FIRST_CHUNK: ("s", _SHORT_S, "Time to the first part of a model's answer."),
        AGENT_DURATION: ("s", _LONG_S, "Duration of a turn."),
        AGENT_CHATS: ("{inference_call}", _COUNTS, "Model requests in a turn."),
        AGENT_CALLS: ("{tool_call}", _COUNTS, "Tool calls in a turn."),
        TOOL_DURATION: ("s", _SHORT_S, "Duration of a tool call."),
        APPROVAL_DURATION: ("s", _LONG_S, "Time that a tool call waited for a person's answer."),
    }
)
"""Unit, bucket boundaries and description of each histogram."""
COUNTERS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        USED_INPUT: ("{token}", "Input tokens used, cached ones included."),
        USED_OUTPUT: ("{token}", "Output tokens used."),
        USED_CACHED: ("{token}", "Input tokens that came from the provider's cache."),
        USED_MONEY: ("USD", "Cost of turns, as far as prices are known."),
    }
)
"""Unit and description of each counter."""
