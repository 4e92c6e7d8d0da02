"""The instructions file written for this agent.

Knows: the file's names. Does not know: who reads it.
"""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="HERMES.md", candidates=(".hermes.md", "HERMES.md"))
