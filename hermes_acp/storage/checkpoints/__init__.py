"""Checkpoints: the contents of workspaces before and after each turn, stored in the agent's own git repositories."""
