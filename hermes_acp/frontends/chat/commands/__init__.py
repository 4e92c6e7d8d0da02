"""The chat's own slash commands, one file each; the agent announces others."""
