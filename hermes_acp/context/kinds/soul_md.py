"""SOUL.md, how an agent should behave and speak, written for Hermes Agent."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="SOUL.md", candidates=("SOUL.md",))
