"""GEMINI.md, the instructions file written for Gemini CLI.

Knows: the file's names. Does not know: who reads it.
"""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="GEMINI.md", candidates=("GEMINI.md",), users=".gemini/GEMINI.md")
