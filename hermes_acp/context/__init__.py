"""Find, read and follow context files (AGENTS.md and its kin)."""
