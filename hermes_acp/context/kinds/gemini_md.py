"""GEMINI.md, the instructions file written for Gemini CLI."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="GEMINI.md", candidates=("GEMINI.md",), users=".gemini/GEMINI.md")
