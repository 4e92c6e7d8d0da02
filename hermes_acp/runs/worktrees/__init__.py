"""Give each card its own git worktree."""
