"""CLAUDE.md, the instructions file written for Claude Code."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="CLAUDE.md", candidates=("CLAUDE.md", "claude.md"), users=".claude/CLAUDE.md")
