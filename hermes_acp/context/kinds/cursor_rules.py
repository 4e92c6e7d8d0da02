""".cursor/rules/*.mdc, the rules written for Cursor, one per file, each with its own condition."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name=".cursor/rules", patterns=(".cursor/rules/*.mdc",))
