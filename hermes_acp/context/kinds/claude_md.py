"""CLAUDE.md, the instructions file written for Claude Code.

Knows: the file's names. Does not know: who reads it.
"""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="CLAUDE.md", candidates=("CLAUDE.md", "claude.md"), users=".claude/CLAUDE.md")
