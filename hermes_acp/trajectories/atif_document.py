"""The Agent Trajectory Interchange Format (ATIF) as a JSON document.

Source: the models in `harbor.models.trajectories` of Harbor 0.26, against which the tests validate exports.
"""

from typing import Any, Final, Literal

from msgspec import Struct

VERSION: Final = "ATIF-v1.7"
"""The oldest version with all features that exports use: embedded child agents and `extra` in results."""
VERSIONS: Final = tuple(f"ATIF-v1.{minor}" for minor in range(9))
Extra = dict[str, Any]


class _Part(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a document; unknown fields are rejected, because they would be lost."""


class MediaSource(_Part, frozen=True):
    """An image or a recording, at a path or a URL."""

    media_type: str
    path: str
    duration_sec: float | None = None


class ContentPart(_Part, frozen=True):
    """A part of a message or result that contains more than text."""

    type: Literal["text", "image", "audio"]
    text: str | None = None
    source: MediaSource | None = None


Content = str | list[ContentPart]


class AtifToolCall(_Part, frozen=True):
    """A tool call of a step."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: Extra | None = None


class SubagentRef(_Part, frozen=True):
    """A reference to the trajectory of a child agent."""

    trajectory_id: str | None = None
    session_id: str | None = None
    trajectory_path: str | None = None
    extra: Extra | None = None


class ObservationResult(_Part, frozen=True):
    """The outcome of a call, or another result in a step."""

    source_call_id: str | None = None
    content: Content | None = None
    subagent_trajectory_ref: list[SubagentRef] | None = None
    extra: Extra | None = None


class Observation(_Part, frozen=True):
    """The outcomes in a step."""

    results: list[ObservationResult]


class Metrics(_Part, frozen=True):
    """The token usage of a step."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: list[int] | None = None
    completion_token_ids: list[int] | None = None
    logprobs: list[float] | None = None
    extra: Extra | None = None


class _Message(_Part, frozen=True, kw_only=True):
    """One message: its author, content and time."""

    step_id: int
    timestamp: str | None = None
    source: Literal["system", "user", "agent"]
    message: Content


class AtifStep(_Message, frozen=True, kw_only=True):
    """A message from the user or the system, or one model answer with the outcomes of its calls."""

    model_name: str | None = None
    reasoning_effort: str | float | None = None
    reasoning_content: str | None = None
    tool_calls: list[AtifToolCall] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = None
    extra: Extra | None = None


class AtifAgent(_Part, frozen=True):
    """The agent in a trajectory, with the tools offered to its model."""

    name: str
    version: str
    model_name: str | None = None
    tool_definitions: list[dict[str, Any]] | None = None
    extra: Extra | None = None


class FinalMetrics(_Part, frozen=True):
    """The totals of a trajectory."""

    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = None
    extra: Extra | None = None


class Trajectory(_Part, frozen=True):
    """A session with its child agents embedded."""

    schema_version: str
    agent: AtifAgent
    steps: list[AtifStep]
    session_id: str | None = None
    trajectory_id: str | None = None
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    extra: Extra | None = None
    subagent_trajectories: "list[Trajectory] | None" = None
