""".windsurfrules, the single-file rules written for Windsurf.

Knows: the file's names. Does not know: who reads it.
"""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name=".windsurfrules", candidates=(".windsurfrules",))
