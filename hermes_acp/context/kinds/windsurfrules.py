""".windsurfrules, the single-file rules written for Windsurf."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name=".windsurfrules", candidates=(".windsurfrules",))
