"""SOUL.md, written for Hermes Agent, which says how the agent should behave and speak."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="SOUL.md", candidates=("SOUL.md",))
