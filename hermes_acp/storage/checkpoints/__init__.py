"""What workspaces held before and after each turn, kept in the agent's own git repositories."""
