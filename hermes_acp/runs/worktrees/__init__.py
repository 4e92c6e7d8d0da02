"""Give each card a git worktree of its own."""
