from hermes_acp.frontends.library.agent import Agent as Agent
from hermes_acp.frontends.library.agent import TurnFailed as TurnFailed
from hermes_acp.frontends.library.agent_events import AgentEvent as AgentEvent
from hermes_acp.frontends.library.agent_events import Notice as Notice
from hermes_acp.frontends.library.agent_events import RunResult as RunResult
from hermes_acp.frontends.library.agent_events import TextDelta as TextDelta
from hermes_acp.frontends.library.agent_events import ThoughtDelta as ThoughtDelta
from hermes_acp.frontends.library.agent_events import ToolEnded as ToolEnded
from hermes_acp.frontends.library.agent_events import ToolStarted as ToolStarted
from hermes_acp.frontends.library.agent_options import Approval as Approval
from hermes_acp.frontends.library.agent_state import AgentState as AgentState
from hermes_acp.frontends.library.agent_state import ToolRecord as ToolRecord
from hermes_acp.frontends.library.capability_guard import CapabilityRefused as CapabilityRefused
from hermes_acp.frontends.library.tool import Tool as Tool

__version__: str
