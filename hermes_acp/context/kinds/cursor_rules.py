""".cursor/rules/*.mdc, the rules written for Cursor, one a file, each with its own condition.

Knows: the file's names. Does not know: who reads it.
"""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name=".cursor/rules", patterns=(".cursor/rules/*.mdc",))
