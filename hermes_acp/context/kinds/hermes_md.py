"""HERMES.md, the instructions file written for this agent."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="HERMES.md", candidates=(".hermes.md", "HERMES.md"))
