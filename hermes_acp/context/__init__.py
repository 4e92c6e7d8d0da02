"""Find, read and monitor context files, such as AGENTS.md."""
