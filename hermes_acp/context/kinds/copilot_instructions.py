""".github/copilot-instructions.md, written for GitHub Copilot."""

from hermes_acp.context.context_search import ContextFileKind

KIND = ContextFileKind(name="copilot-instructions.md", candidates=(".github/copilot-instructions.md",))
