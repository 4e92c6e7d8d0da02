""".cursorrules, the single-file rules written for Cursor."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name=".cursorrules", candidates=(".cursorrules",))
