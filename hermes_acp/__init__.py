"""The agent server that any editor can start, and the agent as a library: `from hermes_acp import Agent, Tool`."""

from types import MappingProxyType
from typing import Any

__version__ = "0.1.0"

LIBRARY = MappingProxyType(
    {
        "Agent": "agent",
        "AgentEvent": "agent_events",
        "AgentState": "agent_state",
        "Approval": "agent_options",
        "CapabilityRefused": "capability_guard",
        "Notice": "agent_events",
        "RunResult": "agent_events",
        "TextDelta": "agent_events",
        "ThoughtDelta": "agent_events",
        "Tool": "tool",
        "ToolEnded": "agent_events",
        "ToolRecord": "agent_state",
        "ToolStarted": "agent_events",
        "TurnFailed": "agent",
    }
)
"""The public names of the library and their modules; `__init__.pyi` lists the same names for type checkers."""


def __getattr__(name: str) -> Any:
    """Import a public class on first use, so that the server starts without them."""
    if name in LIBRARY:
        from importlib import import_module

        return getattr(import_module(f"hermes_acp.frontends.library.{LIBRARY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
