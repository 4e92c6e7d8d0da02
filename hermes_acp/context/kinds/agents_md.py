"""AGENTS.md, the instructions file that most agents share. Source: https://agents.md."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="AGENTS.md", candidates=("AGENTS.md", "agents.md"), users=".codex/AGENTS.md")
