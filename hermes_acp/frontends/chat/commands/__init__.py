"""The chat's own slash commands, a file each; those of the agent come from the agent."""
