"""Offer functions of the host program as tools of the session.

This is the only place where exceptions of the host's functions become outcomes.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from anyio.to_thread import run_sync

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.tool_ports import PromptTemplate, ResourceLibrary, Tool
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Effect, Invokes, Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import truncate_middle
from hermes_acp.frontends.library import messages
from hermes_acp.frontends.library.capability_guard import CapabilityGuard, guarded
from hermes_acp.frontends.library.tool import CheckedTool

if TYPE_CHECKING:
    from pydantic import BaseModel

KINDS: Final[Mapping[str, ToolKind]] = MappingProxyType(
    {"processes": "execute", "network": "fetch", "files": "edit"}
)
"""The kind of a call by capability, the most far-reaching one first."""
OnRefusal = Callable[[str, str, str], None]


class HostTool:
    """A function of the host program, called in its own process."""

    def __init__(self, tool: CheckedTool, on_refusal: OnRefusal) -> None:
        self.name = tool.name
        kinds: list[ToolKind] = [kind for name, kind in KINDS.items() if name in tool.capabilities]
        self.kind: ToolKind = kinds[0] if kinds else "other"
        self.tool_metadata = ToolMetadata(
            frozenset(tool.capabilities), quotes="output" if tool.capabilities else "nothing"
        )
        self._tool = tool
        self._on_refusal = on_refusal

    @property
    def arguments(self) -> "type[BaseModel]":
        """The model that validates arguments."""
        return self._tool.arguments

    def schema(self) -> ToolSchema:
        """Return the tool's description for the model."""
        return self._tool.schema

    async def propose(self, arguments: "BaseModel", workspace: Workspace) -> Proposal:
        """Propose a call of the function."""
        tool = self._tool
        effects: tuple[Effect, ...] = tuple(
            Invokes(tool.name, capability, tool.approval) for capability in tool.capabilities or (None,)
        )
        call = partial(self._call, tool.keywords(arguments))
        return Proposal(
            tool.name,
            self.kind,
            call,
            effects,
            deadline_s=tool.timeout_s,
            outlives_stop=not _is_async(tool.function),
        )

    async def _call(self, keywords: Mapping[str, Any], progress: Progress) -> Result:
        tool = self._tool
        guard = CapabilityGuard(tool.name, tool.capabilities, self._on_refusal)
        try:
            value = await _called(tool.function, keywords, guard)
            return Result(truncate_middle(_as_text(value)))
        except (Exception, SystemExit) as error:
            told = messages.function_failed(type(error).__name__, str(error))
            refused = [sentence for sentence in guard.refusals if sentence not in told]
            return Result(truncate_middle("\n".join((*refused, told))), is_error=True)


async def _called(function: Callable[..., Any], keywords: Mapping[str, Any], guard: CapabilityGuard) -> Any:
    """Call a function in a worker thread or, if it is asynchronous, directly; only its own code is guarded."""
    if _is_async(function):
        with guarded(guard):
            return await function(**keywords)

    def call() -> Any:
        with guarded(guard):
            return function(**keywords)

    value = await run_sync(call, abandon_on_cancel=True)
    if inspect.isawaitable(value):
        with guarded(guard):
            return await value
    return value


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _as_text(value: object) -> str:
    """Format a result for the model: text unchanged, anything else as JSON."""
    if value is None:
        return messages.NO_RESULT
    if isinstance(value, str):
        return value
    from pydantic_core import to_json

    return to_json(value, fallback=str, indent=2 if isinstance(value, dict | list) else None).decode()


class HostToolSource:
    """The tool source of the session with the registered functions."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, tool: HostTool) -> None:
        """Offer a tool from the next turn on."""
        self._tools = {**self._tools, tool.name: tool}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(self._tools)

    async def run(self) -> None:
        """Do nothing: the functions are in this process."""

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools by name."""
        return self._tools

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return nothing: host tools have none."""
        return {}

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return nothing: host tools have none."""
        return {}

    def news(self) -> Sequence[str]:
        """Return nothing: host tools have none."""
        return ()

    async def settled(self) -> None:
        """Return at once: there is nothing to wait for."""

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""
